"""The rows of a table that are nearest to some of them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from sfumato._arrays import Flags, Floats
from sfumato.core.fast import compiled_kernels
from sfumato.core.sharing import share, sharing_here, threads_here
from sfumato.core.tiles import spans

_TREE, _FEW = 12, 1_000  # columns up to which a tree is faster, and rows
_TOGETHER = 2048  # rows at least that one thread asks for
_MORE = 5  # rows beyond those that are asked for, lest rounding leaves one out
_LINES, _PLACES = 128, 4096  # of a product that stays in the cache


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
        if compiled_kernels(self._rows.size) is not None:
            assert self._half  # made once, before threads ask for it
        parts = list(spans(len(asked), max(_TOGETHER, -(-len(asked) // (256 * sharing_here())) * 256)))
        found = share(lambda part: self._measured(asked[slice(*part)], count), parts)
        return np.concatenate([apart for apart, _ in found]), np.concatenate([near for _, near in found])

    def _measured(self, asked: Floats, count: int) -> tuple[Floats, NDArray[np.int64]]:
        fast = compiled_kernels(self._rows.size)
        likely, sure = (
            (None, np.zeros(len(asked), dtype=np.bool_)) if fast is None else self._likely(asked, count, fast)
        )
        apart, near = np.empty((len(asked), count)), np.empty((len(asked), count), dtype=np.int64)
        if likely is not None:
            apart[sure], near[sure] = self._first(asked[sure], likely[sure], count)
        if not sure.all():
            model = NearestNeighbors(algorithm="brute").fit(self._rows)
            others = model.kneighbors(asked[~sure], count, return_distance=False)
            apart[~sure], near[~sure] = self._first(asked[~sure], others, count)
        return apart, near

    def _first(self, asked: Floats, near: NDArray[np.int64], count: int) -> tuple[Floats, NDArray[np.int64]]:
        """Return the first of rows that may be the nearest, by their distances: products round."""
        apart = np.stack([np.sqrt(((asked - self._rows[other]) ** 2).sum(axis=1)) for other in near.T], axis=1)
        order = np.argsort(apart, axis=1, kind="stable")[:, :count]
        return np.take_along_axis(apart, order, axis=1), np.take_along_axis(near, order, axis=1)

    def _likely(self, asked: Floats, count: int, fast: Any) -> tuple[NDArray[np.int64], Flags]:
        """Return a few rows more than are asked for, by products in half the precision, and where that is enough."""
        middle, blocks, lengths = self._half
        rows = asked - middle
        with np.errstate(all="ignore"):  # what half the precision does not hold is not sure
            left = np.column_stack([-2.0 * rows, np.ones(len(rows))]).astype(np.float32)
        kept = min(count + _MORE, len(lengths))
        least = np.full((len(asked), kept), np.inf, dtype=np.float32)
        which = np.zeros((len(asked), kept), dtype=np.int64)
        fast.likely_nearest(left, blocks, _LINES, least, which)
        # of rows much farther out than these, none comes near by rounding
        reach = np.maximum(lengths[which].max(axis=1), (rows**2).sum(axis=1))
        doubt = 8.0 * left.shape[1] * float(np.finfo(np.float32).eps) * reach
        with np.errstate(all="ignore"):
            return which, least[:, -1] - least[:, count - 1] > doubt

    @cached_property
    def _half(self) -> tuple[Floats, NDArray[np.float32], Floats]:
        """The middle of the rows, the rows less that in half the precision, as blocks of columns, and their lengths."""
        middle = self._rows.mean(axis=0)
        rows = self._rows - middle
        lengths = (rows**2).sum(axis=1)
        places = min(_PLACES, len(rows))
        blocks = np.zeros((-(-len(rows) // places), rows.shape[1] + 1, places), dtype=np.float32)
        blocks[:, -1] = np.inf  # nobody is near to where no row is
        with np.errstate(all="ignore"):
            for block, (start, stop) in zip(blocks, spans(len(rows), places), strict=True):
                block[:-1, : stop - start], block[-1, : stop - start] = rows[start:stop].T, lengths[start:stop]
        return middle, blocks, lengths
