"""A Hilbert curve through the rows, and the best groups along it.

Rows that are near on the curve are near in space; along a line, the best groups of k to 2k - 1 neighbours
are found exactly by dynamic programming.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats, Integers

_CHUNK = 1024  # rows whose groups are chosen together; a group does not cross chunks


def hilbert_order(tile: Floats) -> Integers:
    """Return the order of the rows along a Hilbert curve over the table's bounding box.

    Parameters
    ----------
    tile : array of shape (d, n), d <= 8

    Examples
    --------
    >>> square = np.array([[0.0, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]])
    >>> hilbert_order(square).tolist()
    [0, 2, 1, 3]
    """
    d = len(tile)
    bits = min(16, 62 // d)
    low = tile.min(axis=1)[:, None]
    width = tile.max(axis=1)[:, None] - low
    scaled = (tile - low) / np.where(width > 0, width, 1.0) * float(2**bits - 1)
    axes = scaled.astype(np.uint64)
    _to_transposed_index(axes, bits)
    index = np.zeros(tile.shape[1], dtype=np.uint64)
    for bit in range(bits - 1, -1, -1):
        for axis in axes:
            index = (index << np.uint64(1)) | ((axis >> np.uint64(bit)) & np.uint64(1))
    return np.argsort(index, kind="stable")


def _to_transposed_index(axes: NDArray[np.uint64], bits: int) -> None:
    """Turn coordinates into the curve's index in place, its bits spread over the axes (Skilling 2004)."""
    one = np.uint64(1)
    for bit in range(bits - 1, 0, -1):
        q = one << np.uint64(bit)
        below = q - one
        for i in range(len(axes)):
            set_here = (axes[i] & q) != 0
            swap = (axes[0] ^ axes[i]) & below
            axes[0] ^= np.where(set_here, below, swap)
            axes[i] ^= np.where(set_here, np.uint64(0), swap)
    for i in range(1, len(axes)):
        axes[i] ^= axes[i - 1]
    flip = np.zeros(axes.shape[1], dtype=np.uint64)
    for bit in range(bits - 1, 0, -1):
        q = one << np.uint64(bit)
        flip ^= np.where((axes[-1] & q) != 0, q - one, np.uint64(0))
    axes ^= flip


def curve_groups(tile: Floats, group_size: int) -> Integers:
    """Return a group number for each row: neighbours on the curve, group_size to 2 * group_size - 1 rows each.

    Parameters
    ----------
    tile : array of shape (d, n)
        Rows in units of the columns, n >= group_size.

    Examples
    --------
    >>> curve_groups(np.array([[0.0, 9.0, 0.1, 9.1, 0.2, 9.2]]), 3).tolist()
    [0, 1, 0, 1, 0, 1]
    """
    order = hilbert_order(tile)
    line = np.ascontiguousarray(tile[:, order])
    n_rows = line.shape[1]
    chunk = max(_CHUNK, 4 * group_size)
    full = max(0, n_rows // chunk - 1)  # the last chunk takes what is left over, at least a whole one
    starts: list[Integers] = []
    if full:
        blocks = line[:, : full * chunk].reshape(len(line), full, chunk)
        cuts = _best_cuts(blocks, group_size)
        starts.append(np.flatnonzero(cuts.ravel()))
    rest = _best_cuts(line[:, None, full * chunk :], group_size)
    starts.append(np.flatnonzero(rest[0]) + full * chunk)
    is_start = np.zeros(n_rows, dtype=np.int64)
    is_start[np.concatenate(starts)] = 1
    groups = np.empty(n_rows, dtype=np.int64)
    groups[order] = np.cumsum(is_start) - 1
    return groups


def _best_cuts(blocks: Floats, group_size: int) -> Flags:
    """Mark the first row of each group, for many lines of one length: shape (d, lines, rows)."""
    d, lines, length = blocks.shape
    middle = blocks[:, :, :1]
    prefix = np.zeros((d, lines, length + 1))
    np.cumsum(blocks - middle, axis=2, out=prefix[:, :, 1:])
    squares = np.zeros((lines, length + 1))
    np.cumsum(np.add.reduce((blocks - middle) * (blocks - middle), axis=0), axis=1, out=squares[:, 1:])
    cost = np.full((length + 1, lines), np.inf)
    cost[0] = 0.0
    choice = np.zeros((length + 1, lines), dtype=np.int64)
    for end in range(group_size, length + 1):
        for size in range(group_size, min(2 * group_size - 1, end) + 1):
            start = end - size
            sums = prefix[:, :, end] - prefix[:, :, start]
            scatter = squares[:, end] - squares[:, start] - np.add.reduce(sums * sums, axis=0) / size
            total = cost[start] + scatter
            better = total < cost[end]
            cost[end] = np.where(better, total, cost[end])
            choice[end] = np.where(better, size, choice[end])
    marks = np.zeros((lines, length), dtype=np.bool_)
    end_of = np.full(lines, length)
    everyone = np.arange(lines)
    while (end_of > 0).any():
        open_lines = everyone[end_of > 0]
        end_of[open_lines] -= choice[end_of[open_lines], open_lines]
        marks[open_lines, end_of[open_lines]] = True
    return marks
