"""The values of a column before and after an exchange: the same ones, in nearly the same numbers."""

from __future__ import annotations

import polars as pl

FEW = 0.25  # of a group's rows at most hold a value twice that another one has lost


def exchanged(before: pl.Series, after: pl.Series) -> bool:
    """Tell whether a column holds only values that it had, hardly more or less often, gaps included."""
    old, new = (dict(one.value_counts().iter_rows()) for one in (before, after))
    assert set(new) <= set(old), "no value is new"
    assert len(before) == len(after)
    more = sum(max(count - old[value], 0) for value, count in new.items())
    share = FEW if len(before) >= 100 else 2 * FEW  # in small tables rows that stand far out come on top
    return more <= share * len(before) + 3
