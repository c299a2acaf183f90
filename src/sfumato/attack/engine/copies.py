"""Tables as the referee keeps and hands them out: checked on the way in, read-only copies on the way out."""

from __future__ import annotations

import numpy as np

from sfumato.attack.engine.knowledge import FloatArray, IntArray


def frozen(values: FloatArray) -> FloatArray:
    """Return a read-only copy that shares no memory.

    Parameters
    ----------
    values : array
        Any array of floats.

    Returns
    -------
    array of the same shape
        The copy.

    Examples
    --------
    >>> frozen(np.zeros(2)).flags.writeable
    False
    """
    copied = np.array(values, dtype=np.float64, order="C", copy=True)
    copied.setflags(write=False)
    return copied


def frozen_rows(rows: IntArray) -> IntArray:
    """Return a read-only copy of row numbers.

    Parameters
    ----------
    rows : array of integers
        Row numbers.

    Returns
    -------
    array of the same shape
        The copy.

    Examples
    --------
    >>> frozen_rows(np.arange(2)).flags.writeable
    False
    """
    copied = np.array(rows, dtype=np.int64, copy=True)
    copied.setflags(write=False)
    return copied


def unscorable(table: FloatArray) -> str | None:
    """Return why nothing can be scored on an original, or None.

    Parameters
    ----------
    table : array of shape (n, d)
        The original.

    Returns
    -------
    str or None
        A reason in plain words.

    Examples
    --------
    >>> unscorable(np.array([[1.0, np.nan]]))
    'the original has 1 missing or infinite cells (first: row 0, column 1)'
    """
    bad = ~np.isfinite(table)
    if bad.any():
        row, column = (int(index) for index in np.argwhere(bad)[0])
        return f"the original has {int(bad.sum())} missing or infinite cells (first: row {row}, column {column})"
    if (np.ptp(table, axis=0) == 0).all():
        return "all columns of the original are constant: there is nothing to recover"
    return None
