"""Undoing an invertible method on released rows, also where a cell is missing.

The map of an invertible method is affine. A missing cell stood in for the column's fill, so its original value is
known and its released one is not; the other cells of the row follow from a small linear system.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats
from sfumato.exceptions import DataError

Undo = Callable[[Floats, Sequence[Flags | None]], Floats]


def undo_map(inverse: Callable[[Floats], Floats], fills: Floats | None) -> Undo:
    """Return a map from a released tile and its missing cells to the original tile.

    Parameters
    ----------
    inverse : callable
        Undoes a complete tile of shape (columns, rows).
    fills : array of shape (d,), optional
        What stood for missing cells; None if there were none.

    Examples
    --------
    >>> undo = undo_map(lambda tile: np.array([[0.0, 1.0], [1.0, 1.0]]) @ tile, np.array([5.0, 7.0]))
    >>> released = np.array([[2.0, 2.0], [3.0, np.nan]])  # (x, y) is released as (y - x, x)
    >>> undo(released, [None, np.array([False, True])]).tolist()
    [[3.0, 5.0], [5.0, 7.0]]
    """

    def undo(tile: Floats, masks: Sequence[Flags | None]) -> Floats:
        holes = np.stack([np.zeros(tile.shape[1], dtype=np.bool_) if mask is None else mask for mask in masks])
        gappy = np.flatnonzero(holes.any(axis=0))
        filled = np.where(holes, 0.0, tile)
        out = inverse(filled.copy())
        if len(gappy):
            if fills is None:
                raise DataError("cells are missing that were not missing in the release", hint="use the released file")
            _solve_gaps(out, filled, holes, gappy, inverse, fills)
        return out

    return undo


def _solve_gaps(
    out: Floats,
    filled: Floats,
    holes: Flags,
    gappy: NDArray[np.intp],
    inverse: Callable[..., Floats],
    fills: Floats,
) -> None:
    d = len(out)
    centre = inverse(np.zeros((d, 1)))
    back = inverse(np.eye(d)) - centre  # columns: what one unit of each released column does
    patterns, which = np.unique(holes[:, gappy], axis=1, return_inverse=True)
    for i, pattern in enumerate(patterns.T):
        rows = gappy[which.ravel() == i]
        lost, kept = np.flatnonzero(pattern), np.flatnonzero(~pattern)
        # original = back @ released + centre; in the lost columns the original is the fill and the released unknown
        known = back[:, kept] @ filled[np.ix_(kept, rows)] + centre
        missing = np.linalg.solve(back[np.ix_(lost, lost)], fills[lost, None] - known[lost])
        out[:, rows] = known + back[:, lost] @ missing
