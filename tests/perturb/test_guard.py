"""Atom mixing and the cluster guard: clusters stay, rows do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.spatial import cKDTree
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.frozen import FrozenEstimator

from sfumato.cluster import Chameleon, FuzzyCMeans, lloyd_kmeans
from sfumato.core.rows import RecordIds
from sfumato.exceptions import DataError, ParameterError
from sfumato.metrics import misclassification_rate
from sfumato.perturb import (
    AdditiveNoise,
    AtomMixing,
    Guarded,
    IndependentNoise,
    NestedClustering,
    RandomProjection,
)
from sfumato.perturb.guard import spread
from sfumato.perturb.guard.shell import Collected
from sfumato.perturb.guard.trial import GOOD, TRIED_ROWS, Trial
from sfumato.perturb.perturbers import mixing

pytestmark = pytest.mark.usefixtures("everybody")

WINE = load_wine().data
IRIS = load_iris().data
CANCER = load_breast_cancer().data[:, :8]


def standardised(table: np.ndarray, like: np.ndarray) -> np.ndarray:
    return (table - like.mean(axis=0)) / like.std(axis=0, ddof=1)


def shared_starts(method: Any, original: np.ndarray, released: np.ndarray) -> list[float]:
    """Misclassification of k-means from the named centres, for each clustering."""
    rates = []
    for centres in method.named_centres():
        start = standardised(centres, original)
        before = lloyd_kmeans(standardised(original, original), start)
        after = lloyd_kmeans(standardised(released, original), start)
        rates.append(misclassification_rate(before.labels, after.labels))
    return rates


def nearest(rows: np.ndarray, centres: np.ndarray) -> np.ndarray:
    return ((rows[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


@pytest.mark.parametrize("table", [WINE, IRIS, CANCER], ids=["wine", "iris", "cancer"])
def test_exact_centres_lose_no_label_and_publish_only_the_listed_rows(table) -> None:
    method = AtomMixing(exact_centres=True, insecure_seed=1)
    released = method.fit_transform(table)
    assert max(shared_starts(method, table, released)) == 0.0
    same = np.flatnonzero((released == table).all(axis=1))
    assert same.tolist() == list(method.disclosed_rows())
    for centres in method.named_centres():
        labels = nearest(standardised(table, table), standardised(centres, table))
        for label in np.unique(labels):
            before, after = table[labels == label].mean(axis=0), released[labels == label].mean(axis=0)
            assert np.abs(after - before).max() <= 2e-3 * table.std(axis=0).max()


@pytest.mark.parametrize("table", [WINE, IRIS, CANCER], ids=["wine", "iris", "cancer"])
# groups of the ladder have ten rows at least here, which costs tables of so few rows some labels
@pytest.mark.parametrize(("clusterings", "mean", "worst"), [("ladder", 0.08, 0.2), (range(2, 9), 0.03, 0.2)])
@pytest.mark.filterwarnings("ignore::sfumato.exceptions.HeldBackWarning")
def test_clusters_are_kept_and_no_row_is_published(table, clusterings, mean, worst) -> None:
    for seed in range(3):
        method = AtomMixing(clusterings, insecure_seed=seed)
        released = method.fit_transform(table)
        left = np.delete(table, method.held_back_rows(), axis=0)
        lost = shared_starts(method, left, released)
        assert np.mean(lost) <= mean
        assert max(lost) <= worst
        assert not (released == left).all(axis=1).any()
        assert method.disclosed_rows() == ()


@pytest.mark.parametrize("table", [WINE, CANCER], ids=["wine", "cancer"])
@pytest.mark.filterwarnings("ignore::sfumato.exceptions.HeldBackWarning")
def test_which_row_of_an_atom_is_whose_cannot_be_told(table) -> None:
    method = AtomMixing(insecure_seed=2)
    released = method.fit_transform(table)
    table = np.delete(table, method.held_back_rows(), axis=0)
    labels = [nearest(standardised(table, table), standardised(c, table)) for c in method.named_centres()]
    atoms = len(np.unique(np.stack(labels), axis=1).T)
    found = cKDTree(standardised(released, table)).query(standardised(table, table))[1]
    assert (found == np.arange(len(table))).mean() <= 1.3 * atoms / len(table) + 0.02


def test_without_the_guard_means_and_correlations_of_large_atoms_nearly_stay() -> None:
    rng = np.random.default_rng(0)
    table = np.concatenate([rng.normal(size=(300, 3)) @ rng.normal(size=(3, 3)) + c for c in (0.0, 50.0)])
    released = AtomMixing([2], guard=False, spread=1.0, insecure_seed=1).fit_transform(table)
    for part in (slice(0, 300), slice(300, 600)):
        moved = np.abs(released[part].mean(axis=0) - table[part].mean(axis=0)) * 300 / table[part].std(axis=0)
        assert 1.0 < moved.mean() < 36.0, "as much as a few people would move them, not less"
        before, after = (np.corrcoef(rows[part].T) for rows in (table, released))
        assert np.abs(before - after).max() < 0.2
        shrunk = released[part].var(axis=0) / table[part].var(axis=0)
        assert (shrunk > 0.4).all(), "far rows count less"
        assert (shrunk < 1.0).all()
        assert np.abs(np.corrcoef(released[part].T, table[part].T)[:3, 3:]).max() < 0.25


def test_every_column_keeps_the_same_share_of_its_variance() -> None:
    released = AtomMixing(exact_centres=True, insecure_seed=1).fit_transform(WINE)
    share = np.sort(released.var(axis=0) / WINE.var(axis=0))
    # the three columns that say most about the clusters hardly vary inside them, and keep a little more
    assert share[-4] - share[0] < 0.03


def test_whole_numbers_stay_whole_and_in_their_clusters() -> None:
    table = np.rint(CANCER * [1, 1, 1, 0.1, 100, 100, 100, 100]).astype(np.int64)
    frame = pl.DataFrame({f"c{i}": column for i, column in enumerate(table.T)})
    method = AtomMixing(clusterings=(2, 3, 4), insecure_seed=3)
    released = method.fit_transform(frame)
    assert released.dtypes == frame.dtypes
    values = released.to_numpy()
    assert max(shared_starts(method, table, values)) <= 0.01
    assert not (values == table).all(axis=1).any()
    outside = set(method.unrepaired_rows())
    assert len(outside) <= 0.02 * len(table)
    for centres in method.named_centres():
        before = nearest(standardised(table, table), standardised(centres, table))
        after = nearest(standardised(values, table), standardised(centres, table))
        assert set(np.flatnonzero(before != after)) <= outside


def test_decimals_and_bounds_hold() -> None:
    frame = pl.DataFrame({f"c{i}": column for i, column in enumerate(IRIS.T)})
    bounds = {"c2": (1.0, 6.9), "c3": (0.1, 2.5)}
    method = AtomMixing(clusterings=(2, 3), decimals={"c0": 1, "c2": 1, "c3": 1}, bounds=bounds, insecure_seed=1)
    released = method.fit_transform(frame)
    for name, (low, high) in bounds.items():
        assert low <= released[name].min()
        assert released[name].max() <= high
    for name in ("c0", "c2", "c3"):
        assert (released[name].round(1) == released[name]).all()
    assert (released["c1"].round(1) != released["c1"]).any()
    assert max(shared_starts(method, IRIS, released.to_numpy())) <= 0.02
    with pytest.raises(ParameterError, match="outside its bounds"):
        AtomMixing(bounds={"c2": (2.0, 6.9)}).fit(frame)
    with pytest.raises(ParameterError, match="not released"):
        AtomMixing(decimals={"nope": 1}).fit(frame)


@pytest.mark.parametrize(
    "inner", [AdditiveNoise(scale=2.0), IndependentNoise(), NestedClustering()], ids=["noise", "ina", "anc"]
)
def test_the_guard_holds_the_rows_of_other_methods(inner) -> None:
    method = Guarded(inner, insecure_seed=1)
    released = method.fit_transform(CANCER)
    assert max(shared_starts(method, CANCER, released)) <= 0.05  # values of the wrong sign are reflected
    assert not (released == CANCER).all(axis=1).any()
    # strong noise alone does lose them
    if isinstance(inner, AdditiveNoise):
        noisy = AdditiveNoise(scale=2.0, insecure_seed=1).fit_transform(CANCER)
        assert max(shared_starts(method, CANCER, noisy)) > 0.2


def test_rows_are_drawn_towards_the_atom_and_not_towards_themselves() -> None:
    """Clipping from the row itself would leave it on the line through its original, at a telling distance."""
    method = Guarded(AdditiveNoise(scale=3.0), clusterings=(4,), insecure_seed=5)
    released = standardised(method.fit_transform(CANCER), CANCER)
    original = standardised(CANCER, CANCER)
    centres = standardised(method.named_centres()[0], CANCER)
    slack = []
    for rows in (original, released):
        distance = np.sort(((rows[:, None] - centres[None]) ** 2).sum(axis=2), axis=1)
        slack.append(distance[:, 1] - distance[:, 0])
    assert abs(np.corrcoef(slack[0], slack[1])[0, 1]) < 0.6


@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(3, n_init=5, random_state=0),
        FuzzyCMeans(3, random_state=0),
        AgglomerativeClustering(3),
        Chameleon(3, random_state=0),
    ],
    ids=["k-means", "fuzzy", "ward", "chameleon"],
)
def test_fitted_clusterers_are_kept(clusterer) -> None:
    fitted = clusterer.fit(standardised(IRIS, IRIS))
    method = AtomMixing(clusterings=[FrozenEstimator(fitted)], insecure_seed=1)
    released = method.fit_transform(IRIS)
    # a nearest-neighbour miner who learns the labels on the original finds them again on the release
    _, at = cKDTree(standardised(IRIS, IRIS)).query(standardised(released, IRIS))
    assert misclassification_rate(fitted.labels_, fitted.labels_[at]) <= 0.06


def test_what_cannot_be_guarded_is_refused() -> None:
    with pytest.raises(ParameterError, match="other columns"):
        Guarded(RandomProjection(2)).fit(IRIS)
    with pytest.raises(ParameterError, match="has a guard already"):
        Guarded(AtomMixing()).fit(IRIS)
    with pytest.raises(ParameterError, match="fitted clusterers"):
        AtomMixing(clusterings=[KMeans(3)]).fit(IRIS)
    with pytest.raises(ParameterError, match="does not exist"):
        AtomMixing(clusterings=[0]).fit(IRIS)
    with pytest.raises(ParameterError, match="the table has 4"):
        AtomMixing(clusterings=[KMeans(2, n_init=1).fit(IRIS[:, :2])]).fit(IRIS)
    with pytest.raises(DataError, match="fitted on"):
        AtomMixing(clusterings=(2,)).fit(IRIS).transform(IRIS[:50])


@pytest.mark.parametrize("rows", [2, 3, 4, 7, 20])
def test_tiny_tables_come_out_changed(rows) -> None:
    table = IRIS[:: 150 // rows][:rows]
    released = AtomMixing(insecure_seed=1).fit_transform(table)
    assert released.shape == table.shape
    assert np.isfinite(released).all()
    assert not (released == table).all(axis=1).any()


def test_rows_that_are_all_alike_still_move() -> None:
    table = np.repeat([[1.0, 2.0], [50.0, 80.0]], 40, axis=0)
    released = AtomMixing(clusterings=(2,), insecure_seed=1).fit_transform(table)
    assert not (released == table).all(axis=1).any()
    assert max(shared_starts(AtomMixing(clusterings=(2,), insecure_seed=1).fit(table), table, released)) == 0.0


def test_a_given_centre_without_rows_is_no_obstacle() -> None:
    far = KMeans(3, n_init=1, random_state=0).fit(standardised(IRIS, IRIS))
    far.cluster_centers_[2] = 1e3
    table = np.concatenate([IRIS, np.rint(IRIS)])
    for method in (AtomMixing([far], insecure_seed=1), AtomMixing([far], decimals=1, insecure_seed=1)):
        released = method.fit_transform(table)
        assert np.isfinite(released).all()


def test_rows_that_share_a_record_id_are_refused() -> None:
    rows = RecordIds.of(["ann", "bob", "ann"], subkey=bytes(32))
    collected = Collected(lambda tile, _: (tile, np.zeros(tile.shape[1], dtype=np.int64)))
    collected.add(np.zeros((2, 3)), rows)
    with pytest.raises(DataError, match="one record id"):
        collected.sorted(2)


def test_of_several_draws_the_one_is_released_in_which_k_means_agrees_best(monkeypatch) -> None:
    asked: list[float] = []
    ask = Trial.disagreement

    def remembered(self: Trial, released: np.ndarray) -> float:
        asked.append(ask(self, released))
        return asked[-1]

    monkeypatch.setattr(Trial, "disagreement", remembered)
    several = AtomMixing(clusterings=(2, 3, 4), draws=4, insecure_seed=3)
    released = several.fit_transform(WINE)
    assert asked[-1] <= GOOD or len(asked) == 4, "it goes on until a draw is good"
    assert min(asked) < max(asked), "draws differ, otherwise there is nothing to choose"
    chosen = several._fitted_state().fitted.draw
    assert chosen == asked.index(min(asked))
    again = AtomMixing(clusterings=(2, 3, 4), draws=4, insecure_seed=3).fit_transform(WINE)
    assert np.array_equal(released, again)


def test_the_trial_sees_a_release_that_clusters_otherwise() -> None:
    method = AtomMixing(clusterings=(3,), draws=1, insecure_seed=0).fit(WINE)
    fitted, streams = method._fitted_state().fitted, method._fitted_state().streams
    inside = fitted.found.space.enter(np.ascontiguousarray(WINE.T))
    of = fitted.found.atoms.of(inside)
    trial = Trial(fitted.found.atoms, inside, of, streams, standardised=True)
    assert trial.disagreement(inside) < 0.02
    assert trial.disagreement(inside[:, np.random.default_rng(0).permutation(len(WINE))]) > 0.3


def test_the_trial_sees_a_release_that_clusters_otherwise_once_the_miner_standardises_it() -> None:
    """Two groups in the first column, and two in the second: which of them k-means finds is a matter of scale."""
    draws = np.random.default_rng(0)
    table = draws.normal(size=(400, 2)) * 0.2 + draws.choice([-1.0, 1.0], size=(400, 2)) * [1.2, 1.0]
    method = AtomMixing(clusterings=(2,), scaling=None, draws=1, insecure_seed=0).fit(table)
    fitted, streams = method._fitted_state().fitted, method._fitted_state().streams
    inside = fitted.found.space.enter(np.ascontiguousarray(table.T))
    of = fitted.found.atoms.of(inside)
    narrow = inside * [[0.7], [1.0]]  # the second column's groups, until a miner standardises the release
    owners, both = (
        Trial(fitted.found.atoms, inside, of, streams, standardised=asked).disagreement(narrow)
        for asked in (False, True)
    )
    assert owners > 1.0, "three times the rows of a clustering that everybody finds"
    assert both == pytest.approx(owners / 2, rel=0.1), "half of the miners find what the original has"


def test_large_tables_are_drawn_once(monkeypatch) -> None:
    monkeypatch.setattr(Trial, "__init__", lambda *_, **__: pytest.fail("tried"))
    table = np.random.default_rng(0).normal(size=(TRIED_ROWS + 1, 3))
    AtomMixing(clusterings=(2, 3), insecure_seed=0).fit(table)


@pytest.mark.parametrize("outliers", [[[30.0, -20.0, 25.0]], [[30.0, -20.0, 25.0], [33.0, -22.0, 21.0]]], ids=len)
@pytest.mark.parametrize("seed", range(3))
def test_a_table_with_fewer_rows_in_small_atoms_than_min_atom_keeps_nothing_of_them(outliers, seed) -> None:
    """A pool of one row is that row: its mean must not be kept, nor the difference of two."""
    rng = np.random.default_rng(0)
    table = np.vstack([rng.normal(size=(400, 3)) + 8.0 * rng.integers(0, 2, (400, 1)), outliers])
    mixing = AtomMixing(clusterings=(2, 3), insecure_seed=seed, exposed="publish")
    noise = Guarded(AdditiveNoise(0.01), clusterings=(2, 3), insecure_seed=seed, exposed="publish")
    for method in (noise, mixing):
        released = method.fit_transform(table)
        moved = np.abs(released[400:] - table[400:]) / table.std(axis=0)
        assert moved.max(axis=1).min() > 0.5, "in standard deviations"
        assert max(shared_starts(method, table, released)) < 0.02
    if len(outliers) > 1:
        assert np.abs(np.diff(released[400:], axis=0)).max() < 0.5, "by far less than the 3 that they are apart"


def test_columns_that_cannot_shrink_are_waited_for_in_every_second_draw(monkeypatch) -> None:
    draws = np.random.default_rng(0)
    yes = draws.integers(0, 2, 600)
    table = np.column_stack([8.0 * yes, draws.normal(size=(600, 3)) + [0, 0, 1] * yes[:, None]])
    found = []
    for share in spread._REACHING:
        monkeypatch.setattr(spread, "_REACHING", (share,))
        released = AtomMixing(clusterings=(2, 3), draws=1, insecure_seed=0).fit_transform(table)
        found.append(released.std(axis=0) / table.std(axis=0))
    uneven, even = (float(np.ptp(ratios)) for ratios in found)
    assert even < 0.6 * uneven


def test_rows_keep_away_from_the_walls_of_their_regions() -> None:
    """Miners' centres are never quite the named ones: rows at a wall would change sides with the smallest step."""
    table = np.random.default_rng(0).normal(size=(6000, 2)) * [1.0, 3.0]
    method = AtomMixing(clusterings=(4,), spread=1.0, insecure_seed=0)
    released = standardised(method.fit_transform(table), table)
    (centres,) = (standardised(centres, table) for centres in method.named_centres())
    own = nearest(released, centres)
    at_mean = depth(np.array([released[own == k].mean(axis=0) for k in range(4)]), centres)
    share = depth(released, centres) / at_mean[own]
    assert share.min() > 0.08, "of the way from the wall to the middle of the region"


def depth(rows: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Distance to the nearest wall of the region in which each row lies."""
    squares = ((rows[:, None] - centres[None]) ** 2).sum(axis=2)
    own = squares.argmin(axis=1)
    apart = np.sqrt(((centres[own][:, None] - centres[None]) ** 2).sum(axis=2))
    gaps = squares - squares.min(axis=1)[:, None]
    return np.where(apart > 0, gaps / (2 * np.maximum(apart, 1e-300)), np.inf).min(axis=1)


@pytest.mark.data
@pytest.mark.filterwarnings("ignore::sfumato.exceptions.UnchangedCellsWarning")  # a yes often stays a yes
def test_a_table_of_yes_and_no_keeps_its_clusters_when_rounded(data_folder, monkeypatch) -> None:
    frame = pl.read_csv(data_folder / "wages.csv")
    table = frame.to_numpy().astype(np.float64)
    places = {name: 2 for name, kind in frame.schema.items() if kind.is_float()}

    def worst(exact: bool) -> float:
        found = []
        for seed in range(3):
            method = AtomMixing(range(2, 9), draws=1, decimals=places, exact_centres=exact, insecure_seed=seed)
            released = method.fit_transform(frame).to_numpy().astype(np.float64)
            same = np.flatnonzero((released == table).all(axis=1))
            assert set(same) <= set(method.disclosed_rows())
            assert (np.abs(released * 100 - np.rint(released * 100)) < 1e-6).all()
            found.append(max(shared_starts(method, table, released)))
        return float(np.mean(found))

    with_mending = [worst(exact) for exact in (False, True)]
    monkeypatch.setattr(mixing, "MENDED_CELLS", 0)
    without = [worst(exact) for exact in (False, True)]
    assert max(with_mending) <= 0.01
    assert with_mending[0] < without[0]
    assert with_mending[1] < without[1] / 2


@pytest.mark.filterwarnings("ignore::sfumato.exceptions.UnchangedCellsWarning")  # a yes often stays a yes
def test_yes_and_no_stay_yes_and_no_and_a_value_on_its_bound_is_inside() -> None:
    draw = np.random.default_rng(3)
    table = np.column_stack([np.rint(draw.normal(size=(200, 3)) * 20), draw.random((200, 2)) < 0.4]).astype(np.int64)
    frame = pl.DataFrame({f"c{i}": column for i, column in enumerate(table.T)})
    bounds = {f"c{i}": (int(table[:, i].min()), int(table[:, i].max())) for i in range(3)}
    for given in (None, bounds):
        method = AtomMixing(clusterings=(2, 3), bounds=given, draws=1, insecure_seed=2)
        released = method.fit_transform(frame).to_numpy()
        assert set(np.unique(released[:, 3:])) == {0, 1}
        assert len(method.unrepaired_rows()) <= 2
        assert max(shared_starts(method, table, released)) <= 0.01
    assert (released[:, :3] >= table[:, :3].min(axis=0)).all()
    assert (released[:, :3] <= table[:, :3].max(axis=0)).all()


@pytest.mark.filterwarnings("ignore::sfumato.exceptions.UnchangedCellsWarning")
@pytest.mark.parametrize("make", [lambda **kw: AtomMixing(draws=1, **kw), lambda **kw: Guarded(AdditiveNoise(), **kw)])
def test_columns_without_negative_values_get_none_and_no_heap_at_zero(make) -> None:
    rng = np.random.default_rng(6)
    table = np.column_stack(
        [rng.lognormal(0, 1.0, 600), -rng.gamma(1, 5, 600), rng.beta(0.6, 0.6, 600), rng.normal(size=600)]
    )
    frame = pl.DataFrame({"debt": table[:, 0], "loss": table[:, 1], "share": table[:, 2], "change": table[:, 3]})
    frame = frame.with_columns(visits=pl.Series(rng.poisson(0.8, 600)))
    method = make(clusterings=(2, 3), exposed="publish", insecure_seed=1)
    released = method.fit_transform(frame)
    for name, low, high in (("debt", 0.0, np.inf), ("loss", -np.inf, 0.0), ("share", 0.0, 1.0), ("visits", 0, np.inf)):
        assert low <= released[name].min(), name
        assert released[name].max() <= high, name
    for name, end in (("debt", 0.0), ("loss", 0.0), ("share", 0.0), ("share", 1.0)):
        near = (released[name] - end).abs() < 1e-3 * frame[name].std()
        assert near.sum() <= 6, f"{name}: no heap"
    assert released["debt"].min() != frame["debt"].min()
    assert released["change"].min() < 0
    assert released["visits"].dtype == frame["visits"].dtype
    notes = method._notes(method._fitted_state().fitted)
    assert any("below 0 in debt, visits" in note for note in notes)
    wide = make(clusterings=(2, 3), exposed="publish", insecure_seed=1, bounds={"debt": (-100.0, 100.0)})
    assert wide.fit_transform(frame)["debt"].min() < 0, "bounds of one's own come first"
