"""What every step of an exchange knows of the table: its space, its atoms, and what may be done to its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.secret import Hidden
from sfumato.perturb.exchange.bonds import Bonds
from sfumato.perturb.exchange.space import MixedSpace, Pull
from sfumato.perturb.exchange.swaps import Dice, Swaps
from sfumato.perturb.guard.atoms import Atoms

_BLOCK = 1000  # rows that exchange among one another: larger atoms are cut into blocks by chance
_BLOCK_OF = 0  # counter of the dice


@dataclass(frozen=True, repr=False)
class Setting(Hidden):
    """A table whose rows are to exchange values.

    Attributes
    ----------
    space : MixedSpace
    atoms : Atoms
    units : sequence of tuples of int
        Columns that move together.
    smeared : sequence of bool
        Which columns are continuous.
    held : sequence of tuples of float
        Values of each column that are not smeared.
    decimals : sequence of int or None
        Of each column.
    min_atom : int
    bonds : Bonds
        Relations between columns that every row keeps.
    rare_levels : tuple of arrays of int
        The categories of each column that fewer than `min_atom` rows have.
    exact : bool
        Whether rows of small atoms, too, exchange values only inside their atom.
    """

    space: MixedSpace
    atoms: Atoms
    units: Sequence[tuple[int, ...]]
    smeared: Sequence[bool]
    held: Sequence[tuple[float, ...]]
    decimals: Sequence[int | None]
    min_atom: int
    bonds: Bonds
    rare_levels: Sequence[Integers]
    exact: bool

    @cached_property
    def small(self) -> Flags:
        """Which atoms are too small to exchange values in themselves alone."""
        if self.exact or len(self.atoms) < 2:
            return np.zeros(len(self.atoms), dtype=bool)
        return self.atoms.counts < self.min_atom

    @cached_property
    def everything(self) -> Integers:
        """All units."""
        return np.arange(len(self.units))

    @cached_property
    def telling(self) -> Integers:
        """Units of categories and counts: a rare combination of their values points at its owner."""
        return np.flatnonzero([not any(self.smeared[column] for column in unit) for unit in self.units])

    @cached_property
    def blocks(self) -> Integers:
        """Into how many groups each atom is cut."""
        return np.maximum(self.atoms.counts // _BLOCK, 1)

    @cached_property
    def _first(self) -> Integers:
        return np.cumsum(self.blocks) - self.blocks

    def groups(self, labels: NDArray[np.uint64], of: Integers, subkey: bytes) -> Integers:
        """Return the group of every row: its atom, and in large atoms one of several blocks, by chance.

        Parameters
        ----------
        labels : array of shape (n,), uint64
            The names of the rows.
        of : array of shape (n,)
            Their atoms.
        """
        groups = self._first[of]
        cut = np.flatnonzero(self.blocks[of] > 1)
        dice = Dice(subkey, labels)
        groups[cut] += dice.below(cut, _BLOCK_OF, self.blocks[of[cut]])
        return groups

    def atom_of(self, groups: Integers) -> Integers:
        """Return the atom of every group."""
        return np.searchsorted(self._first, groups, side="right") - 1

    def bundles(self, rows: int) -> Integers:
        """Return for each group the bundle it is worked on in: neighbours, of about so many rows in all."""
        sizes = np.repeat(-(-self.atoms.counts // self.blocks), self.blocks)
        return (np.cumsum(sizes) - sizes) // rows

    def swaps(self, values: Floats, of: Integers, centres: Floats) -> Swaps:
        """Return rows ready to exchange values.

        Parameters
        ----------
        values : array of shape (columns, n)
        of : array of shape (n,)
            Their atoms.
        centres : array of shape (c, dimensions)
            Those of the kept clusterings, once or twice: a row must stay nearest to its own each time.
        """
        sizes = self.atoms.named.sizes
        times = len(centres) // sum(sizes)
        begins = np.cumsum([0, *(sizes * times)])[:-1]
        own = np.tile(self.atoms.labels[of], times) + begins
        which = np.repeat(np.arange(len(begins)), np.tile(sizes, times))
        drawn = self.atoms.named.pulls(centres)
        return Swaps(self.space, self.space.coordinates(values), self.units, own, which, *drawn)

    def swaps_in(self, values: Floats, atom: int, centres: Floats) -> Swaps:
        """Return rows of one atom ready to exchange values among one another, with only the walls that they can reach.

        A row of the group holds, of every unit, the value of some row of the group. So what a centre can gain on the
        row's own one has a largest value, and a wall that is farther away than that is none.

        Parameters
        ----------
        values : array of shape (columns, n)
        centres : array of shape (c, dimensions)
            See `swaps`.
        """
        sizes = self.atoms.named.sizes
        sizes = sizes * (len(centres) // sum(sizes))
        begins = np.cumsum([0, *sizes])[:-1]
        own = np.tile(self.atoms.labels[atom], len(sizes) // len(self.atoms.named.sizes)) + begins
        pulls, halves = self.atoms.named.pulls(centres)
        coordinates, pull = self.space.coordinates(values), Pull(self.space, pulls, halves)
        mine = np.repeat(own, sizes)
        gap = pull.half - pull.half[mine]
        for unit in self.units:
            drawn = np.zeros((values.shape[1], len(centres)))
            for column in unit:
                drawn += pull.of(column, coordinates[column])
            gap += (drawn[:, mine] - drawn).min(axis=0)
        near, clustering = gap < 1.0, np.repeat(np.arange(len(sizes)), sizes)
        near[own] = False
        near[own] = np.bincount(clustering[near], minlength=len(sizes)) > 0
        place, which = np.cumsum(near) - 1, clustering[near]
        kept = np.unique(which)
        return Swaps(
            self.space,
            coordinates,
            self.units,
            np.tile(place[own[kept]], (values.shape[1], 1)),
            np.searchsorted(kept, which),
            pulls[near],
            halves[near],
        )

    def taken(self, values: Floats, swaps: Swaps) -> Floats:
        """Return the values that every row holds."""
        taken = np.empty_like(values)
        for unit, columns in enumerate(self.units):
            for column in columns:
                taken[column] = values[column, swaps.source[unit]]
        return taken

    def same(self, values: Floats, swaps: Swaps, original: Floats, units: Integers) -> Integers:
        """Return the rows that hold, in some units, the very values they had at first."""
        same = np.ones(swaps.n, dtype=bool)
        for unit in units:
            for column in self.units[unit]:
                same &= values[column, swaps.source[unit]] == original[column]
        return np.flatnonzero(same)

    @cached_property
    def _units_with_rare(self) -> list[int]:
        return [u for u, unit in enumerate(self.units) if any(len(self.rare_levels[column]) for column in unit)]

    def give_away(self, values: Floats, swaps: Swaps, original: Floats) -> Iterator[tuple[int, Integers]]:
        """Yield units, and the rows that hold there a rare category which was theirs at first: it points at them."""
        for unit in self._units_with_rare:
            kept = self.same(values, swaps, original, np.array([unit]))
            rare = np.zeros(len(kept), dtype=bool)
            for column in self.units[unit]:
                rare |= np.isin(original[column, kept], self.rare_levels[column])
            yield unit, kept[rare]

    def rare(self, original: Floats, among: Integers) -> Integers:
        """Return the rows whose categories and counts fewer than `min_atom` rows of their company share.

        Parameters
        ----------
        original : array of shape (columns, n)
        among : array of shape (n,)
            The company of each row.
        """
        columns = [column for unit in self.telling for column in self.units[unit]]
        if not columns:
            return np.empty(0, dtype=np.int64)
        which = among
        for column in columns:  # one number for each combination so far
            values = np.unique(original[column], return_inverse=True)[1].ravel()
            which = np.unique(which * (int(values.max(initial=0)) + 1) + values, return_inverse=True)[1].ravel()
        return np.flatnonzero(np.bincount(which)[which] < self.min_atom)
