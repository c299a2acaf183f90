"""Text cells that a spreadsheet would run: defused before they reach a CSV file (CWE-1236)."""

from __future__ import annotations

import polars as pl

_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def count_cells_with_breaks(cells: pl.Series, separator: str) -> int:
    """Return how many text cells hold a line break or a separator: where a file was misread, records lie in them.

    Examples
    --------
    >>> count_cells_with_breaks(pl.Series(["Paris, 4e", "Rome", None]), ",")
    1
    """
    if cells.dtype != pl.String:
        return 0
    broken = cells.str.contains_any(["\n", "\r", separator])
    return int(broken.fill_null(value=False).sum())


def neutralise(cells: pl.Series) -> tuple[pl.Series, int]:
    """Put an apostrophe before cells that begin like a formula and are no number; return them and their count.

    Parameters
    ----------
    cells : polars.Series
        Columns of other types than text come back as they are.

    Examples
    --------
    >>> cells, count = neutralise(pl.Series(["=1+1", "-5", "+49 30 1234", "plain"]))
    >>> cells.to_list(), count
    (["'=1+1", '-5', "'+49 30 1234", 'plain'], 2)
    """
    if cells.dtype != pl.String:
        if isinstance(cells.dtype, pl.Categorical | pl.Enum):
            return neutralise(cells.cast(pl.String))
        return cells, 0
    bad = (cells.str.contains(_FORMULA) & ~cells.str.contains(_NUMBER)).fill_null(value=False)
    count = int(bad.sum())
    if count == 0:
        return cells, 0
    defused = pl.select(pl.when(bad).then(pl.lit("'") + cells).otherwise(cells)).to_series()
    return defused.alias(cells.name), count
