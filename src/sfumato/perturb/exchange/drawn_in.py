"""Measurements that stand far out in their group are left out, and those of somebody nearer are told twice.

An exchange hands out values as they are, so a far one tells that its owner is in the table, wherever it goes: whoever
knows the method and somebody's record makes releases with and without this person, and sees. A value that several
people of a group have is no sign of anybody, however far it stands: spikes and marks for "unknown" stay.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.perturb.exchange.setting import Setting
from sfumato.perturb.exchange.swaps import Dice
from sfumato.perturb.guard.leverage import Leverage, medians

_FARTHEST = 1.5  # times the median distance from the middle of a group
_CROWD = 64  # rows of a group whose mean would be missed: there values come from the same side of its middle
_WHOSE = 1 << 42  # counter of the dice


def draw_in(setting: Setting, values: Floats, groups: Integers, dice: Dice) -> None:
    """Let rows that stand far out in their group hold the measurements of others.

    Parameters
    ----------
    values : array of shape (d, n)
        Changed.
    groups : array of shape (n,)
        Rows come group by group.
    """
    columns = [column for column, wanted in enumerate(setting.smeared) if wanted]
    if not columns:
        return
    of = np.cumsum(np.r_[False, groups[1:] != groups[:-1]])
    shared, far, above = (np.zeros(values.shape, dtype=bool) for _ in range(3))
    for column in columns:
        shared[column] = _shared(values[column], of, setting.min_atom) | np.isin(values[column], setting.held[column])
    far[columns], above[columns] = _far(setting.space.coordinates(values)[columns], shared[columns], of)
    above &= np.bincount(of)[of] >= _CROWD
    for unit, members in enumerate(setting.units):
        out_there: Flags = np.logical_or.reduce(far[list(members)])
        if out_there.any():
            company = of
            for column in members:  # a value takes the place of one of its kind
                kinds = 4 * company + 2 * shared[column] + above[column]
                company = np.unique(kinds, return_inverse=True)[1].ravel()
            rows, taken = _whose(company, out_there, dice, _WHOSE + unit)
            for column in members:
                values[column, rows] = values[column, taken]


def _whose(company: Integers, far: Flags, dice: Dice, counter: int) -> tuple[Integers, Integers]:
    """Return far rows, and for each a row of its company that is not far; who has none there is left out.

    Parameters
    ----------
    company : array of shape (n,)
        Numbered from 0.
    """
    near = np.flatnonzero(~far)
    near = near[np.argsort(company[near], kind="stable")]
    counts = np.bincount(company[near], minlength=int(company.max()) + 1)
    rows = np.flatnonzero(far & (counts[company] > 0))
    mine = company[rows]
    return rows, near[(np.cumsum(counts) - counts)[mine] + dice.below(rows, counter, counts[mine])]


def _shared(values: Floats, of: Integers, least: int) -> Flags:
    """Return which values so many rows of their group have, or more."""
    order = np.lexsort((values, of))
    sorted_values, group = values[order], of[order]
    run = np.cumsum(np.r_[False, (sorted_values[1:] != sorted_values[:-1]) | (group[1:] != group[:-1])])
    shared = np.empty(len(values), dtype=bool)
    shared[order] = np.bincount(run)[run] >= least
    return shared


def _far(inside: Floats, shared: Flags, of: Integers) -> tuple[Flags, Flags]:
    """Return the values that make their rows stand far out, and those above the middle of their group; shape (c, n).

    Parameters
    ----------
    inside : array of shape (c, n)
    shared : array of shape (c, n)
        Values that count as the middle of the others.
    """
    n_groups = int(of[-1]) + 1
    inside = inside.copy()
    for column, common in zip(inside, shared, strict=True):
        if not common.all():
            column[common] = medians(column[~common], of[~common], n_groups)[of[common]]
    leverage = Leverage.of_sample(inside, of, n_groups, _FARTHEST)
    away = inside - leverage.middles[of].T
    far = leverage.far(inside, of) & (np.abs(away) > leverage.farthest[of] / sqrt(len(inside))) & ~shared
    return far, away > 0
