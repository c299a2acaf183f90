"""The nearest row of another table, through a k-d tree: no matrix of all distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from sfumato.exceptions import DataError
from sfumato.metrics._inputs import as_table


def nearest_rows(rows: Any, candidates: Any) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return for every row the distance and the position of its nearest candidate.

    Parameters
    ----------
    rows : array_like or dataframe of shape (n, d)
        The rows to look up.
    candidates : array_like or dataframe of shape (m, d)
        The rows to find; of several equally near ones any may be returned.

    Returns
    -------
    distances : ndarray of shape (n,)
        Euclidean distances.
    positions : ndarray of shape (n,)
        Positions in `candidates`.

    Examples
    --------
    >>> distances, positions = nearest_rows([[0, 0], [9, 9]], [[9, 8], [3, 4]])
    >>> distances, positions
    (array([5., 1.]), array([1, 0]))
    """
    left, right = as_table(rows, "rows"), as_table(candidates, "candidates")
    if left.shape[1] != right.shape[1]:
        raise DataError(f"rows have {left.shape[1]} columns, candidates have {right.shape[1]}")
    distances, positions = tree_of(right).query(left)
    return np.asarray(distances, dtype=np.float64), np.asarray(positions, dtype=np.intp)


def tree_of(points: NDArray[np.float64]) -> KDTree:
    """Return a k-d tree that is built quickly also when many rows are equal.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The rows.

    Examples
    --------
    >>> tree_of(np.zeros((3, 2))).n
    3
    """
    # A balanced tree sorts out medians among ties, which rounded data have by the thousand.
    return KDTree(points, balanced_tree=False)
