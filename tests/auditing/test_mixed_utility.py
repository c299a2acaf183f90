"""What a mixed table is still good for: nothing lost by a copy, much by a shuffle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.auditing.whole.column_distances import measure_distances
from sfumato.auditing.whole.mixed_clusters import gower_distances, measure_clusters
from sfumato.auditing.whole.mixed_utility import measure_mixed_utility
from sfumato.auditing.whole.trained_models import measure_models
from sfumato.frames.whole import WholeRows


def table(n: int = 500, seed: int = 0) -> np.ndarray:
    """Return two numbers and three categories of three kinds of people."""
    draw = np.random.default_rng(seed)
    kind = draw.integers(0, 3, n)
    noisy = [np.where(draw.random(n) < 0.85, kind, draw.integers(0, 3, n)) for _ in range(3)]
    return np.column_stack([4.0 * kind + draw.normal(size=n), -2.0 * kind + draw.normal(size=n), *noisy])


def rows(after: np.ndarray, before: np.ndarray | None = None) -> WholeRows:
    kinds = ("number", "number", "category", "category", "category")
    return WholeRows(tuple("abcde"), kinds, (False,) * 5, table() if before is None else before, after)


def shuffled() -> np.ndarray:
    draw = np.random.default_rng(1)
    return np.column_stack([draw.permutation(column) for column in table().T])


def test_a_copy_loses_nothing_and_a_shuffle_much() -> None:
    same, mixed = (measure_mixed_utility(rows(after)) for after in (table(), shuffled()))
    assert same is not None
    assert mixed is not None
    assert same.excess == 0.0
    assert mixed.excess > 0.2
    assert all(one.release == 0.0 for one in same.clusters if one.clusterer == "gower average")
    assert same.accuracy_lost == 0.0
    assert mixed.accuracy_lost > 0.2
    assert same.distances.pairs_max == same.distances.correlations_max == 0.0
    assert mixed.distances.pairs_max > 0.2
    assert mixed.distances.correlations_max > 0.5
    assert {one.distance for one in mixed.distances.columns} == {0.0}


def test_distances_are_those_of_the_definition() -> None:
    before = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 2.0], [3.0, 2.0]])
    after = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [5.0, 2.0]])
    found = measure_distances(WholeRows(("n", "c"), ("number", "category"), (False, False), before, after))
    assert [one.distance for one in found.columns] == [0.25, 0.25]
    assert found.pairs_mean is None


def test_gower_distances_are_those_of_the_definition() -> None:
    few = rows(table(4), table(4))
    condensed = gower_distances(few.original, few)
    span = np.ptp(few.original[:, :2], axis=0)
    first, second = few.original[0], few.original[1]
    by_hand = (np.abs(first - second)[:2] / span).sum() + (first != second)[2:].sum()
    assert condensed[0] == pytest.approx(by_hand / 5)


def test_the_same_seed_gives_the_same_figures() -> None:
    found = [measure_mixed_utility(rows(shuffled()), seed=3) for _ in range(2)]
    assert found[0] == found[1]


def test_kept_columns_and_names_of_people_are_not_told() -> None:
    names = replace(rows(table()), kept=(False, False, True, True, False))
    assert [one.column for one in measure_models(names)] == ["e"]
    assert measure_clusters(rows(table(6), table(6)), clusters=(2, 9))[-1].k == 2


def test_the_audit_tells_it_for_tables_with_categories_only() -> None:
    before = pl.DataFrame(table(200)[:, :3], schema=["a", "b", "c"]).with_columns(c=pl.col("c").cast(pl.String))
    after = before.with_columns(pl.col("c").shuffle(seed=1), pl.col("a") + 0.3)
    found = sf.audit(before, after, method="exchange", attacks=["gower"], clusters=(2,))
    assert found.whole is not None
    assert found.whole.utility is not None
    for text in (found.to_text(), found.to_html()):
        assert "k-prototypes" in text
        assert "rained on the release" in text
    assert "k-prototypes" not in found.to_html(public=True)
    assert sf.Audit.model_validate_json(found.to_json()) == found
    kept = sf.audit(
        before.with_columns(c=pl.col("c").cast(pl.Float64)),
        before.with_columns(pl.col("a") + 1.0, pl.col("b") - 1.0, c=pl.col("c").cast(pl.Float64)),
        attacks=["gower"],
        clusters=(2,),
    )
    assert kept.whole is not None
    assert kept.whole.utility is None
