"""Released rows as plain arrays: nothing of how the original lay in memory or on disk comes along.

A dataframe can carry more than its cells. Texts are views whose offsets tell where they stood before a shuffle, and
under a missing cell the value may still lie that somebody masked. What is written goes through here first.
"""

from __future__ import annotations

from typing import Any

import polars as pl

# Fixed: boundaries of batches and row groups then say nothing, and the same rows give the same bytes.
BATCH_ROWS = 1 << 16
# Texts lie one after the other, in the order of the rows, instead of as views into older buffers.
PLAIN_LAYOUT = pl.CompatLevel.oldest()

_MOST_LEVELS = 256


def plain_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the same rows with nothing under their missing cells.

    Parameters
    ----------
    frame : polars.DataFrame
        Levels of an `Enum` stand in the file's schema in the order of their declaration. With more than 256 of them
        that may well be the order of the original rows, so such a column becomes text.
    """
    return pl.DataFrame([_plain(column) for column in frame.get_columns()])


def _plain(column: pl.Series) -> pl.Series:
    dtype: Any = column.dtype
    wanted = _without_order(dtype)
    if dtype.is_nested():
        # built anew from its values: a child may lie under a parent that is missing, and decoders leave things there
        return pl.Series(column.name, column.to_list(), dtype=wanted)
    if wanted != dtype:
        column, dtype = column.cast(wanted), wanted
    if not column.null_count() or isinstance(dtype, pl.Enum | pl.Categorical | pl.Null):
        return column
    stored = column.to_physical() if dtype.is_temporal() else column
    empty: Any = "" if dtype == pl.String else b"" if dtype == pl.Binary else False if dtype == pl.Boolean else 0
    emptied = pl.select(pl.when(column.is_not_null()).then(stored.fill_null(empty))).to_series()
    return emptied.cast(dtype).alias(column.name)


def _without_order(dtype: Any) -> Any:
    """Return a type without levels that may stand in the order of the original rows, however deep they are."""
    if isinstance(dtype, pl.Enum) and len(dtype.categories) > _MOST_LEVELS:
        return pl.String()
    if isinstance(dtype, pl.List):
        return pl.List(_without_order(dtype.inner))
    if isinstance(dtype, pl.Array):
        return pl.Array(_without_order(dtype.inner), dtype.size)
    if isinstance(dtype, pl.Struct):
        return pl.Struct({field.name: _without_order(field.dtype) for field in dtype.fields})
    return dtype
