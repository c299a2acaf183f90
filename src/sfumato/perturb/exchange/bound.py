"""Columns of which one says the other: a town and its region, a degree and its number. They are exchanged as one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from sfumato._arrays import Floats, Integers

_ROWS_EACH = 5  # rows that a value must have on average: otherwise it says everything by chance
_MOST_TOGETHER = 4
_MOST_OPEN = 0.3  # share of the rows whose value says nothing


def bound_columns(sample: Floats, kinds: Sequence[str]) -> list[tuple[int, ...]]:
    """Return groups of columns that determine one another in a sample.

    Parameters
    ----------
    sample : array of shape (n, d)
    kinds : sequence of str
        Continuous columns are left out.

    Examples
    --------
    >>> town = np.tile([0.0, 1.0, 2.0, 3.0], 30)
    >>> bound_columns(np.column_stack([town, town // 2, np.arange(120) % 7]), ["category"] * 3)
    [(0, 1)]
    """
    codes: dict[int, Integers] = {}
    sizes: dict[int, int] = {}
    for column, kind in enumerate(kinds):
        if kind != "continuous":
            different, codes[column] = np.unique(sample[:, column], return_inverse=True)
            sizes[column] = len(different)
    groups: list[set[int]] = []
    for one, other in combinations(codes, 2):
        fine, coarse = (one, other) if sizes[one] >= sizes[other] else (other, one)
        if sizes[coarse] < 2 or sizes[fine] < 3 or sizes[fine] * _ROWS_EACH > len(sample):
            continue
        pairs = np.unique(codes[fine] * sizes[coarse] + codes[coarse])
        companions = np.bincount(pairs // sizes[coarse], minlength=sizes[fine])
        open_values = np.flatnonzero(companions > 1)
        # one value may stand beside any: the one that says "missing"
        if len(open_values) <= (sizes[fine] > sizes[coarse]) and not _mostly(codes[fine], open_values):
            _join(groups, fine, coarse)
    return [tuple(sorted(group)) for group in groups]


def join_units(units: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return units without common columns: those that share one are joined.

    Examples
    --------
    >>> join_units([(0, 1), (1, 3), (2,), (3,)])
    [(0, 1, 3), (2,)]
    """
    joined: list[set[int]] = []
    for unit in units:
        near = [group for group in joined if group & set(unit)]
        first = joined.index(near[0]) if near else len(joined)
        joined = [group for group in joined if group not in near]
        joined.insert(first, set(unit).union(*near))
    return [tuple(sorted(group)) for group in joined]


def _mostly(codes: Integers, values: Integers) -> bool:
    """Tell whether most rows have one of some values."""
    return bool(np.isin(codes, values).mean() > _MOST_OPEN)


def _join(groups: list[set[int]], one: int, other: int) -> None:
    """Put two columns into one group, unless it would become too large to hide anybody in."""
    here = [group for group in groups if one in group or other in group]
    joined = {one, other}.union(*here)
    if len(joined) <= _MOST_TOGETHER:
        groups[:] = [group for group in groups if group not in here]
        groups.append(joined)
