"""Starting centres for iterative clusterers, the same on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.cluster.fixed_order import column_blocks
from sfumato.core.linear import fixed_order_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray


def column_moments(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean of every column and the sum of squared deviations from it.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows, at least one.

    Returns
    -------
    means, deviations : ndarray of shape (d,)

    Examples
    --------
    >>> column_moments(np.array([[1.0], [3.0]]))
    (array([2.]), array([2.]))
    """
    totals = np.zeros(X.shape[1])
    for _, _, columns in column_blocks(X):
        totals += fixed_order_sum(columns)
    means = totals / len(X)
    deviations = np.zeros(X.shape[1])
    for _, _, columns in column_blocks(X):
        centred = columns - means[:, None]
        deviations += fixed_order_sum(centred * centred)
    return means, deviations


def variance_partition(X: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Find k starting centres without chance: halve the widest part at its mean until there are k parts.

    The part with the largest sum of squared deviations is cut at the mean of its widest column. The result
    does not depend on a seed, hardly on outliers, and on the order of rows only through rounding.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    k : int
        How many centres.

    Returns
    -------
    ndarray of shape (k, d)
        Means of the parts. With fewer than k distinct rows the last centres repeat the first ones.

    Examples
    --------
    >>> variance_partition(np.array([[0.0], [1.0], [10.0], [11.0]]), 2)
    array([[ 0.5],
           [10.5]])
    """
    parts = [np.arange(len(X))]
    moments = [column_moments(X)]
    while len(parts) < k:
        totals = [float(deviations.max()) for _, deviations in moments]
        widest = int(np.argmax(totals))
        means, deviations = moments[widest]
        column = int(np.argmax(deviations))
        members = parts[widest]
        low = X[members, column] <= means[column]
        if totals[widest] == 0.0 or bool(low.all()) or not bool(low.any()):
            break
        halves = [members[low], members[~low]]
        parts[widest : widest + 1] = halves
        moments[widest : widest + 1] = [column_moments(X[half]) for half in halves]
    found = np.array([means for means, _ in moments])
    return np.ascontiguousarray(found[np.arange(k) % len(found)])


def random_rows(X: NDArray[np.float64], k: int, random_state: np.random.RandomState) -> NDArray[np.float64]:
    """Take k rows at random, without repeating a row index.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    k : int
        How many, at most n.
    random_state : numpy.random.RandomState
        Its stream is frozen by numpy, so a seed means the same rows in every version.

    Returns
    -------
    ndarray of shape (k, d)

    Examples
    --------
    >>> random_rows(np.arange(6.0).reshape(3, 2), 2, np.random.RandomState(0)).shape
    (2, 2)
    """
    return np.ascontiguousarray(X[random_state.permutation(len(X))[:k]])
