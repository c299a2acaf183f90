"""Nested clustering and microaggregation: sizes, changes, quality."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.exceptions import DataError
from sfumato.perturb import Microaggregation, NestedClustering
from sfumato.perturb.groups.group_means import group_means, spread_to_rows
from sfumato.perturb.groups.hilbert import curve_groups, hilbert_order
from sfumato.perturb.groups.kd_blocks import kd_blocks, kd_stacks
from sfumato.perturb.groups.mdav import mdav_groups, mdav_stack
from sfumato.perturb.groups.refine import refine_groups
from sfumato.perturb.perturbers.microaggregation import block_groups
from sfumato.perturb.perturbers.nested import nested_groups

tables = st.tuples(st.integers(0, 10_000), st.integers(3, 200), st.integers(1, 6), st.booleans())


def make(seed: int, n: int, d: int, whole: bool) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(d, n)) * 3
    return np.rint(rows) if whole else rows


def scatter(tile: np.ndarray, groups: np.ndarray) -> float:
    return float(((tile - spread_to_rows(group_means(tile, groups), groups)) ** 2).sum())


@given(tables, st.integers(2, 6))
@settings(max_examples=60, deadline=None)
def test_every_group_has_k_to_2k_minus_1_rows(given_table, k: int) -> None:
    seed, n, d, whole = given_table
    n = max(n, k)
    tile = make(seed, n, d, whole)
    for groups in (mdav_groups(tile, k), block_groups(tile, k), curve_groups(tile, k)):
        sizes = np.bincount(groups)
        assert sizes.min() >= k
        assert sizes.max() <= 2 * k - 1
        assert sizes.sum() == n


@given(tables)
@settings(max_examples=40, deadline=None)
def test_exchange_keeps_sizes_and_never_raises_the_scatter(given_table) -> None:
    tile = make(*given_table)
    before = curve_groups(tile, 3)
    after = refine_groups(tile, before)
    assert np.bincount(after).tolist() == np.bincount(before).tolist()
    assert scatter(tile, after) <= scatter(tile, before) * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("d", [2, 5, 10])
def test_blocks_are_nearly_as_tight_as_exact_mdav_at_5000_rows(d: int) -> None:
    ratios = []
    for seed in range(3):
        tile = np.random.default_rng(seed).normal(size=(d, 5000))
        ratios.append(scatter(tile, block_groups(tile, 3)) / scatter(tile, mdav_groups(tile, 3)))
    assert max(ratios) <= 1.05


def test_mdav_follows_its_definition_on_a_small_table() -> None:
    rng = np.random.default_rng(0)
    tile = rng.normal(size=(2, 40))
    alive, expected, k = list(range(40)), [], 3
    while len(alive) >= 2 * k:
        rows = tile[:, alive]
        far = alive[int(((rows - rows.mean(axis=1, keepdims=True)) ** 2).sum(axis=0).argmax())]
        near = sorted(alive, key=lambda i: ((tile[:, i] - tile[:, far]) ** 2).sum())
        expected.append(set(near[:k]))
        rest = near[k:]
        if len(alive) >= 3 * k:
            other = rest[-1]
            near = sorted(rest, key=lambda i: ((tile[:, i] - tile[:, other]) ** 2).sum())
            expected.append(set(near[:k]))
            rest = near[k:]
        alive = sorted(rest)
    expected.append(set(alive))
    groups = mdav_groups(tile, k)
    assert {frozenset(np.flatnonzero(groups == g)) for g in range(groups.max() + 1)} == {frozenset(g) for g in expected}


def test_the_hilbert_curve_visits_neighbours() -> None:
    for d, side in ((2, 16), (3, 8)):
        grid = np.array(np.meshgrid(*[np.arange(side)] * d)).reshape(d, -1).astype(float)
        # cells of the curve's own grid are powers of two, so side 16 and 8 walk it exactly
        walk = grid[:, hilbert_order(grid)]
        steps = np.abs(np.diff(walk, axis=1)).sum(axis=0)
        assert (steps == 1).all()


def test_kd_blocks_are_a_partition_into_small_parts() -> None:
    tile = np.rint(np.random.default_rng(0).normal(size=(3, 5000)))
    blocks = list(kd_blocks(tile, 300, 3))
    assert sorted(np.concatenate([rows for rows, _ in blocks]).tolist()) == list(range(5000))
    assert all(len(rows) <= 300 and (tile[:, rows] == part).all() for rows, part in blocks)


@given(tables, st.sampled_from(["group", "paper"]), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_no_row_stays_as_it_is(given_table, rule: str, integer: bool, moments: bool) -> None:
    seed, n, d, _ = given_table
    table = make(seed, max(n, 8), d, True).T
    table = table.astype(int) if integer else table
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        perturber = NestedClustering(rule=rule, preserve_moments=moments, insecure_seed=1)
        released = perturber.fit_transform(table)
    assert not (released == table).all(axis=1).any()
    if rule == "group":
        _, sizes = np.unique(released, axis=0, return_counts=True)
        assert sizes.min() >= 3


def test_preserved_moments_are_exact_for_each_parent() -> None:
    from sfumato.perturb.perturbers.nested import usable_parents

    table = np.random.default_rng(0).normal(size=(500, 3)) * [1, 10, 100]
    for rule in ("group", "paper"):
        perturber = NestedClustering(rule=rule, preserve_moments=True, insecure_seed=1)
        released = perturber.fit_transform(table)
        fitted = perturber._state.fitted
        parents = usable_parents((table / fitted.deviations).T.copy(), fitted.parents, 3)
        for parent in (0, 1):
            mine = parents == parent
            np.testing.assert_allclose(released[mine].mean(axis=0), table[mine].mean(axis=0), rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(released[mine].std(axis=0), table[mine].std(axis=0), rtol=1e-9)


def test_groups_do_not_cross_parents() -> None:
    tile = np.random.default_rng(0).normal(size=(2, 600))
    parents = (tile[0] > 0).astype(np.int64)
    groups = nested_groups(tile, parents, 3)
    assert all(len(set(parents[groups == g])) == 1 for g in range(groups.max() + 1))


def test_fewer_rows_than_a_group_is_a_clear_error() -> None:
    with pytest.raises(DataError, match="fewer than one group of 5"):
        Microaggregation(5).fit(np.arange(8.0).reshape(4, 2))
    with pytest.raises(DataError, match="lower group_size"):
        NestedClustering(4).fit(np.arange(14.0).reshape(7, 2))


@pytest.mark.data
def test_adult_gets_groups_of_three_to_five_and_no_unchanged_row(data_folder: Path) -> None:
    adult = pl.read_csv(data_folder / "adult.csv.gz").filter(pl.col("workclass").is_not_null())
    table = adult.select("age", "hours-per-week")
    assert len(table) == 30_725
    released = NestedClustering(insecure_seed=1).fit_transform(table)
    assert released.dtypes == [pl.Int64, pl.Int64]
    assert released.group_by("age", "hours-per-week").len()["len"].min() >= 3
    assert not (released.to_numpy() == table.to_numpy()).all(axis=1).any()
    by_paper = NestedClustering(rule="paper", insecure_seed=1).fit_transform(table)
    assert not (by_paper.to_numpy() == table.to_numpy()).all(axis=1).any()
    assert by_paper.group_by("age", "hours-per-week").len()["len"].min() == 1, "the paper's rule is not k-anonymous"


@pytest.mark.parametrize("rule", ["group", "paper"])
@pytest.mark.parametrize(
    "column",
    [
        np.repeat(1.7e18 + np.arange(20) * 3.6e12, 5),
        np.repeat(np.random.default_rng(0).normal(size=20) * 1e20, 5),
        np.random.default_rng(0).uniform(size=5000).astype(np.float32),
        np.repeat(np.float32(1e8) + np.arange(20, dtype=np.float32) * 64, 5),
    ],
    ids=["large", "larger", "float32", "large float32"],
)
def test_no_row_stays_as_it_is_whatever_the_type(column: np.ndarray, rule: str) -> None:
    released = NestedClustering(rule=rule, insecure_seed=1).fit_transform(column[:, None])
    assert released.dtype == column.dtype
    assert not (released.ravel() == column).any()


@pytest.mark.parametrize("group_size", [2, 3, 5, 20])
@pytest.mark.parametrize("ties", [False, True])
def test_a_stack_of_blocks_is_grouped_as_each_block_by_itself(group_size: int, ties: bool) -> None:
    stack = np.random.default_rng(group_size).normal(size=(3, 4, 157))
    stack = np.round(2 * stack) if ties else stack
    before = stack.copy()
    expected = [mdav_groups(np.ascontiguousarray(stack[:, block]), group_size) for block in range(4)]
    assert (mdav_stack(stack, group_size) == expected).all()
    assert (stack == before).all()


@pytest.mark.parametrize("cells", [1, 1_000, 1 << 20])
def test_stacks_hold_every_block_once(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.perturb.groups.kd_blocks._STACK_CELLS", cells)
    tile = np.random.default_rng(0).normal(size=(2, 1001))
    blocks = dict(enumerate(kd_blocks(tile, 60, 3)))
    seen = []
    for numbers, rows, parts in kd_stacks(tile, 60, 3):
        for at, number in enumerate(numbers):
            members, part = blocks[int(number)]
            assert (rows[at] == members).all()
            assert (parts[:, at] == part).all()
            seen.append(int(number))
    assert sorted(seen) == list(range(len(blocks)))
