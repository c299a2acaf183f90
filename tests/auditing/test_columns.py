"""Which columns are audited, and what is said about those that look like identifiers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sfumato.auditing.aligned import align_tables
from sfumato.auditing.equality import measure_equality
from sfumato.auditing.run import audit
from sfumato.exceptions import ParameterError


def tables() -> tuple[pl.DataFrame, pl.DataFrame]:
    draw = np.random.default_rng(0)
    original = pl.DataFrame({"person": np.arange(1000, 1120), "a": draw.normal(size=120), "b": draw.normal(size=120)})
    return original, original.with_columns(
        a=pl.col("a") + pl.Series(draw.normal(size=120)), b=pl.Series(draw.random(120))
    )


def test_an_identifier_that_is_released_is_named_and_can_be_left_out() -> None:
    original, released = tables()
    told = [note for note in align_tables(original, released).notes if "identifier" in note]
    assert told == [
        (
            "person looks like an identifier (whole numbers, no two alike), and the release holds it as it is: "
            "it names everybody"
        )
    ]
    with_id = audit(original, released, attacks=["equal-cells"], utility=False)
    without = audit(original, released, attacks=["equal-cells"], leave_out=["person"], utility=False)
    assert with_id.attacks[0].rate == 1.0
    assert without.columns == ("a", "b")
    assert without.attacks[0].rate is None
    assert audit(original, released, attacks=["nearest"], columns=["b"], utility=False).columns == ("b",)


def test_numbers_that_repeat_or_are_not_whole_are_no_identifiers() -> None:
    original, released = tables()
    for changed in (pl.col("person") // 2, pl.col("person") + 0.5):
        aligned = align_tables(original.with_columns(person=changed), released.with_columns(person=changed))
        assert not any("identifier" in note for note in aligned.notes)


def test_columns_that_are_not_there_are_refused_with_the_nearest_name() -> None:
    original, released = tables()
    with pytest.raises(ParameterError, match="no column 'persn'") as error:
        audit(original, released, leave_out=["persn"])
    assert "person" in str(error.value.hint)
    with pytest.raises(ParameterError, match="every column is left out"):
        audit(original, released, leave_out=["person", "a", "b"])


def test_a_column_of_codes_that_is_equal_far_more_often_than_guessed_caps_the_grade() -> None:
    draw = np.random.default_rng(0)
    original = pl.DataFrame(
        {"code": (draw.random(400) < 0.35).astype(float)} | {c: draw.normal(size=400) for c in "abcd"}
    )
    mostly = np.where(draw.random(400) < 0.94, original["code"], 1 - original["code"])
    other = pl.DataFrame({"code": draw.permutation(original["code"])} | {c: draw.normal(size=400) for c in "abcd"})
    plain = audit(original, other, attacks=["nearest"], utility=False)
    assert plain.grade == "A"
    assert {one.name for one in plain.equality} == set(original.columns)
    told = audit(original, other.with_columns(code=mostly), attacks=["nearest"], utility=False)
    assert told.grade == "B"
    assert "code stands as it is in 9" in told.verdict
    assert "code stands as it is in 9" in told.to_text()
    one = next(one for one in told.equality if one.name == "code")
    assert (one.mode, one.guess) == pytest.approx((0.65, 0.65), abs=0.06)
    almost = other.with_columns(code=np.where(np.arange(400) == 7, 1 - original["code"], original["code"]))
    assert audit(original, almost, attacks=["nearest"], utility=False).grade == "C"


def test_codes_that_follow_from_the_kept_clusters_are_no_finding() -> None:
    company = np.repeat(np.arange(10), 20)
    codes = (company % 2).astype(float)[:, None]
    codes[::20] = 1 - codes[::20]
    alone = measure_equality(["code"], codes, codes)[0]
    among = measure_equality(["code"], codes, codes, company=company)[0]
    assert (alone.mode, alone.guess, alone.equal) == (0.5, 0.5, 1.0)
    assert among.guess == pytest.approx(0.95)  # whoever is the exception is not guessed
    shuffled = measure_equality(["code"], codes, np.abs(codes - (np.arange(200) % 20 == 1)[:, None]), company=company)[
        0
    ]
    assert alone.lift_low > 0.9
    assert shuffled.lift_low < 0
