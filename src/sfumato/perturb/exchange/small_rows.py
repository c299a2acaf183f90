"""The rows that need one another's company, released before the others: those of small atoms, and their partners.

They are few, and come together in one place. Their values are smeared and exchanged; then rows of small atoms are
done, and their partners hold what they exchange in their own groups. What the exchanges did to the kept centres is
known exactly, so that everybody else can stay in the regions of the old and of the new ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.linear import exact_product
from sfumato.core.secret import Hidden
from sfumato.perturb.exchange.company import Company
from sfumato.perturb.exchange.order import order_groups
from sfumato.perturb.exchange.partners import Partners
from sfumato.perturb.exchange.setting import Setting
from sfumato.perturb.exchange.smear import smear_columns
from sfumato.perturb.exchange.swaps import Dice, Swaps
from sfumato.perturb.exchange.sweeps import Sweeps
from sfumato.perturb.guard.sums import ClusterSums

_ROWS = 1 << 13  # sums of so many steps of up to 2^20 are exact


@dataclass(frozen=True, repr=False)
class Met(Hidden):
    """What has become of the rows that met before the others.

    Attributes
    ----------
    labels : array of shape (m,), uint64
        Their names, sorted.
    rows : array of shape (d, m)
        What they hold now.
    done : array of shape (m,)
        Which of them are released so; the others exchange in their groups.
    outside : array of shape (m,)
        Which rows that are done could not be kept in their regions.
    centres : array of shape (c, dimensions)
        All centres in whose regions rows must stay, in whole steps.
    """

    labels: NDArray[np.uint64]
    rows: Floats
    done: Flags
    outside: Flags
    centres: Floats

    def find(self, labels: NDArray[np.uint64]) -> tuple[Flags, Integers]:
        """Return which of some rows are among them, and where."""
        if not len(self.labels):
            return np.zeros(len(labels), dtype=bool), np.empty(0, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.labels, labels), len(self.labels) - 1)
        here = self.labels[at] == labels
        return here, at[here]


def meet(
    setting: Setting,
    partners: Partners,
    sums: ClusterSums,
    labels: NDArray[np.uint64],
    tile: Floats,
    of: Integers,
    subkey: bytes,
) -> Met:
    """Let rows of small atoms exchange values with their partners.

    Parameters
    ----------
    sums : ClusterSums
        Of all rows.
    labels : array of shape (m,), uint64
        The names of those that meet, sorted.
    tile : array of shape (d, m)
    of : array of shape (m,)
        Their atoms.
    """
    named = setting.atoms.named
    if not setting.small.any():
        nobody, nothing = np.empty(0, dtype=bool), tile[:, :0]
        return Met(labels[:0], nothing, nobody, nobody, _all_centres(setting, sums, nothing, nothing, of[:0]))
    dice = Dice(subkey, labels)
    small = setting.small[of]
    values = _smeared(setting, tile, of, small, dice)
    swaps = setting.swaps(values, of, named.stacked)
    groups, sweeps = _small_groups(of, small, swaps, dice)
    order_groups(swaps, setting.space, groups, dice)
    rows = np.concatenate(groups)
    sweeps.run(rows)
    company = Company(swaps, partners, of, small, dice)
    company.run()
    # the centres have moved a little: rows must lie in the regions of the old and of the new ones
    both = _all_centres(setting, sums, tile, setting.taken(values, swaps), of)
    source, swaps = swaps.source, setting.swaps(values, of, both)
    swaps.source = source
    groups, sweeps = _small_groups(of, small, swaps, dice)
    company.repair(swaps, sweeps.run(rows, 1))
    _make_different(setting, values, tile, swaps, sweeps, company)
    outside = np.zeros(len(labels), dtype=bool)
    outside[rows] = swaps.state(rows)[1] > 0
    return Met(labels, setting.taken(values, swaps), small, outside, both)


def _all_centres(setting: Setting, sums: ClusterSums, before: Floats, after: Floats, of: Integers) -> Floats:
    """Return the centres in whose regions rows must stay, in whole steps.

    These are the kept ones, and those that the release will have after some rows have changed, or the latter alone.

    Parameters
    ----------
    before, after : arrays of shape (d, m)
        These rows.
    of : array of shape (m,)
        Their atoms.
    """
    space, atoms, named = setting.space, setting.atoms, setting.atoms.named
    if not before.shape[1] and not atoms.have_joined:
        return named.stacked
    total = sums.sums.astype(np.float64)
    incidence = atoms.incidence()
    for start in range(0, before.shape[1], _ROWS):
        part = slice(start, start + _ROWS)
        moved = space.steps(space.enter(after[:, part]))
        moved -= space.steps(space.enter(before[:, part]))
        total += exact_product(incidence[:, of[part]], moved.T)
    counts = (incidence * atoms.counts).sum(axis=1)[:, None]
    centres: Floats = np.where(counts > 0, np.rint(total / np.maximum(counts, 1.0)), named.stacked)
    of_modes = np.repeat(named.modes, named.sizes)
    for own in space.categories:  # modes stay
        centres[of_modes, own] = named.stacked[of_modes, own]
    return centres if atoms.new_centres_only else np.concatenate([named.stacked, centres])


def _smeared(setting: Setting, tile: Floats, of: Integers, small: Flags, dice: Dice) -> Floats:
    """Return the values that are exchanged: rows of small atoms are smeared among one another, others in their atom."""
    few = np.count_nonzero(small) < setting.min_atom
    # too few to hide one another: they join the largest atom
    pool = np.where(small, np.argmax(np.bincount(of)) if few else -1, of)
    values = tile.copy()
    smear_columns(setting, values, pool, dice)
    return values


def _small_groups(of: Integers, small: Flags, swaps: Swaps, dice: Dice) -> tuple[list[Integers], Sweeps]:
    """Return the rows of each small atom, and the sweeps that exchange inside them."""
    rows = np.flatnonzero(small)
    members = rows[np.argsort(of[rows], kind="stable")]
    begins = np.flatnonzero(np.r_[True, of[members][1:] != of[members][:-1]])
    groups = np.split(members, begins[1:])
    start, size = np.zeros(len(of), dtype=np.int64), np.ones(len(of), dtype=np.int64)
    for begin, group in zip(begins, groups, strict=True):
        start[group], size[group] = begin, len(group)
    return groups, Sweeps(swaps, start, size, members, dice)


def _make_different(
    setting: Setting, values: Floats, tile: Floats, swaps: Swaps, sweeps: Sweeps, company: Company
) -> None:
    """Let no row of a small atom keep all it had, nor a rare combination of categories and counts."""
    everything, telling = setting.everything, setting.telling
    rare = setting.rare(tile, np.zeros(swaps.n, dtype=np.int64))
    small = np.unique(company.rows)

    def still(units: Integers, among: Integers) -> Integers:
        return np.intersect1d(among, setting.same(values, swaps, tile, units))

    sweeps.differ(still(everything, small), everything, 0)
    if len(telling):
        pointed = np.intersect1d(rare, small)
        sweeps.differ(still(telling, pointed), telling, 1)
        company.differ(swaps, still(telling, pointed), telling, counter=0, at_any_price=False)
    company.differ(swaps, still(everything, small), everything, counter=1, at_any_price=True)
    for unit, rows in setting.give_away(values, swaps, tile):
        company.differ(swaps, np.intersect1d(rows, small), np.array([unit]), counter=2 + unit, at_any_price=True)
