"""A few values of each group are told twice and others not at all, so that no single person can be counted out.

An exchange alone keeps every value of a column. Whoever has a release of a table and one of the same table without one
person could count both, and would be left with that person's values. So in every group a few rows hold the value of
another row of the group instead of their own, for each column other rows: counts and sums are off by more than one
person makes.
"""

from __future__ import annotations

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.perturb.exchange.setting import Setting
from sfumato.perturb.exchange.swaps import Dice

_MOST, _SHARE = 6, 4  # rows of a group that hold another row's value: so many at most, one in so many, one at least
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
    few = np.where(sizes > 1, np.clip(sizes // _SHARE, 1, _MOST), 0)
    of = np.repeat(np.arange(len(sizes)), sizes)
    everyone = np.arange(len(groups))
    rank = everyone - begins[of]
    for unit, columns in enumerate(setting.units):
        order = np.lexsort((dice.words(everyone, _WHO + unit), of))  # by group, and by chance in each
        chosen = np.flatnonzero(rank < few[of])
        group = of[chosen]
        whose = few[group] + dice.below(order[chosen], _WHOSE + unit, sizes[group] - few[group])
        taken = order[begins[group] + whose]
        for column in columns:
            values[column, order[chosen]] = values[column, taken]
