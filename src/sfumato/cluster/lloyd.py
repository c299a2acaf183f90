"""Lloyd's k-means from given starting centres, the same bits on every machine."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sfumato.cluster.fixed_order import checked_centres, checked_rows, column_blocks, squared_distances
from sfumato.cluster.starting_centres import column_moments
from sfumato.core.linear import fixed_order_sum
from sfumato.exceptions import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class LloydResult(NamedTuple):
    """What `lloyd_kmeans` found.

    Attributes
    ----------
    labels : array of integers
        Nearest centre of every row, shape (n,).
    centres : array
        Centres, shape (k, d).
    inertia : float
        Sum of squared distances of the rows to their centres.
    n_iter : int
        Rounds made.
    """

    labels: NDArray[np.int64]
    centres: NDArray[np.float64]
    inertia: float
    n_iter: int


def _assign(
    X: NDArray[np.float64], centres: NDArray[np.float64], labels: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64], float, bool]:
    """Write the nearest centres into `labels`; return sums, counts, inertia and whether a label changed."""
    k = len(centres)
    sums = np.zeros_like(centres)
    counts = np.zeros(k, dtype=np.int64)
    inertia, changed = 0.0, False
    for start, stop, columns in column_blocks(X):
        distances = squared_distances(columns, centres)
        block = np.argmin(distances, axis=0)
        changed = changed or not np.array_equal(block, labels[start:stop])
        labels[start:stop] = block
        inertia += float(fixed_order_sum(np.minimum.reduce(distances, axis=0)))
        counts += np.bincount(block, minlength=k)
        for index, column in enumerate(columns):
            # bincount adds one row after the other, in row order: a fixed order
            sums[:, index] += np.bincount(block, weights=column, minlength=k)
    return sums, counts, inertia, changed


def lloyd_kmeans(X: ArrayLike, centres: ArrayLike, *, max_iter: int = 300, tol: float = 0.0) -> LloydResult:
    """Run Lloyd's k-means from given starting centres.

    Equal distances go to the lowest index. A cluster that loses all its rows keeps its previous centre and may
    win rows back later. The labels, the inertia and the centres that are returned belong together: labels are
    the nearest of the returned centres.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    centres : array-like of shape (k, d)
        Starting centres, shared between the runs that are to be compared.
    max_iter : int
        Most times that the centres move. Default: 300.
    tol : float
        Stop when no coordinate of a centre moved by more than `tol` times the root mean variance of the columns;
        0 stops when no label changes. Default: 0.0.

    Returns
    -------
    LloydResult
        Named tuple (labels, centres, inertia, n_iter).

    Examples
    --------
    >>> found = lloyd_kmeans([[0.0], [1.0], [9.0], [10.0]], [[0.0], [1.0]])
    >>> found.labels, found.centres.ravel(), found.inertia
    (array([0, 0, 1, 1]), array([0.5, 9.5]), 1.0)
    """
    rows = checked_rows(X)
    current = checked_centres(centres, rows.shape[1]).copy()
    if not (isinstance(max_iter, int | np.integer) and max_iter >= 1):
        raise ParameterError(f"max_iter must be a whole number of at least 1, got {max_iter!r}")
    if not (math.isfinite(tol) and tol >= 0.0):
        raise ParameterError(f"tol must be a finite number of at least 0, got {tol!r}")
    limit = 0.0
    if tol > 0.0:
        limit = tol * math.sqrt(float(fixed_order_sum(column_moments(rows)[1])) / rows.size)
    labels = np.full(len(rows), -1, dtype=np.int64)
    sums, counts, inertia, _ = _assign(rows, current, labels)
    n_iter, settled = 0, False
    while n_iter < max_iter and not settled:
        n_iter += 1
        filled = counts > 0
        moved = np.where(filled[:, None], sums / np.maximum(counts, 1)[:, None], current)
        shift = float(np.abs(moved - current).max())
        current = moved
        sums, counts, inertia, changed = _assign(rows, current, labels)
        settled = not changed or shift <= limit
    return LloydResult(labels, current, inertia, n_iter)
