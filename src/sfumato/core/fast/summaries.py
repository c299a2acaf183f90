"""What the passes of a fit compute: row hashes, steps of moments, counts of intervals. Integers, so exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.compile import compiled

_31, _32 = np.uint64(31), np.uint64(32)


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
def grid_steps(values: Any, middle: float, unit: float, steps: Any) -> tuple[np.int64, np.int64]:
    """Write a column's whole steps of its grid; return their sum and that of the rests in 2^-22 steps."""
    sum_of_steps, sum_of_rests = np.int64(0), np.int64(0)
    for i in range(len(values)):
        scaled = (values[i] - middle) / unit
        step = np.rint(scaled)
        steps[i] = step
        sum_of_steps += np.int64(step)
        sum_of_rests += np.int64(np.rint((scaled - step) * 2.0**22))
    return sum_of_steps, sum_of_rests


@compiled
def count_intervals(
    values: Any, low: float, high: float, sum_unit: float, square_unit: float, counts: Any, sums: Any
) -> np.int64:
    """Add a column's values to the counts and sums of their intervals; return the squares (`IntervalCounts.add`)."""
    n_intervals, squares = len(counts), np.int64(0)
    # both totals of an interval side by side: one line of the cache for each value instead of two
    totals = np.zeros((n_intervals, 2), dtype=np.int64)
    for i in range(len(values)):
        interval, place = np.int64(0), 0.0
        if high > low:
            place = (values[i] - low) / (high - low) * np.float64(n_intervals)
            place = min(max(place, 0.0), np.float64(n_intervals))
            interval = min(np.int64(place), np.int64(n_intervals - 1))
            place -= np.float64(interval)
        totals[interval, 0] += 1
        totals[interval, 1] += np.int64(np.rint(place * sum_unit))
        coarse = np.rint(place * square_unit)
        squares += np.int64(coarse * coarse)
    for k in range(n_intervals):
        counts[k] += totals[k, 0]
        sums[k] += totals[k, 1]
    return squares
