"""Regions and targets of a release: where the rows of small atoms go, and how the large atoms make up for it.

A small atom's mean says too much about its rows (a single row is its own mean), so it is not kept. Small atoms are
pooled; each gets a place in its own region, as near to the pool's mean as the region allows and so that the pool's mean
stays. Large atoms then shift a little, so that the centres of the named clusters stay where they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.linear import solve_positive, sum_in_order
from sfumato.core.secret import Hidden
from sfumato.perturb.guard.atoms import Atoms
from sfumato.perturb.guard.regions import Regions

_PUSHES = 15
_INSETS = (0.3, 0.1, 0.03, 0.0)  # shares of the way from a wall to the own centre, where the deepest has no room
_LEAST = 0.02  # units of the space behind a wall
_LIMIT = 0.5  # share of the room in its region that a large atom's mean may use
_RIDGE = 1e-7
_LOOPS = 4
_JUST_INSIDE = 1e-3
_DEEPEST = (0.3, 0.2, 0.4, 0.1)  # shares of the way from a wall to the own centre
_STILL = 1e-3  # centres that move less, in units of the space, have the walls of the named ones
_SMALL_MARGIN = 0.9  # rows of small atoms keep farther from the walls: they have no round that ends exactly


def pools(atoms: Atoms, small: Flags, min_rows: int) -> Integers:
    """Return the pool of every atom (-1 for large ones): small atoms in the order of their labels, coarsest first.

    Neighbours in that order share most of the coarse clusterings. Every pool has at least `min_rows` rows, unless
    there are fewer in all: then nothing of theirs is kept (`place`).

    Parameters
    ----------
    small : array of shape (a,), bool
    """
    pool = np.full(len(atoms), -1, dtype=np.int64)
    current, rows = 0, 0
    members = np.flatnonzero(small)
    keys = atoms.labels[members].T[::-1]
    order = members[np.lexsort(keys if atoms.marks is None else [*keys, *atoms.marks[members].T])]
    for atom in order:
        pool[atom] = current
        rows += int(atoms.counts[atom])
        if rows >= min_rows:
            current, rows = current + 1, 0
    if rows and current:  # what is left over joins the last whole pool
        pool[pool == current] = current - 1
    return pool


def place(atoms: Atoms, pool: Integers, regions: Regions, deepest: float, *, min_rows: int, rounds: int = 20) -> Floats:
    """Return a place for every small atom inside its region; pools keep their means where the regions allow it.

    A pool of too few rows has no mean that may be kept: its atoms go as near to the mean of the table as they can.

    Parameters
    ----------
    pool : array of shape (a,)
        From `pools`.
    deepest : float
        How far behind the walls of their regions, at most, as a share of the way to their own centres.
    min_rows : int
        Fewest rows of a pool whose mean is kept.

    Returns
    -------
    array of shape (a, d)
        Rows of large atoms are their means.
    """
    places = atoms.means.copy()
    members = np.flatnonzero(pool >= 0)
    if len(members) == 0:
        return places
    number = pool[members]
    rows = atoms.counts[members].astype(np.float64)
    weight: Floats = np.bincount(number, weights=rows).astype(np.float64)
    kept = (weight >= min_rows)[:, None]
    means = np.where(kept, _pooled(atoms.means[members], rows, number, weight), 0.0)  # the space is centred
    points, inset = _deep_inside(means[number].T, members, regions, deepest)
    for _ in range(rounds):
        rest = np.where(kept, means - _pooled(points.T, rows, number, weight), 0.0)
        if float(np.abs(rest).max()) < 1e-3:
            break
        # what one turn leaves outside, the next one pushes on
        points, _ = regions.push_inside(points + rest[number].T, members, inset=inset, least=_LEAST, rounds=_PUSHES)
    places[members] = points.T
    return places


def _deep_inside(points: Floats, members: Integers, regions: Regions, deepest: float) -> tuple[Floats, Floats]:
    """Return points pushed into their regions, and how far behind the walls each of them found room.

    Rows that stand at a wall would be the first to change sides, and clusters that consist of such rows would move
    towards one another.
    """
    pushed, inset = points.copy(), np.zeros(len(members))
    left = np.arange(len(members))
    for share in (deepest, *(share for share in _INSETS if share < deepest)):
        inset[left] = share
        pushed[:, left], arrived = regions.push_inside(points[:, left], members[left], inset=inset[left], least=_LEAST)
        left = left[~arrived]
        if len(left) == 0:
            break
    return pushed, inset


def _pooled(values: Floats, rows: Floats, number: Integers, weight: Floats) -> Floats:
    # bincount adds one after the other: a fixed order
    return np.stack([np.bincount(number, weights=rows * column) / weight for column in values.T], axis=1)


def compensate(atoms: Atoms, large: Flags, moved: Floats, regions: Regions) -> Floats:
    """Return shifts of the large atoms' means that keep the centres of the named clusters, as far as they can.

    Parameters
    ----------
    large : array of shape (a,), bool
    moved : array of shape (a, d)
        How far the mean of each small atom has moved.

    Returns
    -------
    array of shape (a, d)
        Zero for small atoms.
    """
    shifts = np.zeros_like(atoms.means)
    if large.all() or not large.any():
        return shifts
    incidence = atoms.incidence()
    counts = atoms.counts.astype(np.float64)
    sizes = np.maximum(sum_in_order(incidence * counts), 1.0)
    share = incidence * counts / np.sqrt(sizes)[:, None]  # rows of an atom, as its clusters feel them
    wanted = np.stack([sum_in_order(share * column) for column in moved.T], axis=1)
    weight = np.where(large, 1.0, 0.0)
    index = np.flatnonzero(large)
    start, near = atoms.means[index].T, regions.nearness(atoms.means)[:, index]
    for _ in range(30):
        gram = np.zeros((len(share), len(share)))
        for row, scaled in zip(share.T, (share * weight / counts).T, strict=True):  # one atom after the other
            gram += scaled[:, None] * row
        gram[np.diag_indices(len(gram))] += _RIDGE
        solved = solve_positive(gram, wanted)
        pull = np.stack([sum_in_order(share.T * column) for column in solved.T], axis=1)
        shifts = -(weight / counts)[:, None] * pull
        used = 1.0 / np.maximum(regions.reach(start, shifts[index].T, index, near), 1e-12)
        over = used > _LIMIT
        if not over.any():
            return shifts
        weight[index[over]] *= np.maximum(0.3, 0.9 * _LIMIT / used[over])
    shifts[index] *= np.where(over, _LIMIT / np.maximum(used, _LIMIT), 1.0)[:, None]
    return shifts


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
    return Regions.build(named.space, [named.pulls(named.stacked)], atoms.labels, named.sizes, low, high)


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
    return _regions_of(atoms, centres, plain)


def _regions_of(atoms: Atoms, released: Floats, plain: Regions) -> Regions:
    """Return the regions of the named centres and of released ones, or of the latter alone."""
    named = atoms.named
    sets = [released] if atoms.new_centres_only else [named.stacked, released]
    drawn = [named.pulls(centres) for centres in sets]
    return Regions.build(named.space, drawn, atoms.labels, named.sizes, plain.low, plain.high)


def place_atoms(
    atoms: Atoms,
    pool: Integers,
    around: Floats,
    of: Integers,
    regions: Regions,
    *,
    joining: Floats,
    noise: Floats,
    min_rows: int,
    draw: int = 0,
    spikes: Flags | None = None,
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
    noise : array of shape (a, d)
        How far the means are moved away from the true ones; see `mean_noise`.
    joining : array of shape (c, d)
        How far the centres move because atoms have joined others.
    min_rows : int
        Fewest rows of a pool whose mean is kept.
    draw : int
        Draws that are tried take turns at how deep in their regions the small atoms go: where most of a table is small
        atoms there is little room, where they are far away there is much.
    spikes : array of shape (a, d), optional
        Columns that are the same in all rows of an atom and should stay so.
    """
    small = pool >= 0
    named = atoms.named
    unit = 2.0**-named.space.bits
    incidence = atoms.incidence()
    counts = atoms.counts.astype(np.float64)
    sizes = np.maximum((incidence * counts).sum(axis=1), 1.0)  # whole numbers; a given centre may have no rows
    true_means, atoms = atoms.means, replace(atoms, means=atoms.means + noise)
    targets, rows, shift = atoms.means.copy(), around, np.zeros_like(named.stacked)
    both, deepest = regions, _DEEPEST[draw % len(_DEEPEST)]
    for _ in range(_LOOPS if small.any() or joining.any() or noise.any() else 0):
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
        gone = moved + shifts + (atoms.means - true_means)
        drift = np.stack([sum_in_order(incidence * (counts * column)) for column in gone.T], axis=1)
        shift = np.rint((drift / sizes[:, None] + joining) / unit)
        if float(np.abs(shift).max()) * unit < _STILL:
            both = regions
            continue
        both = _regions_of(atoms, named.stacked + shift, regions)
    lengths = np.sqrt((shift * shift).sum(axis=1)) * unit
    targets = pushed_inside(targets, small, regions, both)
    if spikes is not None:
        _put_back(targets, true_means, spikes & ~small[:, None], both)
    return Placed(both, targets, rows, float(lengths.max(initial=0.0)))


def _put_back(targets: Floats, means: Floats, spikes: Flags, regions: Regions) -> None:
    """Put columns that are the same in all rows of an atom back where they were, if the regions allow it.

    Parameters
    ----------
    targets : array of shape (a, d)
        Changed.
    """
    tried = np.where(spikes, means, targets)
    inside = regions.depth(np.ascontiguousarray(tried.T), np.arange(len(tried))) > 0
    targets[inside] = tried[inside]


def pushed_inside(targets: Floats, small: Flags, regions: Regions, both: Regions) -> Floats:
    """Return the targets, those of large atoms pushed back where the new centres leave them outside."""
    index = np.flatnonzero(~small)
    out = index[both.depth(targets[index].T, index) <= 0]
    if len(out):
        targets[out] = both.push_inside(targets[out].T, out, inset=np.zeros(len(out)), least=_JUST_INSIDE)[0].T
        still = out[both.depth(targets[out].T, out) <= 0]
        back, _ = regions.push_inside(targets[still].T, still, inset=np.zeros(len(still)), least=_JUST_INSIDE)
        targets[still] = back.T
    return targets
