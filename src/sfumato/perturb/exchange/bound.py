"""Columns that are exchanged as one: a town and its region, or values that exclude one another (husband, woman).

One column says the other, or many pairs of their values never meet: exchanged by themselves they would make impossible
rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.exceptions import ParameterError

_ROWS_EACH = 5  # rows that a value must have on average: otherwise it says everything by chance
_MOST_TOGETHER = 4
_MOST_OPEN = 0.3  # share of the rows whose value says nothing
_MOST_LEVELS = 60  # values of a column that are held against those of another
_EXPECTED, _TIMES_FEWER = 20, 500  # rows that a pair of values should have, and how many times fewer it has
_IMPOSSIBLE = 25  # one row in so many would become impossible if two columns moved by themselves


def bound_columns(sample: Floats, kinds: Sequence[str]) -> list[tuple[int, ...]]:
    """Return groups of columns that determine one another in a sample, or that often exclude one another.

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
    n = len(sample)
    few = [column for column in codes if sizes[column] <= _MOST_LEVELS]
    apart = [(_impossible(codes[a], codes[b], sizes[b]), a, b) for a, b in combinations(few, 2)]
    for rows, one, other in sorted(apart, key=lambda pair: (-pair[0], *pair[1:])):
        if rows * _IMPOSSIBLE > n * n:
            _join(groups, one, other)
    return [tuple(sorted(group)) for group in groups]


def units_of(
    together: Sequence[Sequence[str]] | None,
    names: Sequence[str],
    sample: Floats,
    kinds: Sequence[str],
    others: Sequence[tuple[int, ...]],
) -> list[tuple[int, ...]]:
    """Return the columns that move together, each in one unit.

    Parameters
    ----------
    together : sequence of sequences of str, optional
        Columns that move together; None looks for them in the sample.
    names : sequence of str
        All columns.
    sample : array of shape (n, d)
    kinds : sequence of str
    others : sequence of tuples
        Columns that are bound by something else.
    """
    if together is None:
        units = bound_columns(sample, kinds)
    else:
        units = []
        for some in together:
            unknown = [name for name in some if name not in names]
            if unknown:
                raise ParameterError(f"AtomExchange: together names a column {unknown[0]!r} that is not released")
            units.append(tuple(list(names).index(name) for name in some))
    taken = [column for unit in units for column in unit]
    if len(set(taken)) < len(taken):
        raise ParameterError("AtomExchange: a column stands twice in together", hint="join the two groups")
    return join_units([*units, *others, *((column,) for column in range(len(names)))])


def _impossible(one: Integers, other: Integers, size: int) -> int:
    """Return how many rows (times n) would hold two values that never meet, if two columns were independent.

    A husband is no woman: such a pair has many rows by chance, and next to none in the table. Whole numbers only.
    """
    n = len(one)
    table = np.bincount(one * size + other, minlength=(int(one.max()) + 1) * size).reshape(-1, size)
    by_chance = table.sum(axis=1)[:, None] * table.sum(axis=0)[None, :]
    never = (by_chance >= _EXPECTED * n) & (table * _TIMES_FEWER * n <= by_chance)
    return int(by_chance[never].sum())


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
