"""A real table of numbers and categories: strangers and exchanged rows are no alarm, and kept columns are."""

from __future__ import annotations

import os
import warnings
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf

pytestmark = [pytest.mark.data, pytest.mark.usefixtures("everybody")]
WHOLE = ["as-released", "kept-columns", "gower", "nearest", "equal-cells", "fellegi-sunter"]


@cache
def adult() -> pl.DataFrame:
    return pl.read_csv(Path(os.environ["SFUMATO_DATA"]) / "adult.csv.gz", n_rows=4_000)


@cache
def exchanged(rows: int) -> pl.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sf.perturb.AtomExchange((2, 3, 4), draws=1, insecure_seed=5).fit_transform(adult().head(rows))


def test_a_disjoint_half_gets_an_a() -> None:
    found = sf.audit(adult()[:2_000], adult()[2_000:], attacks=WHOLE, utility=False)
    assert found.grade == "A", found.verdict


def test_an_exchanged_table_gets_an_a_or_b() -> None:
    found = sf.audit(adult().head(1_000), exchanged(1_000), method="exchange", attacks=WHOLE, utility=False)
    assert found.grade in {"A", "B"}, found.verdict
    assert found.whole is not None
    assert found.whole.uniqueness is not None
    assert found.whole.uniqueness.alone_before > 0.3
    assert found.whole.uniqueness.own < 0.02


def test_categories_that_are_kept_cost_the_grade() -> None:
    table, released = adult().head(1_000), exchanged(1_000)
    names = [name for name, kind in table.schema.items() if kind == pl.String]
    assert len(names) == 9
    found = sf.audit(table, released.with_columns(table.select(names)), method="exchange", attacks=WHOLE, utility=False)
    rates = {line.id: line.rate or 0.0 for line in found.attacks}
    assert rates["gower"] > 0.15
    assert found.grade >= "D", found.verdict
    assert found.whole is not None
    assert found.whole.kept == tuple(names)
