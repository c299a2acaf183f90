"""Reference points of independent noise: direct classification of a sample, and distances to them."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

__all__ = ["direct_classification", "two_nearest"]

Floats = NDArray[np.float64]


def direct_classification(sample: Floats, beta: float) -> Floats:
    """Return the running means of leader clustering with radius diagonal / beta.

    Each row joins its nearest mean if that is nearer than the radius, and founds a new one otherwise.

    Parameters
    ----------
    sample : array of shape (rows, d)
        In units of the columns.
    beta : float

    Returns
    -------
    array of shape (references, d)

    Examples
    --------
    >>> direct_classification(np.array([[0.0], [1.0], [10.0]]), beta=5.0).tolist()
    [[0.5], [10.0]]
    """
    diagonal = sample.max(axis=0) - sample.min(axis=0)
    radius = sqrt(float(np.add.reduce(diagonal * diagonal))) / beta
    means = np.empty_like(sample)
    counts = np.zeros(len(sample))
    found = 0
    for row in sample:
        if found:
            gaps = means[:found] - row
            squares = np.add.reduce(np.ascontiguousarray((gaps * gaps).T), axis=0)
            nearest = int(np.argmin(squares))
            if sqrt(float(squares[nearest])) < radius:
                means[nearest] = (means[nearest] * counts[nearest] + row) / (counts[nearest] + 1.0)
                counts[nearest] += 1.0
                continue
        means[found], counts[found] = row, 1.0
        found += 1
    return means[:found].copy()


def two_nearest(tile: Floats, references: Floats) -> tuple[Floats, Floats]:
    """Return each row's distances to its nearest and its second nearest reference.

    Parameters
    ----------
    tile : array of shape (d, rows)
        In units of the columns.
    references : array of shape (b, d), b >= 2

    Examples
    --------
    >>> nearest, second = two_nearest(np.array([[1.0]]), np.array([[0.0], [5.0], [3.0]]))
    >>> nearest.tolist(), second.tolist()
    ([1.0], [2.0])
    """
    n_rows = tile.shape[1]
    best = np.full(n_rows, np.inf)
    second = np.full(n_rows, np.inf)
    total, gap = np.empty(n_rows), np.empty(n_rows)
    for reference in references:
        total[...] = 0.0
        for values, centre in zip(tile, reference, strict=True):
            np.subtract(values, centre, out=gap)
            gap *= gap
            total += gap
        np.maximum(best, total, out=gap)
        np.minimum(second, gap, out=second)
        np.minimum(best, total, out=best)
    return np.sqrt(best), np.sqrt(second)
