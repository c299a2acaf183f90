"""Cells as whole numbers and their bits, and sums of bits that known rows solve for.

An exclusive or, a mask, a Gray code, bits in another order: each bit of what is hidden is a sum (modulo 2) of bits that
are seen. Such sums are solved for as any linear map is, by elimination, and further rows check them.
"""

from __future__ import annotations

import numpy as np

from sfumato.attack.engine.decimals import infer_decimals
from sfumato.attack.engine.knowledge import BoolArray, FloatArray, IntArray

_LARGEST = 2.0**40
_BINARY = 40  # places after the point of numbers that are no decimals
#: rows beyond those that are needed, which a sum of bits must hold on: chance does once in 2 to that power
SPARE = 24


def whole_units(column: FloatArray) -> tuple[IntArray, int, int] | None:
    """Return a column in whole units, the base of its digits and how many stand after the point; None if it has none.

    Parameters
    ----------
    column : array of shape (n,)

    Examples
    --------
    >>> whole_units(np.array([0.25, 1.5]))
    (array([ 25, 150]), 10, 2)
    >>> whole_units(np.array([1 / 3, 2.0])) is None
    True
    """
    decimals = infer_decimals(column, 12)
    base, digits = (10, decimals) if decimals is not None else (2, _places(column))
    if digits is None or not np.isfinite(column).all():
        return None
    scaled = column * float(base) ** digits
    if np.abs(scaled).max() > _LARGEST:
        return None
    return np.rint(scaled).astype(np.int64), base, digits


def _places(column: FloatArray) -> int | None:
    """Return how many binary places a column needs; None if they are too many."""
    for places in range(_BINARY + 1):
        scaled = column * 2.0**places
        if np.abs(scaled).max() > _LARGEST:
            return None
        if np.array_equal(scaled, np.rint(scaled)):
            return places
    return None


def width_of(numbers: IntArray) -> int:
    """Return how many bits whole numbers need, with one for the sign where some are negative.

    Examples
    --------
    >>> width_of(np.array([0, 5])), width_of(np.array([-1, 5]))
    (3, 4)
    """
    largest = int(np.abs(numbers).max(initial=0))
    return max(1, largest.bit_length()) + int(numbers.min(initial=0) < 0)


def bits_of(numbers: IntArray, width: int) -> BoolArray:
    """Return the lowest bits of whole numbers, the smallest first.

    Parameters
    ----------
    numbers : array of shape (n,)
    width : int

    Examples
    --------
    >>> bits_of(np.array([6, -1]), 3).astype(int).tolist()
    [[0, 1, 1], [1, 1, 1]]
    """
    return np.asarray((numbers[:, None] >> np.arange(width)) & 1, dtype=np.bool_)


def numbers_of(bits: BoolArray, *, signed: bool = False) -> IntArray:
    """Return the whole numbers that bits stand for, the smallest first.

    Parameters
    ----------
    bits : array of shape (n, width)
    signed : bool
        Whether the last bit is that of the sign. Default: False.

    Examples
    --------
    >>> numbers_of(bits_of(np.array([6, -2]), 4), signed=True).tolist()
    [6, -2]
    """
    width = bits.shape[1]
    found = bits.astype(np.int64) @ (1 << np.arange(width, dtype=np.int64))
    return np.asarray(found - (bits[:, -1].astype(np.int64) << width) if signed else found)


def solve_sums(seen: BoolArray, hidden: BoolArray) -> tuple[BoolArray, BoolArray] | None:
    """Return which seen bits add up to each hidden one, and which hidden bits all rows agree on; None with few rows.

    Parameters
    ----------
    seen : array of shape (m, f)
        Bits of known rows.
    hidden : array of shape (m, t)
        What is hidden of them.

    Returns
    -------
    tuple of arrays of shapes (f + 1, t) and (t,)
        The last weight is that of a constant.

    Examples
    --------
    >>> seen = np.random.default_rng(0).random((40, 3)) < 0.5
    >>> weights, solved = solve_sums(seen, (seen[:, :1] ^ seen[:, 2:]) == 0)
    >>> weights[:, 0].astype(int).tolist(), solved.tolist()
    ([1, 0, 1, 1], [True])
    """
    (m, f), t = seen.shape, hidden.shape[1]
    table = np.column_stack([seen, np.ones(m, dtype=np.bool_), hidden])
    at, pivots = 0, []
    for column in range(f + 1):
        if at + SPARE > m:
            return None
        below = np.flatnonzero(table[at:, column])
        if not len(below):
            continue
        first = at + int(below[0])
        table[[at, first]] = table[[first, at]]
        others = table[:, column].copy()
        others[at] = False
        table[others] ^= table[at]
        pivots.append(column)
        at += 1
    if at + SPARE > m:
        return None
    weights = np.zeros((f + 1, t), dtype=np.bool_)
    weights[pivots] = table[:at, f + 1 :]
    return weights, np.asarray(~table[at:, f + 1 :].any(axis=0))


def add_bits(seen: BoolArray, weights: BoolArray) -> BoolArray:
    """Return the hidden bits of rows, as sums of seen ones.

    Parameters
    ----------
    seen : array of shape (n, f)
    weights : array of shape (f + 1, t)
        Of `solve_sums`.
    """
    total = seen.astype(np.int32) @ weights[:-1].astype(np.int32) + weights[-1].astype(np.int32)
    return np.asarray(total & 1, dtype=np.bool_)
