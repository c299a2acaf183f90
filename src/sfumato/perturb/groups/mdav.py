"""MDAV: groups of k to 2k - 1 near rows, grown from the two ends of the cloud.

Distances are summed column by column in a fixed order and ties go to the lower row, so the groups are the
same on every machine. Blocks of equal length take the same steps, so a stack of them is grouped at once: the same
groups as one after the other, without waiting for the interpreter in each of them.
"""

from __future__ import annotations

import numpy as np

from sfumato._arrays import Floats, Integers

_FEW = 12  # up to so many, finding the smallest again and again is faster than sorting


def mdav_groups(tile: Floats, group_size: int) -> Integers:
    """Return a group number for each row; every group has group_size to 2 * group_size - 1 rows.

    Parameters
    ----------
    tile : array of shape (d, n)
        Rows in units of the columns, n >= group_size.

    Examples
    --------
    >>> mdav_groups(np.array([[0.0, 9.0, 0.1, 9.1, 0.2, 9.2]]), 3).tolist()
    [0, 1, 0, 1, 0, 1]
    """
    groups = np.zeros(tile.shape[1], dtype=np.int64)
    alive = np.arange(tile.shape[1])
    number = 0
    while len(alive) >= 2 * group_size:
        centre = np.add.reduce(tile, axis=1) / tile.shape[1]
        far = int(np.argmax(squared_distances(tile, centre)))
        from_far = squared_distances(tile, tile[:, far])
        taken = nearest_rows(from_far, group_size)
        groups[alive[taken]] = number
        number += 1
        if len(alive) >= 3 * group_size:
            # the other end: the row farthest from the first, among those that are left
            from_far[taken] = -1.0
            other = squared_distances(tile, tile[:, int(np.argmax(from_far))])
            other[taken] = np.inf
            second = nearest_rows(other, group_size)
            groups[alive[second]] = number
            number += 1
            taken = np.concatenate([taken, second])
        keep = np.ones(len(alive), dtype=np.bool_)
        keep[taken] = False
        tile, alive = np.ascontiguousarray(tile[:, keep]), alive[keep]
    groups[alive] = number
    return groups


def squared_distances(tile: Floats, point: Floats) -> Floats:
    """Return the squared distance of each row of a tile of shape (d, n) to a point of shape (d,)."""
    gaps = tile - point[:, None]
    gaps *= gaps
    total: Floats = np.add.reduce(gaps, axis=0)  # adds whole columns one after another: one order for every row
    return total


def nearest_rows(distances: Floats, count: int) -> Integers:
    """Return the positions of the smallest distances, ties by position."""
    if count >= len(distances):
        return np.arange(len(distances))
    limit = np.partition(distances, count - 1)[count - 1]
    near = np.flatnonzero(distances <= limit)
    return near[np.argsort(distances[near], kind="stable")[:count]]


def mdav_stack(tiles: Floats, group_size: int) -> Integers:
    """Return the groups of every block of a stack, those of `mdav_groups`.

    Parameters
    ----------
    tiles : array of shape (d, blocks, n)

    Examples
    --------
    >>> mdav_stack(np.array([[[0.0, 9.0, 0.1, 9.1], [5.0, 5.1, 1.0, 1.1]]]), 2).tolist()
    [[0, 1, 0, 1], [0, 0, 1, 1]]
    """
    tiles = tiles.copy()  # its memory is used for the rows that stay
    d, blocks, n = tiles.shape
    groups = np.zeros((blocks, n), dtype=np.int64)
    alive = np.tile(np.arange(n), (blocks, 1))
    every = np.arange(blocks)
    room, spare = np.empty(blocks * n), np.empty(tiles.size)  # for the gaps of a column, and the rows that stay
    number = 0
    while n >= 2 * group_size:
        flat, first = tiles.reshape(d, -1), every * n  # rows of all blocks, and where each block begins
        gap = room[: blocks * n].reshape(blocks, n)
        centres = np.add.reduce(tiles, axis=2) / n
        far = first + _squares(tiles, centres, gap).argmax(axis=1)
        from_far = _squares(tiles, flat[:, far], gap)
        farness = from_far.copy()
        taken = [_take_nearest(from_far, first, group_size)]
        if n >= 3 * group_size:
            farness.reshape(-1)[taken[0]] = -1.0
            other = _squares(tiles, flat[:, first + farness.argmax(axis=1)], gap)
            other.reshape(-1)[taken[0]] = np.inf
            taken.append(_take_nearest(other, first, group_size))
        keep = np.ones(blocks * n, dtype=np.bool_)
        for rows in taken:
            groups[every, alive.reshape(-1)[rows]] = number
            keep[rows] = False
            number += 1
        stay = np.flatnonzero(keep)
        n -= group_size * len(taken)
        alive = alive.reshape(-1)[stay].reshape(blocks, n)
        left = spare[: d * blocks * n].reshape(d, -1)
        for column, kept in zip(flat, left, strict=True):
            np.take(column, stay, out=kept, mode="clip")
        tiles, spare = left.reshape(d, blocks, n), tiles.reshape(-1)
    groups[every[:, None], alive] = number
    return groups


def _squares(tiles: Floats, points: Floats, gap: Floats) -> Floats:
    """Return the squared distance of each row of a stack to its block's point, points of shape (d, blocks)."""
    total: Floats = tiles[0] - points[0, :, None]
    total *= total
    for column, place in zip(tiles[1:], points[1:], strict=True):
        np.subtract(column, place[:, None], out=gap)
        gap *= gap
        total += gap
    return total


def _take_nearest(distances: Floats, first: Integers, count: int) -> Integers:
    """Return where the smallest distances of every block stand, ties by position, shape (count, blocks).

    Changes the distances.
    """
    flat = distances.reshape(-1)
    taken = np.empty((count, len(first)), dtype=np.int64)
    if count > _FEW:
        for block, row in enumerate(distances):
            taken[:, block] = nearest_rows(row, count) + first[block]
        return taken
    for nearest in taken:
        np.add(distances.argmin(axis=1), first, out=nearest)
        flat[nearest] = np.inf
    return taken
