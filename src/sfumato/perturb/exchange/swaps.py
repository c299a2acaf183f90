"""A table under exchange: which row's value stands in which row, and how far each row is outside its region."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.rows import WordStream
from sfumato.perturb.exchange.space import MixedSpace, Pull

_MOST_KNOWN = 1 << 23  # pulls that are computed once and held: of a small table all of them


class Dice:
    """Random words for any rows, by row label and a counter.

    Parameters
    ----------
    subkey : bytes
    labels : array of shape (n,), uint64
        The name of each row.
    """

    def __init__(self, subkey: bytes, labels: NDArray[np.uint64]) -> None:
        self._stream, self._labels = WordStream(subkey), labels

    def words(self, rows: Integers, counter: Integers | int) -> NDArray[np.uint64]:
        """Return one word for each of some rows."""
        asked = np.empty((len(rows), 2), dtype="<u8")
        asked[:, 0], asked[:, 1] = self._labels[rows], counter
        return self._stream.of_digests(asked.view(np.uint8))

    def below(self, rows: Integers, counter: Integers | int, limits: Integers | int) -> Integers:
        """Return a number from 0 to below a limit for each of some rows."""
        words = self.words(rows, counter) >> np.uint64(33)
        return (words.astype(np.int64) * limits) >> np.int64(31)


class Swaps:
    """The values of a table in exchange.

    Parameters
    ----------
    coordinates : array of shape (columns, n)
        See `MixedSpace.coordinates`.
    units : sequence of sequences of int
        Columns that move together.
    own : array of shape (n, clusterings)
        The row's own centre of every clustering.
    which : array of shape (c,)
        The clustering of every centre.
    pulls, halves : arrays of shape (c, dimensions) and (c,)
        What draws rows towards centres; see `Named.pulls`.

    Attributes
    ----------
    source : array of shape (units, n)
        The row whose value each row holds.
    """

    def __init__(
        self,
        space: MixedSpace,
        coordinates: Floats,
        units: Sequence[Sequence[int]],
        own: Integers,
        which: Integers,
        pulls: Floats,
        halves: Floats,
    ) -> None:
        self.coordinates, self.units, self._pull = coordinates, units, Pull(space, pulls, halves)
        self._own, self._which = own, which
        self.n = coordinates.shape[1]
        self.source = np.tile(np.arange(self.n), (len(units), 1))
        everyone = np.arange(self.n)
        small = self.n * len(units) * len(halves) <= _MOST_KNOWN
        self._known = np.stack([self._computed(unit, everyone) for unit in range(len(units))]) if small else None

    def pull(self, unit: int, holders: Integers) -> Floats:
        """Return the pull of the values of one unit that some rows hold, shape (rows, centres)."""
        values = self.source[unit, holders]
        return self._computed(unit, values) if self._known is None else self._known[unit, values]

    def _computed(self, unit: int, values: Integers) -> Floats:
        """Return the pull of the values that some rows had at first, in one unit."""
        first, *more = (self._pull.of(column, self.coordinates[column, values]) for column in self.units[unit])
        for one in more:
            first = first + one
        return first

    def pulls(self, units: Integers, holders: Integers) -> Floats:
        """Return the pull of one value of each of some rows: of its own unit each."""
        if self._known is not None:
            known: Floats = self._known[units, self.source[units, holders]]
            return known
        out = np.empty((len(holders), len(self._pull.half)))
        for unit in range(len(self.units)):
            here = np.flatnonzero(units == unit)
            if len(here):
                out[here] = self.pull(unit, holders[here])
        return out

    def scores(self, rows: Integers) -> Floats:
        """Return how strongly each centre draws some rows, shape (rows, centres)."""
        if self._known is not None:
            every = np.arange(len(self.units))[:, None]
            drawn: Floats = self._known[every, self.source[:, rows]].sum(axis=0) - self._pull.half  # exact in any order
            return drawn
        total = np.tile(-self._pull.half, (len(rows), 1))
        for unit in range(len(self.units)):
            total += self.pull(unit, rows)
        return total

    def outside(self, scores: Floats, rows: Integers) -> Floats:
        """Return how far rows with such scores are outside their regions, in steps squared; 0 inside."""
        own = self._own[rows]
        gaps = np.take_along_axis(scores, own, axis=1)[:, self._which] - scores
        np.put_along_axis(gaps, own, 1.0, axis=1)  # no wall against itself
        missing = 1.0 - gaps
        np.maximum(missing, 0.0, out=missing)
        total: Floats = missing.sum(axis=1)  # whole and half numbers far below 2^53: exact in any order
        return total

    def state(self, rows: Integers) -> tuple[Floats, Floats]:
        """Return the scores of some rows, and how far they are outside."""
        scores = self.scores(rows)
        return scores, self.outside(scores, rows)

    def differ(self, units: Integers, one: Integers, other: Integers) -> Flags:
        """Return which pairs of rows hold different values, of one unit each."""
        out = np.zeros(len(one), dtype=bool)
        for unit, columns in enumerate(self.units):
            here = np.flatnonzero(units == unit)
            mine, theirs = self.source[unit, one[here]], self.source[unit, other[here]]
            for column in columns:
                out[here] |= self.coordinates[column, mine] != self.coordinates[column, theirs]
        return out

    def exchange(self, units: Integers, one: Integers, other: Integers) -> None:
        """Exchange one value each of pairs of rows; no row stands in two pairs."""
        held = self.source[units, one]
        self.source[units, one] = self.source[units, other]
        self.source[units, other] = held


def without_conflicts(one: Integers, other: Integers, gains: Floats, n: int) -> Integers:
    """Return which of some pairs of rows can be exchanged at once: the best of those that share a row.

    Parameters
    ----------
    one, other : arrays of shape (p,)
    gains : array of shape (p,)
        What is better comes first; among equals the earlier pair.
    n : int
        Rows of the table.

    Examples
    --------
    >>> without_conflicts(np.array([0, 1, 5]), np.array([2, 2, 6]), np.array([1.0, 3.0, 1.0]), 7).tolist()
    [1, 2]
    """
    rank = np.empty(len(one), dtype=np.int64)
    rank[np.lexsort((np.arange(len(one)), -gains))] = np.arange(len(one))
    best = np.full(n, len(one), dtype=np.int64)
    np.minimum.at(best, one, rank)
    np.minimum.at(best, other, rank)
    return np.flatnonzero((best[one] == rank) & (best[other] == rank))
