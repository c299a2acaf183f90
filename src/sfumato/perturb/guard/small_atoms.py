"""Where the rows of small atoms go, and how the large atoms make up for it.

A small atom's mean says too much about its rows (a single row is its own mean), so it is not kept. Small atoms are
pooled; each gets a place in its own region, as near to the pool's mean as the region allows and so that the pool's mean
stays. Large atoms then shift a little, so that the centres of the named clusters stay where they are.
"""

from __future__ import annotations

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.linear import solve_positive, sum_in_order
from sfumato.perturb.guard.atoms import Atoms
from sfumato.perturb.guard.regions import Regions

_PUSHES = 15
_INSETS = (0.3, 0.1, 0.03, 0.0)  # shares of the way from a wall to the own centre, where the deepest has no room
_LEAST = 0.02  # units of the space behind a wall
_LIMIT = 0.5  # share of the room in its region that a large atom's mean may use
_RIDGE = 1e-7


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
    order = members[np.lexsort(atoms.labels[members].T[::-1])]
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
        gram = np.stack([sum_in_order(share * (row * weight / counts)) for row in share])
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
