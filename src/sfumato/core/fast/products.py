"""Rotations and products of tiles, column by column: the formulas of `core.tile_maps`."""

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
def _weighted_sum(weights: Any, tile: Any, start: int, stop: int, used: Any, target: Any) -> None:
    """Do target = weights times a piece of a tile, summed from first to last; weights of 0 are left out."""
    count = 0
    for j in range(len(weights)):
        if weights[j] != 0.0:
            used[count] = j
            count += 1
    target[:] = 0.0
    k = 0
    while k + 4 <= count:  # four columns a sweep: the sum is read and written a quarter as often
        a, b, c, d = used[k], used[k + 1], used[k + 2], used[k + 3]
        wa, wb, wc, wd = weights[a], weights[b], weights[c], weights[d]
        xa, xb, xc, xd = tile[a, start:stop], tile[b, start:stop], tile[c, start:stop], tile[d, start:stop]
        for r in range(stop - start):
            target[r] = (((target[r] + wa * xa[r]) + wb * xb[r]) + wc * xc[r]) + wd * xd[r]
        k += 4
    while k < count:
        weight, column = weights[used[k]], tile[used[k], start:stop]
        for r in range(stop - start):
            target[r] += weight * column[r]
        k += 1


@compiled
def multiply_columns(matrix: Any, tile: Any, out: Any) -> None:
    """Do out = matrix times tile, summed over the columns from first to last; weights of 0 are left out."""
    used = np.empty(matrix.shape[1], dtype=np.int64)
    for start in range(0, tile.shape[1], _PIECE):
        stop = min(start + _PIECE, tile.shape[1])
        for i in range(len(matrix)):
            _weighted_sum(matrix[i], tile, start, stop, used, out[i, start:stop])


@compiled
def add_product(matrix: Any, tile: Any, out: Any) -> None:
    """Do out += matrix times tile, each sum as in `multiply_columns`."""
    used, total = np.empty(matrix.shape[1], dtype=np.int64), np.empty(_PIECE)
    for start in range(0, tile.shape[1], _PIECE):
        stop = min(start + _PIECE, tile.shape[1])
        for i in range(len(matrix)):
            target = out[i, start:stop]
            _weighted_sum(matrix[i], tile, start, stop, used, total[: stop - start])
            for r in range(stop - start):
                target[r] += total[r]
