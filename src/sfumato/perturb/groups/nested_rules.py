"""What nested clustering releases for a group: the group rule and the paper's rule."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.core.secret import Hidden
from sfumato.exceptions import DataError
from sfumato.perturb.groups.group_means import group_means, spread_to_rows

_STUCK = "the column's values are too large for its type to tell neighbours apart: use another unit"


@dataclass(frozen=True, repr=False)
class Grouping(Hidden):
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
    kinds : tuple of str
        "integer", "float32" or "float64" for each column.
    steps : array of shape (d,)
        One unit of each column.
    """

    tile: Floats
    groups: Integers
    centroids: Floats
    parent_of: Integers
    parents: Floats
    kinds: tuple[str, ...]
    steps: Floats

    def with_centroids(self, centroids: Floats) -> Grouping:
        """Return the same groups with other values."""
        return replace(self, centroids=centroids)

    def rounded(self, values: Floats) -> Floats:
        """Return values as they will be released: integer columns rounded, narrow floats narrowed."""
        out = values.copy()
        for column, kind in zip(out, self.kinds, strict=True):
            if kind == "integer":
                np.rint(column, out=column)
            elif kind == "float32":
                column[...] = column.astype(np.float32)
        return out

    def group_parents(self) -> Floats:
        """Return the parent's mean for each group, shape (d, groups)."""
        home = np.zeros(self.centroids.shape[1], dtype=np.int64)
        home[self.groups] = self.parent_of
        return self.parents[:, home]


def group_rule(grouping: Grouping) -> Floats:
    """Release one value for each group, shifted by whole units until it equals none of its members.

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
            return spread_to_rows(shifted, grouping.groups)
        # members are finitely many and each step is a new value, so this ends
        shifted[:, stuck] = values[:, stuck] + count * direction[:, stuck]
        shifted = grouping.rounded(shifted)
    raise DataError("NestedClustering: a group's value cannot be moved away from its members", hint=_STUCK)


def paper_rule(grouping: Grouping, *, preserve_moments: bool) -> Floats:
    """Release centroids, except for rows that equal theirs; every row changes.

    Parameters
    ----------
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
    for _ in range(4):  # rounding may bring a row back: step on, in one direction, until it has moved
        same = (released == tile).all(axis=0)
        if not same.any():
            return released
        released[:, same] += direction[:, same]
        released = grouping.rounded(released)
    raise DataError("NestedClustering: a row cannot be moved away from its original value", hint=_STUCK)


def restore_moments(released: Floats, grouping: Grouping) -> Floats:
    """Return released rows with the mean and variance of the originals, for each parent and column.

    Parameters
    ----------
    released : array of shape (d, n)

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
