"""Continuous values that are nobody's: neighbours in a group give one another a part of the difference.

Two neighbours in the order of their values move towards each other by the same random share of their distance: the sum
of the group stays exactly, nothing leaves its range, and the largest value is no longer the one of its owner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.secret import Hidden
from sfumato.core.variates import uniform
from sfumato.perturb.exchange.bonds import Bonds
from sfumato.perturb.exchange.setting import Setting
from sfumato.perturb.exchange.swaps import Dice

_FIRST = 16  # counter of the dice
_LEAST, _MOST = 0.15, 0.5  # share of the distance


@dataclass(frozen=True, repr=False)
class _Broken(Hidden):
    """Lets sums follow their terms, and tells which rows break a relation then."""

    bonds: Bonds
    tile: Floats

    def __call__(self, rows: Integers) -> Flags:
        self.bonds.follow(self.tile, rows)
        return self.bonds.broken(self.tile, rows)


def smear_columns(setting: Setting, tile: Floats, group: Integers, dice: Dice) -> None:
    """Smear the continuous columns of some rows, as far as their relations allow; sums follow their terms.

    Parameters
    ----------
    tile : array of shape (d, n)
        Changed.
    group : array of shape (n,)
        The group of each row.
    """
    follows = setting.bonds.derived()
    for column, wanted in enumerate(setting.smeared):
        if wanted and column not in follows:
            bonds = setting.bonds.touching(column)
            broken = None if bonds is None else _Broken(bonds, tile)
            smear(tile[column], group, dice, column, setting.held[column], setting.decimals[column], broken)


def smear(
    values: Floats,
    group: Integers,
    dice: Dice,
    column: int,
    held: Sequence[float],
    decimals: int | None,
    broken: Callable[[Integers], Flags] | None = None,
) -> None:
    """Change the values of a column, group by group.

    Parameters
    ----------
    values : array of shape (n,)
        Changed.
    group : array of shape (n,)
        The group of each row.
    column : int
        Its number, for a stream of its own.
    held : sequence of float
        Values that many rows have, and that mean something: they stay.
    decimals : int, optional
        Decimals of the column; None for no limit.
    broken : callable, optional
        Tells which of some rows break a relation between columns now: they and their partners stay as they were.
    """
    free = np.flatnonzero(~np.isin(values, np.asarray(held)))
    scale = 1.0 if decimals is None else 10.0**decimals
    for turn in (0, 1):
        order = free[np.lexsort((free, values[free], group[free]))]
        mine = group[order]
        first = np.r_[True, mine[1:] != mine[:-1]][: len(order)]
        starts = np.flatnonzero(first)
        at = np.arange(len(order)) - starts[np.cumsum(first) - 1]
        left = np.flatnonzero((at % 2 == turn)[:-1] & ~first[1:])
        one, other = order[left], order[left + 1]
        share = _LEAST + (_MOST - _LEAST) * uniform(dice.words(one, _FIRST + 2 * column + turn))
        step = share * (values[other] - values[one])
        if decimals is not None:  # away from nothing: a step of at least one unit where there is room for it
            step = np.minimum(np.ceil(step * scale), np.rint((values[other] - values[one]) * scale)) / scale
        before = values[one], values[other]
        values[one], values[other] = values[one] + step, values[other] - step
        if decimals is not None:
            values[one], values[other] = np.rint(values[one] * scale) / scale, np.rint(values[other] * scale) / scale
        if broken is not None:
            back = np.flatnonzero(broken(one) | broken(other))
            values[one[back]], values[other[back]] = before[0][back], before[1][back]
            broken(np.concatenate([one[back], other[back]]))  # sums follow their terms back
