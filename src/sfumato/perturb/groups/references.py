"""Reference points of independent noise: direct classification of a sample."""

from __future__ import annotations

from math import sqrt

import numpy as np

from sfumato._arrays import Floats


def direct_classification(sample: Floats, beta: float) -> Floats:
    """Return the running means of leader clustering with radius diagonal / beta.

    Each row joins its nearest mean if that is nearer than the radius, and founds a new one otherwise.

    Parameters
    ----------
    sample : array of shape (rows, d)
        In units of the columns.

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
