"""Rotations and matrix products in the fixed order of `core.linear`."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.compile import compiled

_PIECE = 512  # rows of a sum that stays in the first-level cache


@compiled
def turn(x: Any, y: Any, cosine: float, to_x: float, to_y: float) -> None:
    """(x, y) = (x * cosine + y * to_x, y * cosine - x * to_y), in place."""
    for i in range(len(x)):
        before_x, before_y = x[i], y[i]
        x[i] = before_x * cosine + before_y * to_x
        y[i] = before_y * cosine - before_x * to_y


@compiled
def multiply_columns(matrix: Any, tile: Any, out: Any) -> None:
    """Do out = matrix times tile, summed over the columns from first to last; weights of 0 are left out."""
    n_out, n_in = matrix.shape
    used = np.empty(n_in, dtype=np.int64)
    for start in range(0, tile.shape[1], _PIECE):
        stop = min(start + _PIECE, tile.shape[1])
        for i in range(n_out):
            count = 0
            for j in range(n_in):
                if matrix[i, j] != 0.0:
                    used[count] = j
                    count += 1
            target = out[i, start:stop]
            target[:] = 0.0
            k = 0
            while k + 4 <= count:  # four columns a sweep: the sum is read and written a quarter as often
                a, b, c, d = used[k], used[k + 1], used[k + 2], used[k + 3]
                wa, wb, wc, wd = matrix[i, a], matrix[i, b], matrix[i, c], matrix[i, d]
                xa, xb, xc, xd = tile[a, start:stop], tile[b, start:stop], tile[c, start:stop], tile[d, start:stop]
                for r in range(stop - start):
                    target[r] = (((target[r] + wa * xa[r]) + wb * xb[r]) + wc * xc[r]) + wd * xd[r]
                k += 4
            while k < count:
                weight, column = matrix[i, used[k]], tile[used[k], start:stop]
                for r in range(stop - start):
                    target[r] += weight * column[r]
                k += 1
