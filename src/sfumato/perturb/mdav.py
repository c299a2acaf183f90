"""MDAV: groups of k to 2k - 1 near rows, grown from the two ends of the cloud.

Distances are summed column by column in a fixed order and ties go to the lower row, so the groups are the
same on every machine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["mdav_groups"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def mdav_groups(tile: Floats, group_size: int) -> Integers:
    """Return a group number for each row; every group has group_size to 2 * group_size - 1 rows.

    Parameters
    ----------
    tile : array of shape (d, n)
        Rows in units of the columns, n >= group_size.
    group_size : int

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
