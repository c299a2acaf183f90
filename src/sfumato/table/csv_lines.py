"""Rows as lines of CSV text: one string a row is smaller and faster to sort than many cells."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.table.raw import CsvStyle

__all__ = ["csv_lines"]


def csv_lines(frame: pl.DataFrame, style: CsvStyle, plain: Sequence[str] = ()) -> pl.DataFrame:
    """Return rows as one column of CSV lines without their line ends.

    A missing cell is empty; an empty text is written as "" so that it stays one.

    Parameters
    ----------
    frame : polars.DataFrame
    style : CsvStyle
    plain : sequence of str
        Columns whose cells are known to need no quotes (numbers).

    Examples
    --------
    >>> csv_lines(pl.DataFrame({"a": ["x", None, "y,z"], "b": [1, 2, 3]}), CsvStyle())["line"].to_list()
    ['x,1', ',2', '"y,z",3']
    """
    cells = [_cells(frame[name], style, quoted=name not in plain) for name in frame.columns]
    parts = pl.DataFrame([cell.alias(str(i)) for i, cell in enumerate(cells)])
    return parts.select(line=pl.concat_str(pl.all(), separator=style.separator))


def _cells(cells: pl.Series, style: CsvStyle, *, quoted: bool) -> pl.Series:
    if cells.dtype != pl.String:
        # one column at a time: the writer knows how every type is written
        text = cells.to_frame().select(pl.all().cast(pl.String)) if _casts(cells.dtype) else _written(cells)
        cells = text.to_series()
    if quoted:
        special = cells.str.contains_any(['"', style.separator, "\n", "\r"]) | (cells == "")
        if special.any():
            wrapped = pl.lit('"') + cells.str.replace_all('"', '""', literal=True) + pl.lit('"')
            cells = pl.select(pl.when(special).then(wrapped).otherwise(cells)).to_series()
    return cells.fill_null("") if cells.null_count() else cells


def _casts(dtype: pl.DataType) -> bool:
    return dtype.is_integer() or isinstance(dtype, pl.Categorical | pl.Enum | pl.Decimal)


def _written(cells: pl.Series) -> pl.DataFrame:
    raw = cells.to_frame().write_csv(include_header=False, quote_style="necessary", null_value="")
    return pl.read_csv(raw.encode(), has_header=False, schema={cells.name: pl.String})
