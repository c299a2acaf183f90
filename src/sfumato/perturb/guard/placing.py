"""Regions and targets of a release: where every atom goes when the small ones have been moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.linear import sum_in_order
from sfumato.core.secret import Hidden
from sfumato.perturb.guard.atoms import Atoms
from sfumato.perturb.guard.regions import Regions
from sfumato.perturb.guard.small_atoms import compensate, place

_LOOPS = 4
_JUST_INSIDE = 1e-3
_DEEPEST = (0.3, 0.2, 0.4, 0.1)  # shares of the way from a wall to the own centre
_STILL = 1e-3  # centres that move less, in units of the space, have the walls of the named ones
_SMALL_MARGIN = 0.9  # rows of small atoms keep farther from the walls: they have no round that ends exactly


@dataclass(frozen=True, repr=False)
class Placed(Hidden):
    """Where the atoms go.

    Attributes
    ----------
    regions : Regions
        For the named centres, and for the ones that the release will have.
    targets : array of shape (a, d)
    small_rows : array of shape (d, m)
        Released rows of the small atoms, in the space.
    shift : float
        Largest distance that a named centre moves, in units of the space.
    """

    regions: Regions
    targets: Floats
    small_rows: Floats
    shift: float


def plain_regions(atoms: Atoms, low: Floats, high: Floats) -> Regions:
    """Return the regions of the named centres."""
    named = atoms.named
    return Regions.build(named.space, [named.stacked], atoms.labels, named.sizes, low, high)


def released_regions(atoms: Atoms, means: Floats, plain: Regions) -> Regions:
    """Return the regions of the named centres and of the centres that released atoms of known means have.

    Parameters
    ----------
    means : array of shape (a, d)
        Of the released rows of each atom.
    plain : Regions
        For the bounds of the columns.
    """
    named = atoms.named
    counts = atoms.counts.astype(np.float64)
    incidence = atoms.incidence()
    sums = np.stack([sum_in_order(incidence * (counts * column)) for column in means.T], axis=1)
    sizes = (incidence * counts).sum(axis=1)
    centres = named.space.steps(sums / np.maximum(sizes, 1.0)[:, None])
    centres = np.where(sizes[:, None] > 0, centres, named.stacked)
    return Regions.build(named.space, [named.stacked, centres], atoms.labels, named.sizes, plain.low, plain.high)


def place_atoms(
    atoms: Atoms, pool: Integers, around: Floats, of: Integers, regions: Regions, *, min_rows: int, draw: int = 0
) -> Placed:
    """Place the small atoms, let the large ones make up for it, and draw the regions of the centres that result.

    Rows that lie in the regions of the named centres *and* of the released ones keep their labels when k-means starts
    from the named centres: its first round assigns by the former and moves to the latter, its second one assigns by
    the latter, and nothing changes any more.

    Parameters
    ----------
    pool : array of shape (a,)
        The pool of every small atom, -1 for large ones.
    around : array of shape (d, m)
        Rows of the small atoms, as deviations from the place of their atom.
    of : array of shape (m,)
        Their atoms.
    regions : Regions
        Of the named centres, with the bounds of the columns.
    min_rows : int
        Fewest rows of a pool whose mean is kept.
    draw : int
        Draws that are tried take turns at how deep in their regions the small atoms go: where most of a table is small
        atoms there is little room, where they are far away there is much.
    """
    small = pool >= 0
    named = atoms.named
    unit = 2.0**-named.space.bits
    incidence = atoms.incidence()
    counts = atoms.counts.astype(np.float64)
    sizes = np.maximum((incidence * counts).sum(axis=1), 1.0)  # whole numbers; a given centre may have no rows
    targets, rows, shift = atoms.means.copy(), around, np.zeros_like(named.stacked)
    both, deepest = regions, _DEEPEST[draw % len(_DEEPEST)]
    for _ in range(_LOOPS if small.any() else 0):
        targets = place(atoms, pool, both, deepest, min_rows=min_rows)
        lost = both.depth(targets.T, np.arange(len(atoms))) <= 0
        if lost.any():  # no place in both regions: the named centres come first
            fallback = place(atoms, pool, regions, deepest, min_rows=min_rows)
            targets[lost & small] = fallback[lost & small]
        rows = np.where(
            lost[of],
            regions.clip(targets[of].T + around, targets, of, margin=_SMALL_MARGIN),
            both.clip(targets[of].T + around, targets, of, margin=_SMALL_MARGIN),
        )
        moved = np.zeros_like(atoms.means)
        moved[small] = (atoms.means_of(rows, of) - atoms.means)[small]
        shifts = compensate(atoms, ~small, moved, both)
        targets[~small] = atoms.means[~small] + shifts[~small]
        drift = np.stack([sum_in_order(incidence * (counts * column)) for column in (moved + shifts).T], axis=1)
        shift = np.rint(drift / sizes[:, None] / unit)
        if float(np.abs(shift).max()) * unit < _STILL:
            both = regions
            continue
        released = named.stacked + shift
        both = Regions.build(
            named.space, [named.stacked, released], atoms.labels, named.sizes, regions.low, regions.high
        )
    lengths = np.sqrt((shift * shift).sum(axis=1)) * unit
    return Placed(both, _inside(targets, small, regions, both), rows, float(lengths.max(initial=0.0)))


def _inside(targets: Floats, small: Flags, regions: Regions, both: Regions) -> Floats:
    """Return the targets, those of large atoms pushed back where the new centres leave them outside."""
    index = np.flatnonzero(~small)
    out = index[both.depth(targets[index].T, index) <= 0]
    if len(out):
        targets[out] = both.push_inside(targets[out].T, out, inset=np.zeros(len(out)), least=_JUST_INSIDE)[0].T
        still = out[both.depth(targets[out].T, out) <= 0]
        back, _ = regions.push_inside(targets[still].T, still, inset=np.zeros(len(still)), least=_JUST_INSIDE)
        targets[still] = back.T
    return targets
