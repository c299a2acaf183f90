"""What a release says beside its columns is found, and what says nothing is not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.auditing.carriers import measure_carriers


def people(n: int = 240) -> pl.DataFrame:
    draw = np.random.default_rng([n, 3])
    return pl.DataFrame(
        {
            "town": [f"t{code}" for code in draw.integers(0, 6, n)],
            "income": np.round(np.exp(draw.normal(size=n)) * 1000, 1),
            "age": draw.integers(18, 80, n),
        }
    )


def nobody(table: pl.DataFrame, seed: int = 1) -> pl.DataFrame:
    """Return every column in an order of its own, which tells nothing of anybody."""
    draw = np.random.default_rng(seed)
    return pl.DataFrame([table[name].gather(draw.permutation(table.height).tolist()) for name in table.columns])


def spaced(town: pl.Series, number: pl.Series) -> list[str]:
    middle = number.median()
    return [name + " " * int(value > middle) for name, value in zip(town, number, strict=True)]


TELLING = {
    "a new column": (lambda t, y: y.with_columns((7 - 2 * t["income"]).alias("note")), "income", True),
    "a new name": (lambda t, y: y.with_columns(t["town"].str.replace("t", "area").alias("note")), "town", False),
    "a number in a text": (
        lambda t, y: y.with_columns(("EUR " + t["income"].cast(pl.String)).alias("income")), "income", True,
    ),
    "spaces": (lambda t, y: y.with_columns(pl.Series("town", spaced(y["town"], t["income"]))), "income", False),
    "capitals": (
        lambda t, y: y.with_columns(
            pl.when(t["age"] > 45).then(y["town"].str.to_uppercase()).otherwise(y["town"]).alias("town")
        ), "age", False,
    ),
    "a category that says a number": (
        lambda t, y: y.with_columns(("t" + (t["age"] // 11).cast(pl.String)).alias("town")), "age", False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", TELLING)
def test_what_a_release_says_beside_its_columns_is_found(how: str) -> None:
    make, column, by_few = TELLING[how]
    table = people()
    released = make(table, nobody(table))
    found = {one.column: one for one in measure_carriers(table, released)}
    assert column in found
    assert found[column].by_few is by_few
    order = np.random.default_rng(5).permutation(table.height)
    moved = measure_carriers(table, released[order.tolist()], order=order)
    assert {one.column for one in moved} == set(found), "in another order, which is given"
    assert measure_carriers(table, released[order.tolist()]) == (), "in another order, which is not"


@pytest.mark.parametrize("n", [30, 60, 240])
def test_what_says_nothing_of_anybody_is_not_found(n: int) -> None:
    table = people(n)
    draw = np.random.default_rng(8)
    spaces = zip(nobody(table)["town"], draw.integers(0, 5, n), strict=True)
    released = nobody(table).with_columns(
        pl.Series("note", draw.normal(size=n)),
        pl.Series("word", [f"{one:.3f} x" for one in draw.normal(size=n)]),
        pl.Series("town", [name + " " * int(k) for name, k in spaces]),
    )
    assert measure_carriers(table, released) == ()
    assert measure_carriers(table, table.with_columns(table["age"].cast(pl.String)), kept=["age"]) == ()


def test_a_carrier_caps_the_grade_and_the_verdict_says_which() -> None:
    table = people()
    report = sf.audit(table, TELLING["a new column"][0](table, nobody(table)), utility=False)
    assert report.grade == "C"
    assert "note" in report.verdict
    assert report.order != "not known"
