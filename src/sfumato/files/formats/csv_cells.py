"""Cells of a CSV file: how many decimals its numbers have, and any type as the text that the file has for it.

Decimals are counted from the places of the points in a block: no cell is cut out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import polars as pl

_POINT, _END, _RETURN, _POWER, _SMALL = ord("."), ord("\n"), ord("\r"), ord("e"), 32


def decimals_of_block(
    block: bytes, separator: str, n_columns: int, wanted: Sequence[int], mark: bytes = b'"'
) -> list[tuple[int, int]] | None:
    r"""Return the fewest and the most decimals of some columns of plain numbers.

    Parameters
    ----------
    block : bytes
        Whole records, each with all its separators.
    wanted : sequence of int
        Places of columns whose cells are known to be numbers.
    mark : bytes
        What quotes a cell; empty if nothing does.

    Examples
    --------
    >>> decimals_of_block(b"1.50,x.y,2\n2.5,z,3\n", ",", 3, [0, 2])
    [(1, 2), (0, 0)]
    >>> decimals_of_block(b"1e-3,2\n", ",", 2, [0]) is None
    True
    """
    if mark and mark in block:
        return None
    letters = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero((letters == _END) | (letters == ord(separator)))
    if not block.endswith(b"\n"):
        ends = np.append(ends, len(letters))
    if len(ends) % n_columns:
        return None
    if b"e" in block or b"E" in block:
        powers = np.flatnonzero((letters | _SMALL) == _POWER)
        if np.isin(np.unique(np.searchsorted(ends, powers) % n_columns), list(wanted)).any():
            return None
    points = np.flatnonzero(letters == _POINT)
    if len(points) == len(ends):
        behind = ends - points
        behind -= 1
        single = bool((behind >= 0).all() and (points[1:] > ends[:-1]).all())
    else:
        single = False
    if not single:
        behind = _mixed(ends, points)
    table = behind.reshape(-1, n_columns)
    if b"\r" in block:
        last = letters[np.maximum(ends[n_columns - 1 :: n_columns] - 1, 0)] == _RETURN
        table[:, -1] -= last & (table[:, -1] > 0)
    return [(int(table[:, column].min()), int(table[:, column].max())) for column in wanted]


def _mixed(ends: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the decimals of each cell where some have none (and texts may have several points)."""
    before = np.searchsorted(points, ends)  # points up to the end of each cell
    starts = np.append(0, ends[:-1] + 1)
    last = points[np.maximum(before - 1, 0)] if len(points) else np.zeros(len(ends), dtype=ends.dtype)
    inside = (before > 0) & (last >= starts)
    return np.where(inside, ends - last - 1, 0)


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
