"""What rows score at centres, x.c - h, two centres at a time: the innermost loops of labels, walls and k-means.

Four columns of the rows are multiplied by the coordinates of two centres before a score is written back, so that
memory is not what the processor waits for. Every score is summed from the first column to the last.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.compile import compiled

LANE = 8  # numbers of a wide vector register
PIECE = 256  # rows whose scores stay in the first-level cache
WIDE = PIECE + LANE  # of an array of so many rows: columns a power of two apart would share one place in the cache


@compiled
def two_scores(
    rows: Any, start: int, stop: int, one: Any, other: Any, half: float, other_half: float, first: Any, second: Any
) -> None:
    """Write what rows start..stop-1 of `rows`, shape (d, n), score at two centres."""
    d, m = len(rows), stop - start
    for i in range(m):
        first[i] = 0.0 - half
        second[i] = 0.0 - other_half
    for column in range(0, d - 3, 4):
        r0, r1 = rows[column, start:stop], rows[column + 1, start:stop]
        r2, r3 = rows[column + 2, start:stop], rows[column + 3, start:stop]
        a0, a1, a2, a3 = one[column], one[column + 1], one[column + 2], one[column + 3]
        b0, b1, b2, b3 = other[column], other[column + 1], other[column + 2], other[column + 3]
        for i in range(m):
            first[i] = (((first[i] + a0 * r0[i]) + a1 * r1[i]) + a2 * r2[i]) + a3 * r3[i]
            second[i] = (((second[i] + b0 * r0[i]) + b1 * r1[i]) + b2 * r2[i]) + b3 * r3[i]
    for column in range(d - d % 4, d):
        values, a, b = rows[column, start:stop], one[column], other[column]
        for i in range(m):
            first[i] += a * values[i]
            second[i] += b * values[i]


@compiled
def by_group(of: Any, groups: int, order: Any, edges: Any) -> None:
    """Write the places of the rows of each group behind one another, and where each group begins and ends.

    Rows of negative groups are left out.
    """
    edges[:] = 0
    for i in range(len(of)):
        edges[of[i] + 1] += of[i] >= 0
    for group in range(groups):
        edges[group + 1] += edges[group]
    at = edges[:-1].copy()
    for i in range(len(of)):
        if of[i] >= 0:
            order[at[of[i]]] = i
            at[of[i]] += 1


@compiled
def take_rows(rows: Any, places: Any, part: Any) -> int:
    """Write some rows into the first columns of `part`, the first again up to a whole register; return how many.

    Loops of a whole number of registers are fast, however few rows there are.
    """
    d, m = len(rows), len(places)
    filled = -(-m // LANE) * LANE
    for column in range(d):
        values, target = rows[column], part[column]
        for i in range(m):
            target[i] = values[places[i]]
        for i in range(m, filled):
            target[i] = target[0]
    return filled


@compiled
def whole_step(value: Any, up: float, largest: float) -> Any:
    """Return a value in whole steps; see `core.linear.to_steps`."""
    return min(max(np.rint(value * up), -largest), largest)
