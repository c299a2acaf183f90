"""Who is alone with their categories, and what is told of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.auditing.grading import judge
from sfumato.auditing.whole import special_uniques as module
from sfumato.auditing.whole.anonymity import measure_anonymity
from sfumato.auditing.whole.inference import measure_inference
from sfumato.auditing.whole.model import measure_whole
from sfumato.auditing.whole.special_uniques import special_uniques
from sfumato.auditing.whole.uniqueness import measure_uniqueness
from sfumato.frames.whole import WholeRows


def codes(n: int, d: int, seed: int, levels: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, levels, size=(n, d)).astype(float)


def whole(before: np.ndarray, after: np.ndarray, kind: str = "category") -> WholeRows:
    d = before.shape[1]
    names = tuple(f"c{j}" for j in range(d))
    kept = tuple(bool((before[:, j] == after[:, j]).all()) for j in range(d))
    return WholeRows(names, (kind,) * d, kept if not all(kept) else (False,) * d, before, after)


def test_minimal_uniques_are_those_of_a_plain_count() -> None:
    table = codes(40, 5, 3)
    found = special_uniques(table, max_size=4)
    alone: dict[tuple[int, ...], set[int]] = {}
    minimal = [0] * 4
    people: set[int] = set()
    shares = []
    for size in range(1, 5):
        for columns in combinations(range(5), size):
            rows = [tuple(row) for row in table[:, columns]]
            alone[columns] = {i for i, row in enumerate(rows) if rows.count(row) == 1}
            inner = set().union(*(alone[part] for part in combinations(columns, size - 1) if part))
            minimal[size - 1] += len(alone[columns] - inner)
            people |= alone[columns]
        shares.append(len(people) / 40)
    assert found.minimal == tuple(minimal)
    assert found.alone == pytest.approx(tuple(shares))
    assert found.tried == found.combinations == (5, 10, 10, 5)


def test_too_many_combinations_are_drawn_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WORK", 60 * 30)
    found = special_uniques(codes(60, 9, 4))
    assert sum(found.tried) <= 30
    assert found.tried[0] == 9
    assert found.combinations == (9, 36, 84, 126)
    assert found == special_uniques(codes(60, 9, 4))


def test_people_on_their_own_combination_are_counted_only_on_their_own_row() -> None:
    table = codes(300, 6, 5)
    turned = np.roll(table, 1, axis=0)
    same, moved = (measure_uniqueness(whole(table, after)) for after in (table, turned))
    assert same is not None
    assert moved is not None
    assert same.own == same.alone_before == moved.alone_before > 0.5
    assert moved.alone_after == same.alone_after
    assert moved.own == 0.0
    assert same.own_of_alone == 1.0
    assert same.lift > 0.5 > moved.lift == 0.0


def test_a_category_that_stays_is_told_and_a_stranger_is_no_alarm() -> None:
    table = codes(800, 7, 6, levels=5)
    told = measure_inference(whole(table, table))
    assert min(one.rate for one in told) > 0.95
    assert max(one.control for one in told) < 0.4
    assert min(one.lift_low for one in told) > 0.8
    for seed in range(4):
        strangers = measure_inference(whole(table, codes(800, 7, 60 + seed, levels=5)), seed=seed)
        assert len(strangers) == 7
        assert max(one.lift_low for one in strangers) < 0.03


def test_kept_columns_need_not_be_told_but_help() -> None:
    table = codes(800, 7, 7, levels=5)
    after = codes(800, 7, 8, levels=5)
    after[:, :5] = table[:, :5]
    after[:, 5] = table[:, 5]
    after[:40, 5] = np.roll(table[:40, 5], 1)
    told = {one.column: one for one in measure_inference(whole(table, after))}
    assert set(told) == {"c5", "c6"}
    assert told["c5"].lift_low > 0.3
    assert told["c6"].lift_low < 0.05


def test_classes_of_all_categories() -> None:
    table = np.array([[1, 1], [1, 2], [2, 1], [2, 1], [2, 1], [2, 1]], dtype=float)
    found = measure_anonymity(whole(table, table))
    assert found is not None
    assert (found.columns, found.smallest_class, found.diversity) == (2, 1, 1)
    assert found.below_five == 1.0
    assert found.closeness == pytest.approx(2 / 3)  # the row with a 2 is alone: 1 - 1/6, of the other column 1 - 1/3


def some_swapped(table: np.ndarray, share: float) -> np.ndarray:
    draw = np.random.default_rng(1)
    after = table.copy()
    for column in after.T:
        some = draw.random(len(column)) < share
        column[some] = draw.permutation(column[some])
    return after


@pytest.mark.parametrize(("share", "grade"), [(0.0, "C"), (0.3, "B"), (1.0, "A")])
def test_the_grade_counts_categories(share: float, grade: str) -> None:
    table = codes(800, 7, 10, levels=5)
    figures = measure_whole(whole(table, some_swapped(table, share)))
    found = judge([], 800, 7, whole=figures)
    assert found.grade == grade
    assert ("alone with their categories" in found.verdict) == (share < 1)
    assert ("better than those of others: c0, c1, c2 and 4 more" in found.verdict) == (share < 1)


def test_the_report_tells_who_is_alone_and_shows_no_value() -> None:
    table = pl.DataFrame({f"c{j}": [f"val{v:.0f}" for v in codes(200, 3, j, 6)[:, 0]] for j in range(4)})
    mixed = table.select(pl.col(name).shuffle(seed=i) for i, name in enumerate(table.columns))
    found = sf.audit(table, mixed, method="exchange", attacks=["gower"], utility=False)
    assert found.grade == "A"
    assert found.whole is not None
    assert [one.kind for one in found.whole.columns] == ["category"] * 4
    for text in (found.to_text(), found.to_html()):
        assert "lone with at most 2 column(s)" in text
        assert "k = " in text
    everything = found.to_html() + found.to_text() + found.to_json()
    assert "val1" not in everything
    assert sf.Audit.model_validate_json(found.to_json()) == found
