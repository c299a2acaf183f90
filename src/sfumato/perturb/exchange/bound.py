"""Columns that are exchanged as one: a town and its region, or values that exclude one another (husband, woman).

One column says the other, or many pairs of their values never meet: exchanged by themselves they would make impossible
rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.core.relations import near_pairs
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
    groups = _Groups()
    for one, other in near_pairs(list(codes)):
        fine, coarse = (one, other) if sizes[one] >= sizes[other] else (other, one)
        if sizes[coarse] < 2 or sizes[fine] < 3 or sizes[fine] * _ROWS_EACH > len(sample):
            continue
        pairs = np.unique(codes[fine] * sizes[coarse] + codes[coarse])
        companions = np.bincount(pairs // sizes[coarse], minlength=sizes[fine])
        open_values = np.flatnonzero(companions > 1)
        # one value may stand beside any: the one that says "missing"
        if len(open_values) <= (sizes[fine] > sizes[coarse]) and not _mostly(codes[fine], open_values):
            groups.join(fine, coarse)
    n = len(sample)
    few = [column for column in codes if sizes[column] <= _MOST_LEVELS]
    apart = [(_impossible(codes[a], codes[b], sizes[b]), a, b) for a, b in near_pairs(few)]
    for rows, one, other in sorted(apart, key=lambda pair: (-pair[0], *pair[1:])):
        if rows * _IMPOSSIBLE > n * n:
            groups.join(one, other)
    return [tuple(sorted(group)) for group in groups.last_joined]


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
        places = {name: place for place, name in enumerate(names)}
        for some in together:
            unknown = [name for name in some if name not in places]
            if unknown:
                raise ParameterError(f"AtomExchange: together names a column {unknown[0]!r} that is not released")
            units.append(tuple(places[name] for name in some))
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
    of: dict[int, int] = {}  # the number of each column's group: of its first unit
    joined: dict[int, set[int]] = {}
    for number, unit in enumerate(units):
        near = sorted({of[column] for column in unit if column in of})
        first = near[0] if near else number
        group = set(unit).union(*(joined.pop(one) for one in near))
        joined[first] = group
        of.update(dict.fromkeys(group, first))
    return [tuple(sorted(joined[first])) for first in sorted(joined)]


def _mostly(codes: Integers, values: Integers) -> bool:
    """Tell whether most rows have one of some values."""
    return bool(np.isin(codes, values).mean() > _MOST_OPEN)


class _Groups:
    """Columns that go together, in the order in which the groups were joined last."""

    def __init__(self) -> None:
        self._of: dict[int, frozenset[int]] = {}
        self.last_joined: dict[frozenset[int], None] = {}

    def join(self, one: int, other: int) -> None:
        """Put two columns into one group, unless it would become too large to hide anybody in."""
        here = [self._of.get(column, frozenset({column})) for column in (one, other)]
        joined = here[0] | here[1]
        if len(joined) > _MOST_TOGETHER:
            return
        for group in here:
            self.last_joined.pop(group, None)
        self.last_joined[joined] = None
        self._of.update(dict.fromkeys(joined, joined))
