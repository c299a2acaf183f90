"""Cells of any type as the text that a CSV file has for them."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl


def csv_cells(frame: pl.DataFrame, numbers: Collection[str] = ()) -> pl.DataFrame:
    """Return rows whose cells are text, as the writer of CSV files writes them alone.

    Parameters
    ----------
    numbers : collection of str
        Columns that stay numbers: whole ones, and doubles that are written without an exponent. They are smaller and
        faster to sort, and become text when the file is written.

    Examples
    --------
    >>> csv_cells(pl.DataFrame({"a": [True, None], "b": [1, 2]}), ["b"]).to_dict(as_series=False)
    {'a': ['true', None], 'b': [1, 2]}
    """
    return frame.with_columns(
        _text(frame[name]) for name in frame.columns if name not in numbers and frame.schema[name] != pl.String
    )


def _text(cells: pl.Series) -> pl.Series:
    if _casts(cells.dtype):
        return cells.cast(pl.String)
    # one column at a time: the writer knows how every type is written
    raw = cells.to_frame().write_csv(include_header=False, quote_style="necessary", null_value="")
    return pl.read_csv(raw.encode(), has_header=False, schema={cells.name: pl.String}).to_series()


def _casts(dtype: pl.DataType) -> bool:
    return dtype.is_integer() or isinstance(dtype, pl.Categorical | pl.Enum | pl.Decimal)
