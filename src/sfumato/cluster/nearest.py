"""The nearest centre of every row, ties to the lowest index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.cluster.fixed_order import checked_centres, checked_rows, column_blocks, squared_distances

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def nearest_centre(X: ArrayLike, centres: ArrayLike) -> NDArray[np.int64]:
    """Return the index of the nearest centre of every row; equal distances go to the lowest index.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    centres : array-like of shape (k, d)
        Centres.

    Returns
    -------
    ndarray of shape (n,)
        Indices into `centres`, the same on every machine.

    Examples
    --------
    >>> nearest_centre([[0.0], [5.0], [9.0]], [[0.0], [10.0]])
    array([0, 0, 1])
    """
    rows = checked_rows(X)
    fixed = checked_centres(centres, rows.shape[1])
    labels = np.empty(len(rows), dtype=np.int64)
    for start, stop, columns in column_blocks(rows):
        labels[start:stop] = np.argmin(squared_distances(columns, fixed), axis=0)
    return labels
