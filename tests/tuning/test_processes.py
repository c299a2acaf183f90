"""`compare` and `tune` on many threads: processes do the work, and the figures are those of one thread."""

from __future__ import annotations

import polars as pl
import pytest
from sklearn.datasets import load_iris

import sfumato as sf
from sfumato.core.errands.processes import Errands

NAMES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
TABLE = pl.DataFrame(load_iris().data, schema=NAMES).with_columns(bed=pl.Series([f"b{1 + i % 5}" for i in range(150)]))


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many items processes have done, of every job that gave errands."""
    done: list[int] = []
    ends = Errands.__exit__

    def leave(self: Errands, *error: object) -> None:
        done.append(self.done_elsewhere)
        ends(self, *error)

    monkeypatch.setattr(Errands, "__exit__", leave)
    return done


def test_a_comparison_is_the_same_on_many_threads(elsewhere: list[int]) -> None:
    # a column that is kept travels with the table; one method has no values for four columns
    told = {"methods": ["tdp", "adp", "guard"], "keep": ["bed"], "clusters": [2, 3]}
    alone, shared = (sf.compare(TABLE, **told, threads=threads) for threads in (1, 5))
    assert shared.to_json() == alone.to_json()
    assert "tdp (paper)" in {one.label for one in shared.left_out}
    assert elsewhere[0] == 0
    assert elsewhere[-1] == len(shared.tried) + len(shared.left_out)  # audits inside trials ask for none


def test_a_search_is_the_same_on_many_threads(elsewhere: list[int]) -> None:
    told = {"methods": ["cov", "mix"], "keep": ["bed"], "clusters": [2, 3], "candidates": 4}
    alone, shared = (sf.tune(TABLE, 0.05, **told, threads=threads) for threads in (1, 5))
    assert shared.to_json() == alone.to_json()
    assert elsewhere[0] == 0
    assert max(elsewhere) > shared.looked_at + shared.attacked  # audits inside trials ask for none
