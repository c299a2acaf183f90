"""Rows of small atoms have too little company in them: they exchange values with rows of the atoms that are most alike.

Every exchange leaves both rows inside their regions.
"""

from __future__ import annotations

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.perturb.exchange.partners import Partners
from sfumato.perturb.exchange.swaps import Dice, Swaps, without_conflicts

_FIRST = 1 << 40  # counter of the dice
_SECOND, _THIRD = 1 << 44, 1 << 45
_ROUNDS, _REPAIRS, _TRIES, _ATTEMPTS = 40, 40, 8, 64
_ENOUGH = 0.7  # share of its units in which a row should hold other values than its own


class Company:
    """Partners for the rows of small atoms.

    Parameters
    ----------
    partners : Partners
        Where each small atom looks.
    of : array of shape (n,)
        The atom of each row.
    small : array of shape (n,)
        Which rows are of small atoms.
    """

    def __init__(self, swaps: Swaps, partners: Partners, of: Integers, small: Flags, dice: Dice) -> None:
        self._swaps, self._of, self._dice, self._partners = swaps, of, dice, partners
        self._rows = np.flatnonzero(small)
        order = np.argsort(of, kind="stable")
        starts = np.searchsorted(of[order], np.arange(len(partners.chance) + 1))
        self._pool: dict[int, Integers] = {}
        for atom, near in partners.near.items():
            self._pool[atom] = np.concatenate([order[starts[a] : starts[a + 1]] for a in near] or [order[:0]])

    @property
    def rows(self) -> Integers:
        """The rows of small atoms."""
        return self._rows

    def run(self) -> Integers:
        """Exchange; return the rows of small atoms that hold too many of their own atom's values still."""
        swaps, rows = self._swaps, self._rows
        left = rows
        for turn in range(_ROUNDS):
            left = rows[self._same(rows) > 1.0 - _ENOUGH]
            if not len(left):
                break
            cost, partner, unit = self._cheapest(left, _FIRST + 2 * _TRIES * turn)
            found = np.flatnonzero(np.isfinite(cost))
            chosen = found[without_conflicts(left[found], partner[found], -cost[found], swaps.n)]
            swaps.exchange(unit[chosen], left[chosen], partner[chosen])
        return left

    def repair(self, swaps: Swaps, rows: Integers) -> Integers:
        """Bring rows of small atoms back into their regions by exchanges with the same partners.

        Parameters
        ----------
        swaps : Swaps
            With all walls that count now.
        rows : array of int
            Rows that are outside.

        Returns
        -------
        array of int
            Those that still are.
        """
        rows = np.intersect1d(rows, self._rows)
        for turn in range(_REPAIRS):
            scores, outside = swaps.state(rows)
            rows, scores, outside = rows[outside > 0], scores[outside > 0], outside[outside > 0]
            if not len(rows):
                break
            gain, partner, unit = np.zeros(len(rows)), rows.copy(), np.zeros(len(rows), dtype=np.int64)
            for one in range(_TRIES):
                other, which = self._pick(rows, _SECOND + 2 * (_TRIES * turn + one))
                step = swaps.pulls(which, other) - swaps.pulls(which, rows)
                theirs, there = swaps.state(other)
                after = swaps.outside(scores + step, rows) + swaps.outside(theirs - step, other)
                better = outside + there - after
                take = better > gain
                gain[take], partner[take], unit[take] = better[take], other[take], which[take]
            found = np.flatnonzero(gain > 0)
            chosen = found[without_conflicts(rows[found], partner[found], gain[found], swaps.n)]
            swaps.exchange(unit[chosen], rows[chosen], partner[chosen])
        return rows

    def differ(self, swaps: Swaps, rows: Integers, units: Integers, *, counter: int, at_any_price: bool) -> None:
        """Let rows that hold the very values they had at first exchange one of them.

        Parameters
        ----------
        swaps : Swaps
            With all walls that count now.
        rows : array of int
        units : array of int
            What they may exchange.
        counter : int
            Another one for every call.
        at_any_price : bool
            Whether they may leave their region by it.
        """
        for row in np.intersect1d(rows, self._rows):
            one = np.array([row])
            least, best = np.inf if at_any_price else 1.0, None
            for attempt in range(_ATTEMPTS):
                first = _THIRD + 2 * (_ATTEMPTS * counter + attempt)
                other = self._pick(one, first)[0]
                which = units[self._dice.below(one, first + 1, len(units))]
                step = swaps.pulls(which, other) - swaps.pulls(which, one)
                both = np.concatenate([one, other])
                scores, outside = swaps.state(both)
                added = float((swaps.outside(scores + np.concatenate([step, -step]), both) - outside).sum())
                if step.any() and added < least:
                    least, best = added, (which, other)
            if best is not None:
                swaps.exchange(best[0], one, best[1])

    def _pick(self, rows: Integers, counter: int) -> tuple[Integers, Integers]:
        """Return a random partner and a random unit for each of some rows."""
        sizes = np.array([len(self._pool[int(atom)]) for atom in self._of[rows]])
        at = self._dice.below(rows, counter, sizes)
        other = np.array([self._pool[int(atom)][place] for atom, place in zip(self._of[rows], at, strict=True)])
        return other, self._dice.below(rows, counter + 1, len(self._swaps.units))

    def _same(self, rows: Integers) -> Floats:
        """Return the share of the units of some rows that hold the values they had at first."""
        same: Floats = np.mean([self._holds_own(np.full(len(rows), u), rows) for u in range(len(self._swaps.units))], 0)
        return same

    def _holds_own(self, units: Integers, rows: Integers) -> Flags:
        """Return which rows hold, in one unit each, the very values they had at first, their own or equal ones."""
        swaps = self._swaps
        same = np.ones(len(rows), dtype=bool)
        for unit, columns in enumerate(swaps.units):
            here = np.flatnonzero(units == unit)
            for column in columns:
                values = swaps.coordinates[column]
                same[here] &= values[swaps.source[unit, rows[here]]] == values[rows[here]]
        return same

    def _cheapest(self, rows: Integers, first: int) -> tuple[Floats, Integers, Integers]:
        """Return an exchange for each row that leaves both inside: its cost, with whom, and of which unit."""
        swaps = self._swaps
        cost = np.full(len(rows), np.inf)
        partner, unit = rows.copy(), np.zeros(len(rows), dtype=np.int64)
        scores, outside = swaps.state(rows)
        for one in range(_TRIES):
            other, which = self._pick(rows, first + 2 * one)
            own = self._holds_own(which, rows)  # what has changed already may stay
            step = swaps.pulls(which, other) - swaps.pulls(which, rows)
            theirs, there = swaps.state(other)
            inside = (swaps.outside(scores + step, rows) <= outside) & (swaps.outside(theirs - step, other) <= there)
            price = np.array(
                [self._partners.cost[int(a)][b] for a, b in zip(self._of[rows], self._of[other], strict=True)]
            )
            price = price * np.abs(step).max(axis=1)
            take = inside & own & (price < cost)
            cost[take], partner[take], unit[take] = price[take], other[take], which[take]
        return cost, partner, unit
