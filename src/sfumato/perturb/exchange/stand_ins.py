"""A few values of each group are told twice and others not at all, so that no single person can be counted out.

An exchange alone keeps every value of a column. Whoever has a release of a table and one of the same table without one
person could count both, and would be left with that person's values. So in every group a few rows hold the value of
another row of the group instead of their own, for each column other rows: counts and sums are off by more than one
person makes. The numbers of people who stand far out in their group are the first to be left out: wherever they were
moved, they would point at their owner.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.perturb.exchange.setting import Setting
from sfumato.perturb.exchange.swaps import Dice
from sfumato.perturb.guard.leverage import Leverage

_MOST, _SHARE = 6, 4  # rows of a group that hold another row's value: so many at most, one in so many, one at least
_FARTHEST = 3.5  # times the median distance from the middle of a group
_WHO, _WHOSE = 1 << 40, 1 << 41  # counters of the dice


def stand_in(setting: Setting, values: Floats, groups: Integers, dice: Dice) -> None:
    """Let a few rows of each group hold the values of others.

    Parameters
    ----------
    values : array of shape (d, n)
        Changed.
    groups : array of shape (n,)
        Rows come group by group.
    """
    begins = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    sizes = np.diff(np.r_[begins, len(groups)])
    usual = np.where(sizes > 1, np.clip(sizes // _SHARE, 1, _MOST), 0)
    of = np.repeat(np.arange(len(sizes)), sizes)
    everyone = np.arange(len(groups))
    rank = everyone - begins[of]
    far = _far_cells(setting, values, of, len(sizes))
    for unit, columns in enumerate(setting.units):
        out_there = far[list(columns)].any(axis=0)
        few = np.minimum(usual + np.bincount(of[out_there], minlength=len(sizes)), sizes // 2)
        # by group, who stands far out first, then by chance
        order = np.lexsort((dice.words(everyone, _WHO + unit), ~out_there, of))
        chosen = np.flatnonzero(rank < few[of])
        group = of[chosen]
        whose = few[group] + dice.below(order[chosen], _WHOSE + unit, sizes[group] - few[group])
        taken = order[begins[group] + whose]
        for column in columns:
            values[column, order[chosen]] = values[column, taken]


def _far_cells(setting: Setting, values: Floats, of: Integers, n_groups: int) -> Flags:
    """Return the numbers that make their rows stand far out in their group, shape (d, n); categories never do."""
    numbers = [column for column, axis in enumerate(setting.space.axes) if not axis.levels]
    far = np.zeros(values.shape, dtype=bool)
    if numbers:
        inside = setting.space.coordinates(values)[numbers]
        leverage = Leverage.of_sample(inside, of, n_groups, _FARTHEST)
        away = np.abs(inside - leverage.middles[of].T)
        far[numbers] = leverage.far(inside, of) & (away > leverage.farthest[of] / sqrt(len(numbers)))
    return far
