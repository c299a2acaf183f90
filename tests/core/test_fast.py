"""The compiled kernels give the bits of the numpy ones: any values, any cut, any number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.cluster.lattice_kmeans import agreed, lattice_lloyd, other_labels, plus_plus
from sfumato.core import fast
from sfumato.core.linear import cholesky, lower_inverse, product_in_order, solve_positive
from sfumato.core.rows import RowRange
from sfumato.core.stream import RowHasher, Streams
from sfumato.core.summaries import Moments
from sfumato.core.tile_maps import add_product, multiply_columns, turn_columns
from sfumato.core.variates import LAWS, add_noise, arcsine, laplace, multiply_noise, normal
from sfumato.frames.frame import read_frame
from sfumato.perturb.guard.atoms import AtomMoments, grouped, moments_of_groups
from sfumato.perturb.guard.leverage import Leverage
from sfumato.perturb.guard.named import Named
from sfumato.perturb.guard.regions import Regions
from sfumato.perturb.guard.rounds import Displacement, Guard
from sfumato.perturb.guard.space import Space
from sfumato.perturb.guard.spread import Scatter, Scatters, draw_steps, haar_words, mix_rows
from sfumato.perturb.intervals.counts import IntervalCounts
from sfumato.perturb.perturbers.intervals import IntervalResampling

COMPILED = fast.load()
EDGES = [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.0**-1022, 1e150, -1e150, 1e-150, 0.1, 1e9 + 0.5, 123456789.0]
WORDS = [0, 1, 2**12 - 1, 2**12, 2**63, 2**63 - 1, 2**64 - 1, 2**64 - 2, 2**52, 2**53 + 1]
values = st.lists(
    st.sampled_from(EDGES) | st.floats(-1e150, 1e150, allow_subnormal=True) | st.integers(-50, 50).map(float),
    min_size=1,
    max_size=40,
)
seeds = st.integers(0, 2**32 - 1)


def test_numba_is_there_so_that_both_paths_are_tested() -> None:
    assert fast.available()
    assert COMPILED is not None


def same_bits(run) -> None:
    """Run once with each kind of kernel and compare every bit, signs of zeros included."""
    assert fast.compiled_kernels(1) is COMPILED
    with np.errstate(all="ignore"):
        compiled = run()
        with fast.turned_off():
            assert fast.compiled_kernels(1) is None
            plain = run()
    for a, b in zip(compiled, plain, strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def words_for(count: int, seed: int) -> np.ndarray:
    words = np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64)
    edges = np.array(WORDS, dtype=np.uint64)[:count]
    words[: len(edges)] = edges
    return words


def tile_of(cells: list[float], columns: int, seed: int, rows: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.choice(np.array(cells), size=(columns, rows)) * rng.choice([1.0, 1.0, 0.5, 3.7], size=(columns, rows))


@given(cells=values, seed=seeds, law=st.sampled_from(sorted(LAWS)), scale=st.sampled_from([0.0, 0.1, 1e-300, 3e7]))
@settings(max_examples=60, deadline=None)
def test_noise(cells, seed, law, scale) -> None:
    rows = 1 + seed % 5000
    words, column = words_for(rows, seed), tile_of(cells, 1, seed, rows)[0]
    sizes = np.abs(tile_of(cells, 1, seed + 1, rows)[0])

    def run():
        added, multiplied, sized = column.copy(), column.copy(), column.copy()
        add_noise(added, words, law, 3.0**0.5, scale)
        multiply_noise(multiplied, words, law, 0.7, scale)
        add_noise(sized, words, "uniform", sizes, scale)
        return added, multiplied, sized

    same_bits(run)


@pytest.mark.parametrize("law", [normal, laplace, arcsine])
def test_variates_over_many_words(law) -> None:
    same_bits(lambda: [law(words_for(200_000, 1))])


@given(cells=values, seed=seeds, columns=st.integers(2, 9), out=st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_products_and_turns(cells, seed, columns, out) -> None:
    rng = np.random.default_rng(seed)
    tile = tile_of(cells, columns, seed, 1 + seed % 1500)
    matrix = rng.normal(size=(out, columns)) * rng.integers(0, 2, size=(out, columns))

    def run():
        turned, added = tile.copy(), np.ones((out, tile.shape[1]))
        turn_columns(turned[0], turned[1], 0.6, 0.8 * 3.3, 0.8 / 3.3)
        add_product(matrix, tile, added)
        return multiply_columns(matrix, tile), turned, added

    same_bits(run)


@given(cells=values, seed=seeds, columns=st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_summaries(cells, seed, columns) -> None:
    rows = 2 + seed % 3000
    tile = tile_of(cells, columns, seed, rows)
    low, high = tile.min(axis=1), tile.max(axis=1)
    hasher = RowHasher(b"h" * 32, [str(i) for i in range(columns)])

    def run():
        moments = Moments(low, high)
        moments.add(tile, RowRange(0, rows))
        counts = IntervalCounts(low, high, 1 + seed % 77)
        counts.add(tile, RowRange(0, rows))
        if fast.compiled_kernels(0) is not None:  # an array as it lies in memory comes to the same
            plain = counts.fresh()
            assert plain.add_plain(np.ascontiguousarray(tile.T), RowRange(0, rows))
            assert all(np.array_equal(getattr(plain, name), getattr(counts, name)) for name in plain.learnt)
        places = [counts.place_sums(j) for j in range(columns)]
        scatter = [counts.scatter(j, np.flatnonzero(counts.counts[j])) for j in range(columns)]
        return hasher.rows(tile), moments.mean(), moments.covariance(), counts.counts, *places, *scatter

    same_bits(run)


@given(cells=values, seed=seeds)
@settings(max_examples=40, deadline=None)
def test_draws_inside_clusters(cells, seed) -> None:
    table = np.clip(tile_of(cells, 1, seed, 300).T, -1e150, 1e150)
    table[:2, 0] = 0.0, 1.0
    perturber = IntervalResampling(n_clusters=3, n_intervals=20, min_radius=0.1, insecure_seed=1).fit(table)
    column = perturber._state.fitted.columns[0]
    strangers = tile_of([*cells, 1e150, -1e150], 1, seed, 300)[0]  # values outside the fitted range too

    def run():
        inside, outside = table[:, 0].copy(), strangers.copy()
        for released in (inside, outside):
            column.release(released, words_for(300, seed))
        return inside, outside

    same_bits(run)


@given(seeds, st.integers(1, 1300), st.integers(1, 4), st.integers(1, 9), st.sampled_from([3, 40, 1 << 20]))
@settings(max_examples=60, deadline=None)
def test_rounds_of_k_means(seed, rows, columns, k, largest) -> None:
    rng = np.random.default_rng(seed)
    steps = rng.integers(-largest, largest + 1, (columns, rows)).astype(np.float64)  # few values: many ties
    centres = rng.integers(-largest, largest + 1, (k, columns)).astype(np.float64)
    before = centres.copy()
    for rounds in (3, 20):  # every row is measured, or those only whose bounds meet
        same_bits(lambda rounds=rounds: lattice_lloyd(steps, centres, rounds=rounds))
        for found, wanted in zip(
            lattice_lloyd(steps, centres, rounds=rounds), plain_lloyd(steps, centres, rounds), strict=True
        ):
            assert np.array_equal(found, wanted)
    assert (centres == before).all(), "the starts are the caller's"


def plain_lloyd(steps, centres, rounds):
    """Run Lloyd's rounds as the book has them, in whole numbers."""
    rows, centres = steps.astype(np.int64).T, centres.astype(np.int64)
    labels = None
    for left in range(rounds, -1, -1):
        apart = ((rows[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        before, labels = labels, apart.argmin(axis=1)
        if left == 0 or (before is not None and (labels == before).all()):
            break
        means = [
            np.rint(rows[labels == j].sum(axis=0) / (labels == j).sum()) if (labels == j).any() else centres[j]
            for j in range(len(centres))
        ]
        moved = np.array(means, dtype=np.int64)
        if (moved == centres).all():
            break
        centres = moved
    return centres, labels, float(apart.min(axis=1).sum())


@given(seeds, st.integers(1, 1300), st.integers(1, 4), st.integers(1, 9), st.sampled_from([1, 40, 1 << 20]))
@settings(max_examples=60, deadline=None)
def test_starts_of_k_means_and_how_far_clusterings_agree(seed, rows, columns, k, largest) -> None:
    rng = np.random.default_rng(seed)
    steps = rng.integers(-largest, largest + 1, (columns, rows)).astype(np.float64)
    draws = rng.choice([0.0, 0.5, 1 - 2.0**-53], (6, 3 * k)) if seed % 3 == 0 else rng.random((6, 3 * k))

    def run():
        starts = [plus_plus(steps, k, draw) for draw in draws]
        runs = [lattice_lloyd(steps, start, rounds=2) for start in starts]
        apart = [other_labels(one[1], other[1]) for one in runs for other in runs]
        centres, doubt = agreed(runs, 10)
        return *starts, centres, np.array([doubt, *apart])

    same_bits(run)


@given(seeds, st.integers(1, 40), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_tiles_of_arrays_and_lanes_of_hashes(seed, rows, columns) -> None:
    frame = read_frame(np.random.default_rng(seed).choice(EDGES, (rows + 2, columns)))
    hasher = RowHasher(bytes(32), [str(i) for i in range(columns)])
    words = words_for(rows, seed)
    same_bits(
        lambda: [
            frame.tile(1, rows + 1),
            np.array(hasher.lanes(words, RowRange(seed, seed + rows)), dtype=object).astype(np.uint64),
        ]
    )
    assert np.array_equal(frame.tile(1, rows + 1), frame.native[1 : rows + 1].T)


@given(seeds, st.integers(1, 30), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_solutions_of_positive_systems(seed, size, width) -> None:
    rng = np.random.default_rng(seed)
    spread = rng.normal(size=(size, size + 2)) * 10.0 ** rng.integers(-3, 4, (size, 1))
    right = rng.normal(size=(size, width))
    same_bits(lambda: [solve_positive(spread @ spread.T + np.eye(size), right)])


@given(seeds, st.integers(1, 20), st.booleans())
@settings(max_examples=60, deadline=None)
def test_factors_inverses_and_products_of_small_matrices(seed, size, dependent) -> None:
    rng = np.random.default_rng(seed)
    spread = rng.normal(size=(size, size + 2)) * 10.0 ** rng.integers(-3, 4, (size, 1))
    if dependent and size > 1:
        spread[-1] = 2.0 * spread[0]
    matrix = spread @ spread.T
    whole = matrix + np.eye(size)
    same_bits(
        lambda: [cholesky(matrix), lower_inverse(cholesky(whole, tolerance=0.0)), product_in_order(matrix, whole)]
    )


@given(seeds, st.integers(1, 6), st.sampled_from([1, 2, 3, 1000, 1 << 22]), st.integers(0, 20))
@settings(max_examples=200, deadline=None)
def test_covariances_of_atoms_are_rounded_once(seed, columns, rows, bits) -> None:
    rng = np.random.default_rng(seed)
    steps = rng.integers(-(1 << bits), (1 << bits) + 1, (columns, min(rows, 50)))
    times = max(1, rows // 50)  # as if every row came so often
    moments = AtomMoments(lambda tile, _: (np.zeros(tile.shape[1], dtype=np.int64), tile))
    moments.add(steps.astype(np.float64), RowRange(0, steps.shape[1]))
    moments._counts[0] *= times
    moments._sums[0] *= times
    moments._products[0] *= times
    same_bits(lambda: [moments.covariance(0, 7)])


def some_regions(rng, columns, bounded) -> Regions:
    """Return the regions of twelve atoms of three clusterings, for two sets of centres."""
    sizes = (2, 3, 5)
    space = Space(np.zeros(columns), np.ones(columns), 17)
    sets = [np.rint(rng.normal(size=(sum(sizes), columns)) * 2.0**17) for _ in range(2)]
    labels = np.column_stack([rng.integers(0, size, 12) for size in sizes])
    low, high = (
        (np.full(columns, -0.5), np.full(columns, 0.0)) if bounded else np.full((2, columns), np.inf) * [[-1], [1]]
    )
    drawn = [(centres, (centres * centres).sum(axis=1) / 2) for centres in sets]
    return Regions.build(space, drawn, labels, sizes, low, high)


@given(seeds, st.integers(0, 60), st.integers(1, 3), st.booleans())
@settings(max_examples=60, deadline=None)
def test_points_pushed_into_their_regions(seed, rows, columns, bounded) -> None:
    rng = np.random.default_rng(seed)
    regions = some_regions(rng, columns, bounded)
    points, atoms = rng.normal(size=(columns, rows)), rng.integers(0, 12, rows)
    inset = rng.choice([0.0, 0.1, 0.5], rows)
    same_bits(lambda: regions.push_inside(points, atoms, inset=inset, least=0.02, rounds=30))


@given(seeds, st.integers(0, 700), st.integers(1, 4), st.booleans(), st.sampled_from([1e-3, 1.0, 50.0]))
@settings(max_examples=60, deadline=None)
def test_rounds_of_the_guard(seed, rows, columns, bounded, scale) -> None:
    rng = np.random.default_rng(seed)
    regions = some_regions(rng, columns, bounded)
    targets, proposed = rng.normal(size=(12, columns)), scale * rng.normal(size=(columns, rows))
    atoms = rng.integers(-1, 12, rows)
    inside, of = proposed[:, atoms >= 0], atoms[atoms >= 0]

    def run():
        guard = Guard(regions, targets, np.bincount(of, minlength=12), scale * rows * np.ones(12))
        rows_now, done = proposed, None
        for number in range(3):
            seen = Displacement(guard, guard.clips(lambda tile, _: (tile, atoms)))
            seen.add(proposed, RowRange(0, rows))
            rows_now, done = guard.clipped(rows_now, atoms, done), number
            guard.learn(seen)
        # who goes on where the last round stood ends where all rounds end
        assert guard.finished(rows_now, atoms, done).tobytes() == guard.finished(proposed, atoms).tobytes()
        deep = regions.depth(inside, of), regions.depth(targets.T, np.arange(12))
        return guard.clipped(inside, of), guard.finished(inside, of), seen.mean(), seen.squares(), *deep

    same_bits(run)


@given(seeds, st.integers(1, 1300), st.integers(1, 4), st.sampled_from([1, 40, 1 << 20]))
@settings(max_examples=60, deadline=None)
def test_labels_draws_and_moments_of_atoms(seed, rows, columns, largest) -> None:
    rng = np.random.default_rng(seed)
    space = Space(np.zeros(columns), np.ones(columns), 0)
    named = Named(space, tuple(np.rint(largest * rng.uniform(-1, 1, (k, columns))) for k in (1, 2, 4)), (True,) * 3)
    inside = largest * rng.uniform(-1.2, 1.2, (columns, rows))
    whole = [Scatter(np.rint(largest * rng.uniform(-1, 1, (columns, columns))), 12, rng.normal(size=columns))] * 2
    scatters = Scatters(np.array([0, -1, 1]), whole)
    atoms, targets = rng.integers(0, 3, rows), rng.normal(size=(3, columns))

    def run():
        _, order, edges = grouped(atoms)
        steps = space.steps(inside)
        moments = moments_of_groups(steps, order, edges, cross=True)
        return named.labels(inside), scatters.draw(steps, atoms, targets), *moments

    same_bits(run)
    sums, products = run()[2:]
    steps = space.steps(inside).astype(np.int64)
    for at, atom in enumerate(np.unique(atoms)):
        assert (sums[at] == steps[:, atoms == atom].sum(axis=1)).all()
        assert (products[at] == steps[:, atoms == atom] @ steps[:, atoms == atom].T).all()


@given(seeds, st.integers(1, 700), st.integers(1, 4), st.sampled_from([1.75, np.inf]))
@settings(max_examples=60, deadline=None)
def test_rows_drawn_nearer_to_the_middle_of_their_atoms(seed, rows, columns, nothing) -> None:
    rng = np.random.default_rng(seed)
    inside, of = rng.normal(size=(columns, rows)) * rng.choice([0.1, 1.0, 9.0], rows), rng.integers(0, 4, rows)
    middles, farthest = rng.normal(size=(4, columns)), np.array([0.0, 0.5, 2.0, np.inf])
    same_bits(lambda: [Leverage(middles, farthest, nothing).clip(inside, of)])


def test_draws_of_rows_made_in_one_call_are_those_of_the_stream() -> None:
    assert COMPILED is not None
    streams, rows, names = Streams(bytes(32)), RowRange(7, 2050), ("a", "b")
    if not COMPILED.WORDS:
        return  # a processor without the instructions goes on with the stream
    keys = streams.round_keys(COMPILED, "mixing", names)
    assert draw_steps(names, rows, streams, keys).tobytes() == draw_steps(names, rows, streams).tobytes()


@given(seeds, st.integers(1, 40), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_groups_turned_by_chance(seed, rows, columns) -> None:
    rng = np.random.default_rng(seed)
    deviations = tile_of([1.5, -3.0, 0.0, 1e9], columns, seed, rows)
    words = rng.integers(0, 2**64, haar_words(rows, columns), dtype=np.uint64)
    same_bits(lambda: [mix_rows(deviations, words)])


def test_tiles_may_be_cut_anywhere_and_shared_among_threads() -> None:
    words, column = words_for(50_000, 3), np.linspace(-5, 5, 50_000)
    whole = column.copy()
    add_noise(whole, words, "normal", 1.0, 0.3)
    for step in (1, 777, 2048, 2049):
        cut = column.copy()

        def one(start, cut=cut, step=step):
            add_noise(cut[start : start + step], words[start : start + step], "normal", 1.0, 0.3)

        starts = range(0, 50_000, step) if step > 1 else range(200)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(one, starts))
        stop = 50_000 if step > 1 else 200
        assert cut[:stop].tobytes() == whole[:stop].tobytes()


def python(code: str, **environment: str) -> str:
    root = Path(__file__).resolve().parents[2]
    env = {**os.environ, "PYTHONPATH": str(root), **environment}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False, cwd=root)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


LOADED = "import sys; print('numba' in sys.modules)"


def test_numba_is_loaded_for_large_jobs_only_and_can_be_turned_off() -> None:
    imports = "import numpy as np, sfumato as sf; from sfumato.perturb import AdditiveNoise; "
    small = imports + "AdditiveNoise().fit_transform(np.random.random((1000, 4))); " + LOADED
    large = imports + "AdditiveNoise().fit_transform(np.random.random((1_000_000, 5))); " + LOADED
    assert python(small) == "False"
    assert python(large) == "True"
    assert python(large, SFUMATO_NO_NUMBA="1") == "False"


def test_a_folder_that_cannot_be_written_to_is_no_obstacle(tmp_path) -> None:
    """A read-only installation has no place for numba's cache: the kernels are compiled in memory."""
    code = (
        "import numba.core.caching as c\n"
        "c.CacheImpl._locator_classes = []\n"  # no place is good enough, as in a read-only container
        "c.CompileResultCacheImpl._locator_classes = []\n"
        "from sfumato.core import fast\n"
        "import numpy as np\n"
        "column = np.zeros(3)\n"
        "fast.load().add_uniform(column, np.arange(3, dtype=np.uint64), 1.0)\n"
        "print(bool((column != 0).all()))"
    )
    assert python(code) == "True"
