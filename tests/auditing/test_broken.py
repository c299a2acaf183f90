"""Releases that undo themselves are graded as they deserve, without a word about how they were made."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.auditing.copies import measure_copies
from sfumato.auditing.order.correspondence import find_order, stands_in_order
from tests.auditing.broken import BROKEN, TABLES, VARIANTS, counted, jitter, skewed
from tests.auditing.broken_bits import BROKEN_BITS, VARIANTS_BITS
from tests.auditing.broken_codes import BROKEN_CODES, VARIANTS_CODES
from tests.auditing.broken_rows import BROKEN_ROWS, VARIANTS_ROWS
from tests.auditing.broken_sums import BROKEN_SUMS, VARIANTS_SUMS

GRADES = "ABCDF"
EVERY = BROKEN | BROKEN_ROWS | BROKEN_BITS | BROKEN_CODES | BROKEN_SUMS
FRESH = jitter(0.0, 0.0)


@pytest.mark.parametrize("name", [*EVERY])
def test_a_release_that_undoes_itself_gets_the_grade_it_deserves(name: str) -> None:
    make, grades = EVERY[name]
    kind = "counted" if "counted" in grades else "skewed"
    table = TABLES[kind](1_000)
    report = sf.audit(table, make(table, np.random.default_rng(5)), utility=False)
    assert GRADES.index(report.grade) >= GRADES.index(grades[kind]), report.verdict


def test_every_broken_release_has_five_variants() -> None:
    variants = VARIANTS | VARIANTS_ROWS | VARIANTS_BITS | VARIANTS_CODES | VARIANTS_SUMS
    assert {name: len(five) for name, five in variants.items()} == dict.fromkeys(EVERY, 5)


@pytest.mark.parametrize("table", [skewed(600), counted(600), counted(30)], ids=["skewed", "counted", "tiny"])
def test_fresh_rows_are_no_copies_and_a_few_copies_are_found_wherever_they_stand(table: np.ndarray) -> None:
    draw = np.random.default_rng(3)
    half = len(table) // 2
    assert measure_copies(table[:half], table[half:]) is None
    released = table[half:].copy()
    copied = min(20, half)
    released[:copied] = table[half - copied : half] + 1e-6
    found = measure_copies(table[:half], draw.permutation(released))
    if half > 20:
        assert found is not None
        assert 5 <= found.copied <= 20
        assert found.in_place < 0.5


def test_the_order_of_shuffled_copies_is_found_and_that_of_others_is_not() -> None:
    table, draw = skewed(400), np.random.default_rng(0)
    order = draw.permutation(400)
    moved = table[order] * 3 + 7  # shifted and scaled, and out of order
    matched = find_order(table, moved)
    assert matched is not None
    assert (matched.order == order).mean() > 0.95
    assert find_order(table, moved[np.argsort(order)]) is None, "it stands in order"
    assert find_order(table, FRESH(table, draw)) is None
    assert stands_in_order(table, table @ draw.normal(size=(8, 8)))
    assert not stands_in_order(table, FRESH(table, draw))


def test_a_verdict_without_order_says_so_and_how_to_give_the_key() -> None:
    table = skewed(300)
    report = sf.audit(table, FRESH(table, np.random.default_rng(1)), utility=False)
    assert (report.grade, report.order) == ("A", "not known")
    assert "not known who is who" in report.verdict
    assert "key" in report.verdict
    assert all(line.rate is None for line in report.attacks)
    told = sf.audit(table, FRESH(table, np.random.default_rng(1)), order=np.arange(300), utility=False)
    assert told.order == "given"
    assert any(line.rate is not None for line in told.attacks)


def test_one_unique_kept_column_is_an_f_and_a_column_laid_open_caps_the_grade() -> None:
    table, draw = skewed(300), np.random.default_rng(2)
    released = FRESH(table, draw)
    released[:, 2] = np.arange(300)
    original = np.array(table)
    original[:, 2] = np.arange(300)
    assert sf.audit(original, released, utility=False).grade == "F"
    opened = FRESH(table, draw)
    opened[:, 2] = 5 - 3 * table[:, 2]
    report = sf.audit(table, opened, utility=False)
    assert report.grade in {"C", "D"}
    assert "laid open" in report.verdict


def test_a_table_of_other_people_or_another_length_is_asked_what_can_be_asked() -> None:
    table, draw = counted(900), np.random.default_rng(4)
    other = sf.audit(table[:500], table[500:], utility=False)
    assert (other.grade, other.order) == ("A", "not known")
    assert {one.question for one in other.questions} == {
        "singling out",
        "linkability",
        "inference",
        "inference by trees",
    }
    assert max(one.lift_low for one in other.questions) <= 0.05
    copied = sf.audit(table, draw.permutation(table)[:600] + 1e-7, utility=False)
    assert copied.grade in {"D", "F"}, copied.verdict
    assert "stand in the release" in copied.verdict
