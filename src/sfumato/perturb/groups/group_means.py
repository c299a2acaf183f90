"""Means of groups of rows, with sums in a fixed order."""

from __future__ import annotations

import numpy as np

from sfumato._arrays import Floats, Integers


def group_means(tile: Floats, groups: Integers) -> Floats:
    """Return the mean of each group, shape (d, number of groups).

    Parameters
    ----------
    tile : array of shape (d, n)
    groups : array of shape (n,)
        Group numbers 0, 1, ..., none of them empty.

    Examples
    --------
    >>> group_means(np.array([[1.0, 5.0, 3.0]]), np.array([0, 1, 0])).tolist()
    [[2.0, 5.0]]
    """
    counts = np.bincount(groups)
    # bincount adds in the order of the rows, one by one
    return np.array([np.bincount(groups, weights=column) for column in tile]) / counts


def spread_to_rows(values: Floats, groups: Integers) -> Floats:
    """Return each row's group value: shape (d, groups) to (d, n)."""
    return np.ascontiguousarray(values[:, groups])
