"""What nested clustering releases for a group: the group rule and the paper's rule."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.perturb.group_means import group_means, spread_to_rows

__all__ = ["Grouping", "group_rule", "paper_rule", "restore_moments"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Grouping:
    """A table cut into groups inside parents.

    Attributes
    ----------
    tile : array of shape (d, n)
        Original rows.
    groups, parent_of : arrays of shape (n,)
    centroids : array of shape (d, groups)
        Value of each group.
    parents : array of shape (d, parents)
        Mean of each parent.
    integer : array of shape (d,), bool
    steps : array of shape (d,)
        One unit of each column.
    """

    tile: Floats
    groups: Integers
    centroids: Floats
    parent_of: Integers
    parents: Floats
    integer: NDArray[np.bool_]
    steps: Floats

    def with_centroids(self, centroids: Floats) -> Grouping:
        """Return the same groups with other values."""
        return replace(self, centroids=centroids)

    def rounded(self, values: Floats) -> Floats:
        """Return values with the integer columns rounded."""
        return np.where(self.integer[:, None], np.rint(values), values)

    def group_parents(self) -> Floats:
        """Return the parent's mean for each group, shape (d, groups)."""
        home = np.zeros(self.centroids.shape[1], dtype=np.int64)
        home[self.groups] = self.parent_of
        return self.parents[:, home]


def group_rule(grouping: Grouping) -> Floats:
    """Release one value for each group, shifted by whole units until it equals none of its members.

    Parameters
    ----------
    grouping : Grouping

    Returns
    -------
    array of shape (d, n)
    """
    values = grouping.rounded(grouping.centroids)
    direction = np.where(grouping.group_parents() >= values, 1.0, -1.0) * grouping.steps[:, None]
    n_groups = values.shape[1]
    shifted = values.copy()
    for count in range(1, len(grouping.groups) + 2):
        equal = (spread_to_rows(shifted, grouping.groups) == grouping.tile).all(axis=0)
        stuck = np.bincount(grouping.groups, weights=equal, minlength=n_groups) > 0
        if not stuck.any():
            break
        # members are finitely many and each step is a new value, so this ends
        shifted[:, stuck] = values[:, stuck] + count * direction[:, stuck]
    return spread_to_rows(shifted, grouping.groups)


def paper_rule(grouping: Grouping, *, preserve_moments: bool) -> Floats:
    """Release centroids, except for rows that equal theirs; every row changes.

    Parameters
    ----------
    grouping : Grouping
    preserve_moments : bool
        Restore means and variances of the parents before rounding.

    Returns
    -------
    array of shape (d, n)
    """
    tile, groups = grouping.tile, grouping.groups
    centroid = spread_to_rows(grouping.centroids, groups)
    parent = spread_to_rows(grouping.group_parents(), groups)
    direction = np.where(parent >= centroid, 1.0, -1.0) * grouping.steps[:, None]
    scatter = np.add.reduce((tile - centroid) * (tile - centroid), axis=0)
    uniform_group = np.bincount(groups, weights=scatter)[groups] == 0.0
    at_centroid = (centroid == tile).all(axis=0)
    # the midpoint of group and parent lies in the parent's direction: both moves are one unit that way
    released = np.where(at_centroid | uniform_group, centroid + direction, centroid)
    if preserve_moments:
        released = restore_moments(released, grouping)
    released = grouping.rounded(released)
    for _ in range(3):  # rounding may bring a row back: step on, in one direction, until it has moved
        same = (released == tile).all(axis=0)
        if not same.any():
            break
        released[:, same] += direction[:, same]
    return released


def restore_moments(released: Floats, grouping: Grouping) -> Floats:
    """Return released rows with the mean and variance of the originals, for each parent and column.

    Parameters
    ----------
    released : array of shape (d, n)
    grouping : Grouping

    Returns
    -------
    array of shape (d, n)
    """
    parent_of = grouping.parent_of
    new_mean = spread_to_rows(group_means(released, parent_of), parent_of)
    old_mean = spread_to_rows(grouping.parents, parent_of)
    old_gap, new_gap = grouping.tile - old_mean, released - new_mean
    old_square = group_means(old_gap * old_gap, parent_of)
    new_square = group_means(new_gap * new_gap, parent_of)
    stretch = np.sqrt(np.divide(old_square, new_square, out=np.ones_like(old_square), where=new_square > 0))
    return old_mean + new_gap * spread_to_rows(stretch, parent_of)
