"""Counts and exact sums of values per interval: the summary behind 1-d clustering."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from sfumato.core.rows import Rows
from sfumato.core.summaries import Summary

__all__ = ["IntervalCounts", "positions"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_SUM_BITS = 30  # 2^30 times 2^33 rows fits in 64 bits, and times the 2^16 rows of a block is exact in a double
_SQUARE_BITS = 16


def positions(values: Floats, low: float, high: float, n_intervals: int) -> tuple[Integers, Floats]:
    """Return the interval of each value and its place inside, between 0 and 1.

    The largest value belongs to the last interval; values outside the range count as its ends.

    Parameters
    ----------
    values : array of shape (n,)
    low, high : float
    n_intervals : int

    Examples
    --------
    >>> interval, place = positions(np.array([0.0, 1.0, 4.0]), 0.0, 4.0, 2)
    >>> interval.tolist(), place.tolist()
    ([0, 0, 1], [0.0, 0.5, 1.0])
    """
    if high <= low:
        return np.zeros(len(values), dtype=np.int64), np.zeros(len(values))
    place = values - low
    place /= high - low
    place *= float(n_intervals)
    np.clip(place, 0.0, float(n_intervals), out=place)
    interval = np.minimum(place.astype(np.int64), n_intervals - 1)
    place -= interval
    return interval, place


class IntervalCounts(Summary):
    """For each column and interval: number of values, and sums of their places and squared places inside.

    Parameters
    ----------
    low, high : arrays of shape (d,)
    n_intervals : int
    """

    def __init__(self, low: Floats, high: Floats, n_intervals: int) -> None:
        self._low, self._high, self.n_intervals = low, high, n_intervals
        shape = (len(low), n_intervals)
        self.counts: Integers = np.zeros(shape, dtype=np.int64)
        self._sums: Integers = np.zeros(shape, dtype=np.int64)
        self._squares: Integers = np.zeros(shape, dtype=np.int64)

    def fresh(self) -> Self:
        return type(self)(self._low, self._high, self.n_intervals)

    def add(self, tile: Floats, rows: Rows) -> None:
        for column, values in enumerate(tile):
            interval, place = positions(values, self._low[column], self._high[column], self.n_intervals)
            fine = np.rint(place * 2.0**_SUM_BITS)
            coarse = np.rint(place * 2.0**_SQUARE_BITS)
            self.counts[column] += np.bincount(interval, minlength=self.n_intervals)
            self._sums[column] += self._exact_sums(interval, fine)
            self._squares[column] += self._exact_sums(interval, coarse * coarse)

    def _exact_sums(self, interval: Integers, whole: Floats) -> Integers:
        # doubles hold these sums of whole numbers exactly, so their order does not matter
        out: Integers = np.bincount(interval, weights=whole, minlength=self.n_intervals).astype(np.int64)
        return out

    def merge(self, other: Self) -> None:
        self.counts += other.counts
        self._sums += other._sums
        self._squares += other._squares

    def place_sums(self, column: int) -> Integers:
        """Return the sums of places, in units of 2^-30."""
        out: Integers = self._sums[column]
        return out

    def scatter(self, column: int, occupied: Integers) -> Floats:
        """Return the sums of squared deviations from the own means of intervals, in squared interval widths.

        Parameters
        ----------
        column : int
        occupied : array of int
            The intervals, each with a value in it.
        """
        count = self.counts[column][occupied]
        mean = self._sums[column][occupied] / 2.0**_SUM_BITS / count
        out: Floats = np.maximum(self._squares[column][occupied] / 2.0 ** (2 * _SQUARE_BITS) - count * mean * mean, 0.0)
        return out
