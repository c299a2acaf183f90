"""How many people two tables share, from their keyed hashes.

Rows of few values are equal by chance. How often, the tables say themselves: two copies of a value that belong to
different people stand in one table as often as in two, as far as the sizes of the tables go. So copies in different
tables are counted against copies within one, given how often a value occurs in both together. People who are in both
tables make copies that always stand in different ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.core.people import Group, Kept, People

_SURE, _SURE_ALONE = 4.0, 5.0  # standard deviations beyond chance; of a group that no other one confirms
_FEWEST, _FEWEST_ALL, _FEWEST_FEW = 8, 3, 12  # rows that agree: some, all of them, in some columns only
_TELLING = 0.1  # share of rows that are alone with their values in a table that tells how many are shared
_MORE = 0.1  # share of rows by which samples must exceed exact counts to be believed
_ACCIDENTS = 0.1  # rows that chance may add to a count that is called exact


@dataclass(frozen=True)
class Overlap:
    """What two tables have in common.

    Attributes
    ----------
    people : int
        People of the new table who are in the earlier one.
    exact : bool
        False if it was estimated.
    new, earlier : int
        People of each table.
    changed : int
        Shared people with another value in some column that both tables have.
    """

    people: int
    exact: bool
    new: int
    earlier: int
    changed: int = 0

    @property
    def added(self) -> int:
        """People of the new table who are not in the earlier one."""
        return self.new - self.people

    @property
    def dropped(self) -> int:
        """People of the earlier table who are not in the new one."""
        return self.earlier - self.people


@dataclass(frozen=True)
class _Agreement:
    """How far the hashes of one group agree."""

    group: Group
    rows: int
    people: float
    deviations: float
    exact: bool
    by_chance: bool  # whether equal rows of different people occur at all
    telling: bool  # whether it would show shared people, if there were any

    @property
    def sure(self) -> bool:
        if self.group.kind == "whole" and not self.by_chance:
            return self.rows >= _FEWEST
        enough = _SURE_ALONE if self.group.kind == "whole" else _SURE
        return min(self.rows, self.people) >= _FEWEST_FEW and self.deviations >= enough


def find_overlap(new: People, earlier: People) -> Overlap | None:
    """Return what two tables have in common; None if that is no more than chance gives.

    Parameters
    ----------
    new, earlier : People
        With hashes under one key.
    """
    persons = _persons(new, earlier)
    shared = [
        _agreement(group, kept, earlier.groups[group], new.n_rows, earlier.n_rows)
        for group, kept in new.groups.items()
        if group.kind != "person" and group in earlier.groups
    ]
    rows = _rows(shared, new.n_rows, earlier.n_rows)
    if persons is None:
        return rows
    whole = max((one.people for one in shared if one.group.kind == "whole" and one.exact), default=0.0)
    one_row_each = persons.new == new.n_rows and persons.earlier == earlier.n_rows
    changed = persons.people - round(whole) if persons.exact and one_row_each and whole else 0
    return Overlap(persons.people, persons.exact, persons.new, persons.earlier, max(changed, 0))


def _persons(new: People, earlier: People) -> Overlap | None:
    """Compare record ids; None if one of the tables has none, or if they share nobody."""
    for group, kept in new.groups.items():
        if group.kind == "person" and group in earlier.groups:
            mine, theirs, level, _ = _alike(kept, earlier.groups[group])
            both = len(np.intersect1d(mine, theirs)) << level
            if both:
                return Overlap(both, level == 0, len(mine) << level, len(theirs) << level)
    return None


def _rows(shared: list[_Agreement], n_new: int, n_earlier: int) -> Overlap | None:
    """Compare rows over all groups that both tables have."""
    whole = [one for one in shared if one.group.kind == "whole"]
    partly = [one for one in shared if one.group.kind != "whole" and one.sure]
    everyone = [
        one
        for one in whole
        if one.rows >= _FEWEST_ALL and one.exact and one.rows == min(n_new, n_earlier) and not one.by_chance
    ]
    sure = [one for one in whole if one.sure] + everyone
    if not sure and not _confirmed(partly, shared):
        return None
    exactly = [one for one in [*sure, *partly] if one.exact]
    people = max((one.people for one in exactly), default=0.0)
    most = min(n_new, n_earlier)
    about = min(float(np.median([one.people for one in partly or sure])), most)
    if not exactly or about > people + _MORE * most:
        return Overlap(min(round(about), most), exact=False, new=n_new, earlier=n_earlier)
    same = max((one.people for one in sure if one.exact), default=0.0)
    changed = round(people - same) if whole else 0
    return Overlap(min(round(people), most), exact=True, new=n_new, earlier=n_earlier, changed=max(changed, 0))


def _confirmed(sure: Sequence[_Agreement], shared: Sequence[_Agreement]) -> bool:
    """Tell whether two groups without a common column agree, or one that no other group speaks against.

    Numbers of rows or of days may be the same in any two tables.
    """
    sets = [set(one.group.columns) for one in sure]
    if any(not a & b for i, a in enumerate(sets) for b in sets[:i]):
        return True
    silent = [set(one.group.columns) for one in shared if one.telling and not one.sure]
    alone = [set(one.group.columns) for one in sure if one.deviations >= _SURE_ALONE]
    return any(all(columns & other for other in silent) for columns in alone)


def _agreement(group: Group, new: Kept, earlier: Kept, n_new: int, n_earlier: int) -> _Agreement:
    mine, theirs, level, _ = _alike(new, earlier)
    a, b = _counts(mine, theirs)
    t = a + b
    share = len(mine) / max(len(mine) + len(theirs), 1)
    both = share * (1.0 - share)
    agree = float(np.minimum(a, b).sum())
    twice = t >= 2
    deviations = _deviations(a[twice], t[twice], both)
    alone = float(np.count_nonzero(a == 1))
    telling = len(mine) >= _FEWEST_FEW and alone >= _TELLING * len(mine)
    twins = float(len(mine)) - alone
    by_chance = bool(twins) or bool((b > 1).any())
    # a row that is not shared finds an equal one as often as rows of one table do
    accidents = (len(mine) - agree) * twins / max(len(mine), 1) * n_earlier / n_new
    exact = level == 0 and (not by_chance or (alone >= len(mine) / 2 and accidents < _ACCIDENTS))
    people = agree if exact else n_new * agree / max(len(mine), 1)
    if by_chance and not exact:
        split = float(np.count_nonzero((t == 2) & (a != 1))) * 2 * both / (1 - 2 * both)
        matched = float(np.count_nonzero((a == 1) & (b == 1)))
        people = n_new * max(matched - split, 0.0) / alone if telling else _from_pairs(a, b) * 2**level
    return _Agreement(group, int(agree), people, deviations, exact, by_chance, telling)


def _deviations(a: Floats, t: Floats, both: float) -> float:
    """Return by how many standard deviations copies in different tables exceed those that chance gives.

    Parameters
    ----------
    a, t : arrays
        How often values occur in the new table, and in both together (twice at least).
    both : float
        Product of the shares that the two tables have in all rows.
    """
    if not len(t):
        return 0.0
    pairs = t * (t - 1)
    excess = a * (t - a) - pairs * both
    fourth, third = pairs * (t - 2) * (t - 3), pairs * (t - 2)
    variance = fourth * both**2 + third * both + pairs * both - (pairs * both) ** 2
    weight = 1.0 / (t - 1)  # values of many people say little, each for itself
    spread = float(np.sqrt((weight**2 * variance).sum()))
    return float((weight * excess).sum()) / spread if spread > 0 else 0.0


def _from_pairs(a: Floats, b: Floats) -> float:
    """Estimate the shared people of tables in which hardly anyone is alone: pairs across less those by chance."""
    n, m = a.sum(), b.sum()
    within = (a * (a - 1)).sum() + (b * (b - 1)).sum()
    rate = within / max(n * (n - 1) + m * (m - 1), 1.0)
    return float(max((a * b).sum() - n * m * rate, 0.0) / max(1.0 - rate, 1e-9))


def _alike(new: Kept, earlier: Kept) -> tuple[NDArray[np.uint64], NDArray[np.uint64], int, int]:
    """Return the hashes of two tables at one level and width, and both."""
    level = max(new.level, earlier.level)
    bits = min(_bits(new), _bits(earlier))
    return _cut(new, level, bits), _cut(earlier, level, bits), level, bits


def _cut(kept: Kept, level: int, bits: int) -> NDArray[np.uint64]:
    own = _bits(kept)
    hashes = kept.hashes.astype(np.uint64)
    if level > kept.level:
        hashes = hashes[hashes < np.uint64(1 << (own - level))]
    return hashes >> np.uint64(own - bits)


def _bits(kept: Kept) -> int:
    return int(kept.hashes.dtype.itemsize) * 8


def _counts(mine: NDArray[np.uint64], theirs: NDArray[np.uint64]) -> tuple[Floats, Floats]:
    """Return how often each hash occurs in one table and in the other."""
    _, places = np.unique(np.concatenate([mine, theirs]), return_inverse=True)
    n = int(places.max()) + 1 if len(places) else 0
    ours, others = places[: len(mine)], places[len(mine) :]
    return np.bincount(ours, minlength=n).astype(np.float64), np.bincount(others, minlength=n).astype(np.float64)
