"""What every fit and release computes a piece of rows at a time: tiles turned and back, lanes of hashes, moments."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.compile import compiled

_TURNED = 512  # rows that stay in the cache while they are looked at and turned
_29, _31, _32 = np.uint64(29), np.uint64(31), np.uint64(32)


@compiled
def turn_rows(rows: Any, out: Any) -> None:
    """Write rows of shape (n, d) as columns of shape (d, n): eight rows at a time fill a line of the cache."""
    n, d = rows.shape
    for start in range(0, n - 7, 8):
        r0, r1, r2, r3 = rows[start], rows[start + 1], rows[start + 2], rows[start + 3]
        r4, r5, r6, r7 = rows[start + 4], rows[start + 5], rows[start + 6], rows[start + 7]
        for column in range(d):
            target = out[column, start : start + 8]
            target[0], target[1], target[2], target[3] = r0[column], r1[column], r2[column], r3[column]
            target[4], target[5], target[6], target[7] = r4[column], r5[column], r6[column], r7[column]
    for i in range(n - n % 8, n):
        for column in range(d):
            out[column, i] = rows[i, column]


@compiled
def turn_back(tile: Any, out: Any) -> bool:
    """Write columns of shape (d, n or more) as rows of shape (n, d); tell whether all of them are finite."""
    n, d = out.shape
    bad = 0
    for start in range(0, n, _TURNED):
        stop = min(start + _TURNED, n)
        for column in range(d):
            values = tile[column, start:stop]
            for i in range(stop - start):
                bad += values[i] - values[i] != 0.0
        for first in range(start, stop - 7, 8):
            for column in range(d):
                values = tile[column, first : first + 8]
                for i in range(8):
                    out[first + i, column] = values[i]
        for i in range(stop - (stop - start) % 8, stop):
            for column in range(d):
                out[i, column] = tile[column, i]
    return bad == 0


@compiled
def changed_cells(before: Any, after: Any, counts: Any) -> None:
    """Add to each column how many of its cells differ; arrays of shape (n, d)."""
    n, d = before.shape
    for i in range(n):
        one, other = before[i], after[i]
        for column in range(d):
            counts[column] += one[column] != other[column]


@compiled
def hash_rows(tile: Any, multipliers: Any, spread: Any, total: Any) -> None:
    """Do total = the hashes of `RowHasher.rows`."""
    total[:] = np.uint64(0)
    for column in range(tile.shape[0]):
        values, multiplier = tile[column], multipliers[column]
        for i in range(len(total)):
            bits = np.float64(values[i] + 0.0).view(np.uint64)
            bits ^= bits >> _31
            bits *= spread
            bits ^= bits >> _32
            bits *= multiplier
            bits ^= bits >> _32
            total[i] += bits
    for i in range(len(total)):
        total[i] *= spread


@compiled
def lane_sum(hashes: Any, labels: Any, place: Any, first: Any, second: Any) -> Any:
    """Return one lane of `RowHasher.lanes`."""
    total = np.uint64(0)
    for i in range(len(hashes)):
        mixed = hashes[i] + labels[i] * place
        mixed ^= mixed >> _32
        mixed *= first
        mixed ^= mixed >> _29
        mixed *= second
        mixed ^= mixed >> _32
        total += mixed
    return total


@compiled
def grid_steps(tile: Any, middle: Any, unit: Any, steps: Any, sums: Any, rests: Any, squares: Any) -> None:
    """Add a tile's whole steps of the grid, their rests in 2^-22 steps and their squares; see `core.summaries.Moments`.

    The steps themselves are written where there is room for them.
    """
    for column in range(len(tile)):
        values = tile[column]
        total, rest, square = np.int64(0), np.int64(0), np.int64(0)
        keep = column < len(steps)
        for i in range(len(values)):
            scaled = (values[i] - middle[column]) / unit[column]
            step = np.rint(scaled)
            whole = np.int64(step)
            total += whole
            square += whole * whole
            rest += np.int64(np.rint((scaled - step) * 2.0**22))
            if keep:
                steps[column, i] = step
        sums[column] += total
        rests[column] += rest
        squares[column] += square
