"""Equal rows become one point with a weight: duplicates would otherwise be each other's only neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Rows closer than this share of their size are one point: a rotation computed in blocks moves equal rows apart
# by rounding only.
_SAME = 1e-13


class Points(NamedTuple):
    """Distinct rows."""

    positions: NDArray[np.float64]
    """Coordinates, shape (p, d), their box centred and shrunk to a size of about one."""
    weights: NDArray[np.int64]
    """How many rows lie on each point, shape (p,)."""
    of_row: NDArray[np.int64]
    """The point of every row, shape (n,)."""


def _numbered_by_first_row(groups: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Renumber groups in the order of their first member; return the new numbers and those first members."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[inverse], first[order]


def _joined_by_rounding(positions: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Give points that differ by rounding only the same group.

    Such points stand next to each other when all are sorted along any direction; a direction without special
    relation to the axes keeps other points out from between them.
    """
    direction = np.asarray(np.random.RandomState(0).random_sample(positions.shape[1]))
    along = np.zeros(len(positions))
    for column, factor in enumerate(direction):
        along += positions[:, column] * (1.0 + factor)
    order = np.argsort(along, kind="stable")
    steps = np.abs(np.diff(positions[order], axis=0)).max(axis=1)
    groups = np.empty(len(positions), dtype=np.int64)
    groups[order] = np.concatenate([[0], np.cumsum(steps > _SAME * sizes[order[1:]])])
    return groups


def distinct_points(X: NDArray[np.float64]) -> Points:
    """Join equal rows into weighted points, numbered by their first row.

    Numbering by rows, not by coordinates, gives the same graph after the data are moved or turned.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.

    Examples
    --------
    >>> points = distinct_points(np.array([[5.0], [1.0], [5.0]]))
    >>> points.positions.ravel(), points.weights, points.of_row
    (array([ 0.25, -0.25]), array([2, 1]), array([0, 1, 0]))
    """
    low, high = X.min(axis=0), X.max(axis=0)
    # A power of two: shrinking by it is exact, and squares of tiny distances do not vanish.
    exponent = int(np.frexp((high - low).max())[1])
    _, groups = np.unique(X, axis=0, return_inverse=True)
    of_row, first = _numbered_by_first_row(groups.reshape(-1).astype(np.int64))
    positions = np.ldexp(X[first] - (low + (high - low) / 2.0), -exponent)
    joined, kept = _numbered_by_first_row(
        _joined_by_rounding(positions, np.ldexp(np.abs(X[first]).max(axis=1), -exponent))
    )
    of_row, positions = joined[of_row], positions[kept]
    return Points(positions, np.bincount(of_row, minlength=len(positions)).astype(np.int64), of_row)
