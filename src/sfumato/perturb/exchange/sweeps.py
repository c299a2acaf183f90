"""The guard of an exchange: rows outside their region exchange single values with rows of their group until none is."""

from __future__ import annotations

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.perturb.exchange.swaps import Dice, Swaps, without_conflicts

_FIRST = 1 << 16  # counter of the dice
_TRIES = 16  # exchanges that a row thinks of in one sweep
_SWEEPS, _IN_VAIN = 48, 6  # at most, and without a single exchange
_LAST, _ATTEMPTS = 1 << 48, 64
_ROWS = 1 << 10  # rows whose tries are looked at together


class Sweeps:
    """Bring rows back into their regions by exchanges inside their groups, which keep every mean.

    Parameters
    ----------
    start, size : arrays of shape (n,)
        Position of the first row of each row's group in `members`, and how many there are.
    members : array of shape (n,)
        All rows, group by group.
    """

    def __init__(self, swaps: Swaps, start: Integers, size: Integers, members: Integers, dice: Dice) -> None:
        self._swaps, self._start, self._size, self._members, self._dice = swaps, start, size, members, dice

    def run(self, rows: Integers, counter: int = 0) -> Integers:
        """Sweep over some groups; return the rows that are still outside.

        Parameters
        ----------
        rows : array of int
            All rows of these groups.
        counter : int
            Another one for every call.
        """
        swaps = self._swaps
        place = np.full(swaps.n, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        scores, outside = swaps.state(rows)
        in_vain = 0
        for sweep in range(_SWEEPS):
            bad = rows[outside > 0]
            if not len(bad) or in_vain == _IN_VAIN:
                break
            first = _FIRST * (1 + counter) + sweep * 2 * _TRIES
            gain, partner, unit = self._best(bad, scores, outside, place, first)
            found = np.flatnonzero(gain > 0)
            chosen = found[without_conflicts(place[bad[found]], place[partner[found]], gain[found], len(rows))]
            in_vain = 0 if len(chosen) else in_vain + 1
            if not len(chosen):
                continue
            swaps.exchange(unit[chosen], bad[chosen], partner[chosen])
            changed = np.concatenate([bad[chosen], partner[chosen]])
            scores[place[changed]], outside[place[changed]] = swaps.state(changed)
        return rows[outside > 0]

    def differ(self, rows: Integers, units: Integers, counter: int, *, at_any_price: bool = False) -> None:
        """Let rows that hold the very values they had at first exchange one of them, if both stay where they are.

        Parameters
        ----------
        rows : array of int
        units : array of int
            What they may exchange.
        counter : int
            Another one for every call; one that may cost a place takes two.
        at_any_price : bool
            Whether rows for which nothing else was found may leave their regions by it.
        """
        swaps, dice = self._swaps, self._dice
        for attempt in range(_ATTEMPTS * (2 if at_any_price else 1)):
            if not len(rows):
                break
            first = _LAST + 2 * (_ATTEMPTS * counter + attempt)
            other = self._members[self._start[rows] + dice.below(rows, first, self._size[rows])]
            which = units[dice.below(rows, first + 1, len(units))]
            step = swaps.pulls(which, other) - swaps.pulls(which, rows)
            scores, outside = swaps.state(rows)
            theirs, there = swaps.state(other)
            stay = (swaps.outside(scores + step, rows) <= outside) & (swaps.outside(theirs - step, other) <= there)
            found = np.flatnonzero((stay | (attempt >= _ATTEMPTS)) & swaps.differ(which, rows, other))
            chosen = found[without_conflicts(rows[found], other[found], np.zeros(len(found)), swaps.n)]
            swaps.exchange(which[chosen], rows[chosen], other[chosen])
            rows = np.delete(rows, chosen)

    def _best(
        self, bad: Integers, scores: Floats, outside: Floats, place: Integers, first: int
    ) -> tuple[Floats, Integers, Integers]:
        """Return the best of some random exchanges for each row: what it gains, with whom, and of which unit."""
        gain, partner, unit = np.zeros(len(bad)), bad.copy(), np.zeros(len(bad), dtype=np.int64)
        for start in range(0, len(bad), _ROWS):  # all tries of some rows at once
            part = slice(start, start + _ROWS)
            gain[part], partner[part], unit[part] = self._best_of(bad[part], scores, outside, place, first)
        return gain, partner, unit

    def _best_of(
        self, bad: Integers, scores: Floats, outside: Floats, place: Integers, first: int
    ) -> tuple[Floats, Integers, Integers]:
        swaps, dice = self._swaps, self._dice
        rows, counters = np.tile(bad, _TRIES), first + 2 * np.repeat(np.arange(_TRIES), len(bad))
        other = self._members[self._start[rows] + dice.below(rows, counters, self._size[rows])]
        which = dice.below(rows, counters + 1, len(swaps.units))
        step = swaps.pulls(which, other) - swaps.pulls(which, rows)
        here, there = place[rows], place[other]
        better = outside[here] + outside[there]
        better -= swaps.outside(scores[here] + step, rows) + swaps.outside(scores[there] - step, other)
        better[other == rows] = 0.0
        best = better.reshape(_TRIES, -1).argmax(axis=0) * len(bad) + np.arange(len(bad))  # the first of the best
        found = better[best] > 0
        return np.maximum(better[best], 0.0), np.where(found, other[best], bad), np.where(found, which[best], 0)
