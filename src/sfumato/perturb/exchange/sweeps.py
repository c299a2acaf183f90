"""The guard of an exchange: rows outside their region exchange single values with rows of their group until none is."""

from __future__ import annotations

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.perturb.exchange.swaps import Dice, Swaps, without_conflicts

_FIRST = 1 << 16  # counter of the dice
_TRIES = 16  # exchanges that a row thinks of in one sweep
_SWEEPS = 48
_LAST, _ATTEMPTS = 1 << 48, 64


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
        for sweep in range(_SWEEPS):
            bad = rows[outside > 0]
            if not len(bad):
                break
            first = _FIRST * (1 + counter) + sweep * 2 * _TRIES
            gain, partner, unit = self._best(bad, scores, outside, place, first)
            found = np.flatnonzero(gain > 0)
            chosen = found[without_conflicts(place[bad[found]], place[partner[found]], gain[found], len(rows))]
            if not len(chosen):
                continue
            swaps.exchange(unit[chosen], bad[chosen], partner[chosen])
            changed = np.concatenate([bad[chosen], partner[chosen]])
            scores[place[changed]], outside[place[changed]] = swaps.state(changed)
        return rows[outside > 0]

    def differ(self, rows: Integers, units: Integers, counter: int) -> None:
        """Let rows that hold the very values they had at first exchange one of them, if both stay where they are.

        Parameters
        ----------
        rows : array of int
        units : array of int
            What they may exchange.
        counter : int
            Another one for every call.
        """
        swaps, dice = self._swaps, self._dice
        for row in rows:
            one = np.array([row])
            for attempt in range(_ATTEMPTS):
                first = _LAST + 2 * (_ATTEMPTS * counter + attempt)
                other = self._members[self._start[one] + dice.below(one, first, self._size[one])]
                which = units[dice.below(one, first + 1, len(units))]
                both = np.concatenate([one, other])
                scores, outside = swaps.state(both)
                step = swaps.pulls(which, other) - swaps.pulls(which, one)
                if not step.any() or (swaps.outside(scores + np.concatenate([step, -step]), both) > outside).any():
                    continue
                swaps.exchange(which, one, other)
                break

    def _best(
        self, bad: Integers, scores: Floats, outside: Floats, place: Integers, first: int
    ) -> tuple[Floats, Integers, Integers]:
        """Return the best of some random exchanges for each row: what it gains, with whom, and of which unit."""
        swaps, dice = self._swaps, self._dice
        gain, partner, unit = np.zeros(len(bad)), bad.copy(), np.zeros(len(bad), dtype=np.int64)
        for one in range(_TRIES):
            other = self._members[self._start[bad] + dice.below(bad, first + 2 * one, self._size[bad])]
            which = dice.below(bad, first + 2 * one + 1, len(swaps.units))
            step = swaps.pulls(which, other) - swaps.pulls(which, bad)
            mine, theirs = scores[place[bad]] + step, scores[place[other]] - step
            better = outside[place[bad]] + outside[place[other]]
            better -= swaps.outside(mine, bad) + swaps.outside(theirs, other)
            take = (better > gain) & (other != bad)
            gain[take], partner[take], unit[take] = better[take], other[take], which[take]
        return gain, partner, unit
