"""The rows of a table that are nearest to some of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from sfumato._arrays import Floats
from sfumato.core.sharing import share, sharing_here, threads_here
from sfumato.core.tiles import spans

_TREE, _FEW = 12, 1_000  # columns up to which a tree is faster, and rows
_TOGETHER = 2048  # rows at least that one thread asks for


class RowIndex:
    """Finds the rows of a table that are nearest to some of them.

    Parameters
    ----------
    rows : array of shape (n, d)

    Examples
    --------
    >>> RowIndex(np.array([[0.0], [1.0], [5.0]])).nearest(np.array([0, 2]), 2)[1].tolist()
    [[0, 1], [2, 1]]
    """

    def __init__(self, rows: Floats) -> None:
        self._rows = rows
        self._tree = cKDTree(rows) if rows.shape[1] <= _TREE or len(rows) < _FEW else None

    def nearest(self, places: NDArray[np.int64], count: int) -> tuple[Floats, NDArray[np.int64]]:
        """Return how far the nearest rows of some rows are, themselves among them, and which; the nearest first.

        Parameters
        ----------
        places : array of shape (m,)
            Where the rows stand that are asked for.
        count : int
            At most n.

        Returns
        -------
        tuple of two arrays of shape (m, count)
        """
        asked = self._rows[places]
        if self._tree is not None:
            apart, near = self._tree.query(asked, k=count, workers=min(threads_here(), 1 + len(asked) // _TOGETHER))
            return np.asarray(apart), np.asarray(near)
        if not len(asked):
            return np.empty((0, count)), np.empty((0, count), dtype=np.int64)
        # in many dimensions a tree looks at nearly all rows, and products of matrices look at them faster
        model = NearestNeighbors(algorithm="brute").fit(self._rows)
        parts = list(spans(len(asked), max(_TOGETHER, -(-len(asked) // (256 * sharing_here())) * 256)))
        found = share(lambda part: self._measured(model, asked[slice(*part)], count), parts)
        return np.concatenate([apart for apart, _ in found]), np.concatenate([near for _, near in found])

    def _measured(self, model: NearestNeighbors, asked: Floats, count: int) -> tuple[Floats, NDArray[np.int64]]:
        near = model.kneighbors(asked, count, return_distance=False)
        apart = np.stack([np.sqrt(((asked - self._rows[other]) ** 2).sum(axis=1)) for other in near.T], axis=1)
        order = np.argsort(apart, axis=1, kind="stable")  # products round: rows nearly as near may change places
        return np.take_along_axis(apart, order, axis=1), np.take_along_axis(near, order, axis=1)
