"""Counts and exact sums of values per interval: the summary behind 1-d clustering."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.core.fast import compiled_kernels
from sfumato.core.rows import Rows
from sfumato.core.summaries import Summary
from sfumato.core.tiles import spans, tile_rows

_SUM_BITS = 30  # 2^30 times 2^33 rows fits in 64 bits, and times the 2^18 rows of a block is exact in a double
_SQUARE_BITS = 14  # squares of 2^28, times 2^33 rows
_FEWEST_ROWS, _MOST_ROWS = 1 << 14, 1 << 18
_BLOCK_BYTES = 1 << 24  # below the size from which an allocation is returned to the system each time


def positions(values: Floats, low: float, high: float, n_intervals: int) -> tuple[Integers, Floats]:
    """Return the interval of each value and its place inside, between 0 and 1.

    The largest value belongs to the last interval.

    Parameters
    ----------
    values : array of shape (n,)
        All between `low` and `high`.

    Examples
    --------
    >>> interval, place = positions(np.array([0.0, 1.0, 4.0]), 0.0, 4.0, 2)
    >>> interval.tolist(), place.tolist()
    ([0, 0, 1], [0.0, 0.5, 1.0])
    """
    if high <= low:
        return np.zeros(len(values), dtype=np.int64), np.zeros(len(values))
    place = _on_scale(values, low, high, n_intervals)
    whole = np.minimum(place, _last_place(n_intervals))
    np.floor(whole, out=whole)
    place -= whole
    return whole.astype(np.int64), place


def intervals_of(values: Floats, low: float, high: float, n_intervals: int) -> Integers:
    """Return the interval of each value, without its place inside; values outside the range count as its ends."""
    if high <= low:
        return np.zeros(len(values), dtype=np.int64)
    place = _on_scale(values, low, high, n_intervals)
    np.maximum(place, 0.0, out=place)
    return np.minimum(place, _last_place(n_intervals), out=place).astype(np.int64)


def _on_scale(values: Floats, low: float, high: float, n_intervals: int) -> Floats:
    place = values - low
    place /= high - low
    place *= float(n_intervals)
    return place


def _last_place(n_intervals: int) -> float:
    # the largest number below the end of the scale: the end itself belongs to the last interval
    return float(np.nextafter(float(n_intervals), 0.0))


class _Scratch(NamedTuple):
    """Arrays of a block, made once for all its columns: the system zeroes what is allocated anew."""

    interval: Integers
    fine: Floats
    whole: Integers

    @classmethod
    def of(cls, n_rows: int, n_intervals: int) -> _Scratch:
        whole = np.empty(n_intervals, dtype=np.int64)
        return cls(np.empty(n_rows, dtype=np.int64), np.empty(n_rows), whole)


class IntervalCounts(Summary):
    """For each column and interval: number of values, and the sum of their places inside; for each column the squares.

    Parameters
    ----------
    low, high : arrays of shape (d,)
    """

    learnt: ClassVar[tuple[str, ...]] = ("counts", "_sums", "_squares")

    def __init__(self, low: Floats, high: Floats, n_intervals: int) -> None:
        self._low, self._high, self.n_intervals = low, high, n_intervals
        # side by side: one line of the cache for each value instead of two
        both = np.zeros((len(low), n_intervals, 2), dtype=np.int64)
        self.counts: Integers = both[:, :, 0]
        self._sums: Integers = both[:, :, 1]
        self._squares: Integers = np.zeros(len(low), dtype=np.int64)  # of places inside intervals, summed over all

    def fresh(self) -> Self:
        return type(self)(self._low, self._high, self.n_intervals)

    @property
    def block_rows(self) -> int:
        if compiled_kernels(0) is not None:
            return 2 * tile_rows(len(self._low))
        # numpy's counting takes a table of all intervals for each column of a block: large blocks are cheaper
        return int(min(_MOST_ROWS, max(_FEWEST_ROWS, _BLOCK_BYTES // (8 * len(self._low)))))

    def add(self, tile: Floats, rows: Rows) -> None:
        fast = compiled_kernels(tile.size)
        if fast is not None:
            fast.count_intervals(np.ascontiguousarray(tile), *self._compiled)
            return
        scratch = _Scratch.of(min(tile.shape[1], _MOST_ROWS), self.n_intervals)
        for column, values in enumerate(tile):
            for start, stop in spans(len(values), _MOST_ROWS):
                self._count(column, values[start:stop], scratch)

    def add_plain(self, table: Floats, rows: Rows) -> bool:
        fast = compiled_kernels(table.size)
        if fast is not None:
            fast.count_rows_in_intervals(table, *self._compiled)
        return fast is not None

    @property
    def _compiled(self) -> tuple[Any, ...]:
        """What compiled kernels take beside the values."""
        units, totals = (2.0**_SUM_BITS, 2.0**_SQUARE_BITS), (self.counts, self._sums, self._squares)
        return self._low, self._high, *units, *totals

    def _count(self, column: int, values: Floats, scratch: _Scratch) -> None:
        n = len(values)
        interval, fine = scratch.interval[:n], scratch.fine[:n]
        for start, stop in spans(n, tile_rows(1)):  # places in the cache, counting over the whole block
            here = slice(start, stop)
            interval[here], place = positions(values[here], self._low[column], self._high[column], self.n_intervals)
            np.multiply(place, 2.0**_SUM_BITS, out=fine[here])
            np.rint(fine[here], out=fine[here])
            place *= 2.0**_SQUARE_BITS
            np.rint(place, out=place)
            # doubles hold these sums of whole numbers exactly, so their order does not matter
            self._squares[column] += int(place @ place)
        self.counts[column] += np.bincount(interval, minlength=self.n_intervals)
        scratch.whole[...] = np.bincount(interval, weights=fine, minlength=self.n_intervals)
        self._sums[column] += scratch.whole

    def merge(self, other: Self) -> None:
        self.counts += other.counts
        self._sums += other._sums
        self._squares += other._squares

    def place_sums(self, column: int) -> Integers:
        """Return the sums of places, in units of 2^-30."""
        out: Integers = self._sums[column]
        return out

    def scatter(self, column: int, occupied: Integers) -> float:
        """Return the sum of squared deviations of all values from the means of their intervals, in squared widths.

        Parameters
        ----------
        occupied : array of int
            The intervals that hold a value.
        """
        count = self.counts[column][occupied]
        sums = self._sums[column][occupied] / 2.0**_SUM_BITS
        return max(0.0, float(self._squares[column]) / 4.0**_SQUARE_BITS - float(np.sum(sums * sums / count)))
