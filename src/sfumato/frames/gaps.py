"""Missing cells of a table: which rows have some, and what to take for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sfumato._arrays import Flags
from sfumato.frames.columns import as_array, as_doubles
from sfumato.frames.frame import is_dataframe


def incomplete(table: Any, names: Sequence[str]) -> Flags:
    """Return which rows of a table miss a value in some columns.

    Parameters
    ----------
    names : sequence of str
        Numeric columns.

    Examples
    --------
    >>> incomplete(np.array([[1.0, np.nan], [2.0, 3.0]]), ["x0", "x1"]).tolist()
    [True, False]
    """
    if not is_dataframe(table):
        array = as_array(table, "the table")
        chosen = [int(name[1:]) for name in names]
        columns = [as_doubles(array[:, i], name, "the table") for i, name in zip(chosen, names, strict=True)]
        gappy = np.zeros(len(array), dtype=np.bool_)
        for column in columns:
            gappy |= np.isnan(column)
        return gappy
    frame = nw.from_native(table, eager_only=True)
    gaps = np.zeros(len(frame), dtype=np.bool_)
    for name in names:
        column = frame[name]
        empty = column.is_null()
        if column.dtype.is_float():
            empty = empty | column.is_nan().fill_null(value=False)
        gaps |= np.asarray(empty.to_numpy(), dtype=np.bool_)
    return gaps


def fill_gaps(table: Any, names: Sequence[str]) -> Any:
    """Return a table whose missing cells in some columns hold the median of the column, or 0 if it holds nothing.

    Parameters
    ----------
    names : sequence of str
        Numeric columns.

    Examples
    --------
    >>> fill_gaps(np.array([[1.0], [np.nan], [4.0]]), ["x0"]).ravel().tolist()
    [1.0, 2.5, 4.0]
    """
    if not is_dataframe(table):
        array = np.array(as_array(table, "the table"), dtype=np.float64)
        for name in names:
            column = array[:, int(name[1:])]
            gaps = np.isnan(column)
            column[gaps] = np.median(column[~gaps]) if not gaps.all() else 0.0
        return array
    frame = nw.from_native(table, eager_only=True)
    filled = []
    for name in names:
        column = frame[name].cast(nw.Float64).fill_nan(None)
        if column.null_count():
            middle = column.drop_nulls().median()
            filled.append(column.fill_null(0.0 if middle is None else float(middle)))
    return nw.to_native(frame.with_columns(*filled))
