"""One draw of an exchange: smear, order, sweep, find company, sweep again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.secret import Hidden
from sfumato.perturb.exchange.bonds import Bonds
from sfumato.perturb.exchange.company import Company
from sfumato.perturb.exchange.order import order_groups
from sfumato.perturb.exchange.smear import smear
from sfumato.perturb.exchange.space import MixedSpace
from sfumato.perturb.exchange.swaps import Dice, Swaps
from sfumato.perturb.exchange.sweeps import Sweeps
from sfumato.perturb.guard.atoms import Atoms

_BLOCK = 1000  # rows that exchange among one another: larger atoms are cut into blocks by chance
_ROWS_AT_ONCE = 1 << 15
_BLOCK_OF = 0  # counter of the dice
_FEW_TIMES = 4  # groups below so many times `min_atom` may find no exchange that keeps them in their region


@dataclass(frozen=True, repr=False)
class Draw(Hidden):
    """What one draw releases.

    Attributes
    ----------
    rows : array of shape (d, n)
    outside : array of shape (n,)
        Which rows could not be kept in their regions.
    """

    rows: Floats
    outside: Flags


@dataclass(frozen=True, repr=False)
class _Broken(Hidden):
    """Lets sums follow their terms, and tells which rows break a relation then."""

    bonds: Bonds
    tile: Floats

    @classmethod
    def of(cls, bonds: Bonds | None, tile: Floats) -> _Broken | None:
        return None if bonds is None else cls(bonds, tile)

    def __call__(self, rows: Integers) -> Flags:
        self.bonds.follow(self.tile, rows)
        return self.bonds.broken(self.tile, rows)


@dataclass(frozen=True, repr=False)
class Exchanged(Hidden):
    """A table whose rows are to exchange values.

    Attributes
    ----------
    labels : array of shape (n,), uint64
        The name of each row; sorted.
    tile : array of shape (d, n)
    of : array of shape (n,)
        The atom of each row.
    units : sequence of tuples of int
        Columns that move together.
    smeared : sequence of bool
        Which columns are continuous.
    held : sequence of tuples of float
        Values of each column that are not smeared.
    decimals : sequence of int or None
        Of each column.
    bonds : Bonds
        Relations between columns that every row keeps.
    exact : bool
        Whether rows of small atoms, too, exchange values only inside their atom.
    """

    space: MixedSpace
    atoms: Atoms
    labels: NDArray[np.uint64]
    tile: Floats
    of: Integers
    units: Sequence[tuple[int, ...]]
    smeared: Sequence[bool]
    held: Sequence[tuple[float, ...]]
    decimals: Sequence[int | None]
    min_atom: int
    bonds: Bonds
    exact: bool

    def draw(self, subkey: bytes) -> Draw:
        """Return a release of the table.

        Parameters
        ----------
        subkey : bytes
            Decides it.
        """
        dice = Dice(subkey, self.labels)
        small = np.zeros(len(self.atoms), dtype=bool) if self.exact else self.atoms.counts < self.min_atom
        members, start, size = self._groups(dice)
        values = self._smeared(dice, small[self.of], start, size)
        named = self.atoms.named
        swaps = Swaps(self.space, self.space.coordinates(values), self.units, self._own(1), named.stacked)
        firsts = np.unique(start)
        groups = [members[at : at + size[members[at]]] for at in firsts]
        order_groups(swaps, self.space, groups, dice)
        sweeps = Sweeps(swaps, start, size, members, dice)
        outside = self._swept(sweeps, groups, 0)
        if small.any():
            company = Company(swaps, self.atoms, self.of, small, dice)
            company.run()
            # the centres have moved a little: rows must lie in the regions of the old and of the new ones
            both = np.concatenate([named.stacked, self._centres(swaps)])
            second = Swaps(self.space, swaps.coordinates, self.units, self._own(2), both)
            second.source = swaps.source
            swaps = second
            sweeps = Sweeps(swaps, start, size, members, dice)
            outside = self._swept(sweeps, groups, 1)
            company.repair(swaps, outside)
        everything = np.arange(len(self.units))
        telling = np.flatnonzero([not any(self.smeared[column] for column in unit) for unit in self.units])
        rare = self._rare(telling)
        sweeps.differ(self._unchanged(values, swaps, everything), everything, 0)
        if len(telling):  # a rare combination of categories and counts points at its owner
            sweeps.differ(np.intersect1d(rare, self._unchanged(values, swaps, telling)), telling, 1)
        if small.any():
            if len(telling):
                still = np.intersect1d(rare, self._unchanged(values, swaps, telling))
                company.differ(swaps, still, telling, counter=0, at_any_price=False)
            left_over = self._unchanged(values, swaps, everything)
            company.differ(swaps, left_over, everything, counter=1, at_any_price=True)
            outside = np.flatnonzero(swaps.all_outside() > 0)
        released = self._taken(values, swaps)
        if self.exact:
            outside = self._left_as_they_are(released, outside, groups)
        left = np.zeros(len(self.labels), dtype=bool)
        left[outside] = True
        return Draw(released, left)

    def _unchanged(self, values: Floats, swaps: Swaps, units: Integers) -> Integers:
        """Return the rows that hold, in some units, the very values they had at first."""
        columns = [column for unit in units for column in self.units[unit]]
        return np.flatnonzero((self._taken(values, swaps)[columns] == self.tile[columns]).all(axis=0))

    def _rare(self, units: Integers) -> Integers:
        """Return the rows whose values in some units fewer than `min_atom` rows share."""
        columns = [column for unit in units for column in self.units[unit]]
        if not columns:
            return np.empty(0, dtype=np.int64)
        _, which, counts = np.unique(self.tile[columns], axis=1, return_inverse=True, return_counts=True)
        return np.flatnonzero(counts[which.ravel()] < self.min_atom)

    def _left_as_they_are(self, released: Floats, outside: Integers, groups: Sequence[Integers]) -> Integers:
        """Give the few rows of an atom that finds no way to exchange its values their own ones back.

        Exact centres come first for whoever asks for them; such rows are listed as disclosed. Larger groups stay.
        """
        lost = np.zeros(released.shape[1], dtype=bool)
        lost[outside] = True
        for members in groups:
            if len(members) < _FEW_TIMES * self.min_atom and lost[members].any():
                released[:, members] = self.tile[:, members]
                lost[members] = False
        return np.flatnonzero(lost)

    def _taken(self, values: Floats, swaps: Swaps) -> Floats:
        """Return the values that every row holds."""
        taken = np.empty_like(values)
        for unit, columns in enumerate(self.units):
            for column in columns:
                taken[column] = values[column, swaps.source[unit]]
        return taken

    def _groups(self, dice: Dice) -> tuple[Integers, Integers, Integers]:
        """Return all rows group by group, and for each row where its group begins there and how large it is."""
        everyone = np.arange(len(self.of))
        blocks = np.maximum(self.atoms.counts // _BLOCK, 1)
        first = np.cumsum(blocks) - blocks
        group = first[self.of] + dice.below(everyone, _BLOCK_OF, blocks[self.of])
        members = np.argsort(group, kind="stable")
        sizes = np.bincount(group, minlength=int(blocks.sum()))
        begins = np.cumsum(sizes) - sizes
        return members, begins[group], sizes[group]

    def _smeared(self, dice: Dice, small: Flags, start: Integers, size: Integers) -> Floats:
        """Return the values that are exchanged; rows of small atoms are smeared among one another."""
        few = small.any() and np.count_nonzero(small) < self.min_atom
        # too few to hide one another: they join the largest group
        group = np.where(small, start[np.argmax(size)] if few else -1, start)
        values = self.tile.copy()
        follows = self.bonds.derived()
        for column, wanted in enumerate(self.smeared):
            if wanted and column not in follows:
                broken = _Broken.of(self.bonds.touching(column), values)
                smear(values[column], group, dice, column, self.held[column], self.decimals[column], broken)
        return values

    def _own(self, times: int) -> Integers:
        """Return the own centre of every row among all centres, one after the other."""
        sizes = self.atoms.named.sizes
        total = sum(sizes)
        parts, end = [], 0
        for clustering, size in enumerate(sizes):
            own = self.atoms.labels[self.of, clustering] + end
            parts.append(np.repeat(own[:, None], size, axis=1))
            end += size
        one = np.concatenate(parts, axis=1)
        return np.concatenate([one + turn * total for turn in range(times)], axis=1)

    def _swept(self, sweeps: Sweeps, groups: Sequence[Integers], turn: int) -> Integers:
        """Sweep over all groups, some at a time; return the rows that are still outside."""
        left: list[Integers] = []
        waiting: list[Integers] = []
        count = 0
        for group in [*groups, None]:
            if waiting and (group is None or count + len(group) > _ROWS_AT_ONCE):
                left.append(sweeps.run(np.concatenate(waiting), turn))
                waiting, count = [], 0
            if group is not None:
                waiting.append(group)
                count += len(group)
        return np.concatenate(left)

    def _centres(self, swaps: Swaps) -> Floats:
        """Return the centres that the kept clusters have now, in whole steps."""
        space = self.space
        sums = np.zeros((len(self.atoms), space.dimensions))
        for unit, columns in enumerate(self.units):
            for column in columns:
                axis = space.axes[column]
                held = swaps.coordinates[column, swaps.source[unit]]
                if axis.levels:
                    at = self.of * axis.levels + held.astype(np.int64)
                    counts = np.bincount(at, minlength=len(self.atoms) * axis.levels).reshape(-1, axis.levels)
                    sums[:, axis.first : axis.first + axis.levels] = counts * space.height(axis)
                else:
                    sums[:, axis.first] = np.bincount(self.of, weights=held, minlength=len(self.atoms))
        incidence = self.atoms.incidence()
        rows = np.maximum((incidence * self.atoms.counts).sum(axis=1), 1.0)
        # sums of whole numbers: exact in any order
        centres: Floats = np.rint((incidence @ sums) / rows[:, None])
        named = self.atoms.named
        of_modes = np.repeat(named.modes, named.sizes)
        for own in space.categories:  # modes stay
            centres[of_modes, own] = named.stacked[of_modes, own]
        return centres
