"""All compiled kernels; importing this module imports numba.

Formulas and their order are those of numpy's side: rotations and products of `core.tile_maps`, random words to noise of
`core.variates`, the two nearest references of each row, the draws of 1-d clustering; and what the passes of a fit
compute (row hashes, steps of moments, counts of intervals: integers, so exact).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.atoms import add_displacements, draw_rows, group_moments, label_rows, turn_by_chance
from sfumato.core.fast.clusters import (
    exact_parts,
    keep_least,
    push_inside,
    same_labels,
    solve_in_place,
    start_rows,
)
from sfumato.core.fast.compile import compiled
from sfumato.core.fast.floating_lloyd import weighted_rounds, weighted_starts
from sfumato.core.fast.lloyd import few_lloyd_rounds, lloyd_rounds
from sfumato.core.fast.summing import changed_cells, grid_steps, lane_sum, turn_back, turn_rows
from sfumato.core.fast.walls import depths, guard_rows

__all__ = [
    "add_displacements",
    "add_product",
    "add_sized_uniform",
    "add_table_law",
    "add_uniform",
    "changed_cells",
    "count_intervals",
    "depths",
    "draw_in_clusters",
    "draw_rows",
    "exact_parts",
    "few_lloyd_rounds",
    "grid_steps",
    "group_moments",
    "guard_rows",
    "hash_rows",
    "keep_least",
    "label_rows",
    "lane_sum",
    "lloyd_rounds",
    "multiply_columns",
    "multiply_table_law",
    "multiply_uniform",
    "push_inside",
    "same_labels",
    "solve_in_place",
    "start_rows",
    "table_law",
    "turn",
    "turn_back",
    "turn_by_chance",
    "turn_rows",
    "two_nearest_squares",
    "weighted_rounds",
    "weighted_starts",
]
_PIECE = 512  # rows of a sum that stays in the first-level cache
_HALF_BITS = np.float64(0.5).view(np.uint64) >> np.uint64(46)
_LOW_46 = np.uint64((1 << 46) - 1)
_ONE = np.float64(1.0).view(np.uint64)
_6, _12, _46, _63 = np.uint64(6), np.uint64(12), np.uint64(46), np.uint64(63)
_WORDS = 2048  # words whose segments are kept in the first-level cache
_31, _32 = np.uint64(31), np.uint64(32)


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


@compiled
def two_nearest_squares(tile: Any, references: Any, best: Any, second: Any) -> None:
    """Write each row's smallest and second smallest squared distance to a reference."""
    d = tile.shape[0]
    total = np.empty(_PIECE)
    for start in range(0, len(best), _PIECE):
        stop = min(start + _PIECE, len(best))
        nearest, other = best[start:stop], second[start:stop]
        n = len(nearest)
        nearest[:] = np.inf
        other[:] = np.inf
        for r in range(len(references)):
            place = references[r]
            for i in range(n):
                total[i] = 0.0
            done = 0
            while done + 4 <= d:  # four columns at once: the sums are read and written a quarter as often
                a, b = tile[done, start:stop], tile[done + 1, start:stop]
                c, e = tile[done + 2, start:stop], tile[done + 3, start:stop]
                pa, pb, pc, pe = place[done], place[done + 1], place[done + 2], place[done + 3]
                for i in range(n):
                    ga, gb, gc, ge = a[i] - pa, b[i] - pb, c[i] - pc, e[i] - pe
                    total[i] = (((total[i] + ga * ga) + gb * gb) + gc * gc) + ge * ge
                done += 4
            for column in range(done, d):
                values, centre = tile[column, start:stop], place[column]
                for i in range(n):
                    gap = values[i] - centre
                    total[i] += gap * gap
            for i in range(n):
                apart, least = total[i], nearest[i]
                farther = max(least, apart)
                nearest[i] = min(least, apart)
                other[i] = min(other[i], farther)


@compiled
def draw_in_clusters(values: Any, words: Any, low: float, high: float, cluster_of: Any, means: Any, radii: Any) -> None:
    """Do values = symmetric_uniform(words) * radius + mean, of the cluster in which each value lies."""
    n_intervals = len(cluster_of)
    for i in range(len(values)):
        interval = np.int64(0)
        if high > low:
            place = (values[i] - low) / (high - low) * np.float64(n_intervals)
            place = min(max(place, 0.0), np.float64(n_intervals))
            interval = min(np.int64(place), np.int64(n_intervals - 1))
        cluster = cluster_of[interval]
        k = np.float64(np.int64(words[i] >> _12))
        values[i] = (k * 2.0**-51 + (2.0**-52 - 1.0)) * radii[cluster] + means[cluster]


@compiled
def add_uniform(values: Any, words: Any, scale: float) -> None:
    """Do values += symmetric_uniform(words) * scale."""
    for i in range(len(values)):
        k = np.float64(np.int64(words[i] >> _12))
        values[i] += (k * 2.0**-51 + (2.0**-52 - 1.0)) * scale


@compiled
def add_sized_uniform(values: Any, words: Any, sizes: Any) -> None:
    """Do values += symmetric_uniform(words) * sizes."""
    for i in range(len(values)):
        k = np.float64(np.int64(words[i] >> _12))
        values[i] += (k * 2.0**-51 + (2.0**-52 - 1.0)) * sizes[i]


@compiled
def multiply_uniform(values: Any, words: Any, scale: float) -> None:
    """Do values *= symmetric_uniform(words) * scale + 1."""
    for i in range(len(values)):
        k = np.float64(np.int64(words[i] >> _12))
        values[i] *= (k * 2.0**-51 + (2.0**-52 - 1.0)) * scale + 1.0


@compiled
def _sizes(words: Any, table: Any, segment: Any, out: Any) -> None:
    """Write the variates without their signs; three loops, of which only the one with look-ups stays scalar."""
    n = len(words)
    for i in range(n):
        v = np.float64(np.int64(words[i] >> _12)) + 0.5
        bits = np.float64(v).view(np.uint64)
        segment[i] = np.uint32((bits >> _46) - _HALF_BITS)
        inside = ((bits & _LOW_46) << _6) | _ONE
        out[i] = np.uint64(inside).view(np.float64) - 1.0
    for i in range(n):
        s, p = np.uint64(segment[i]), out[i]  # unsigned: a signed index is also tested for counting from the end
        out[i] = ((table[s, 3] * p + table[s, 2]) * p + table[s, 1]) * p + table[s, 0]


@compiled
def _signed(size: float, word: Any) -> Any:
    return np.uint64(np.float64(size).view(np.uint64) ^ (word << _63)).view(np.float64)


@compiled
def table_law(words: Any, table: Any, out: Any) -> None:
    """Write the variates of a law whose cubics are the rows of `table`, shape (segments, 4)."""
    segment = np.empty(_WORDS, dtype=np.uint32)
    for start in range(0, len(words), _WORDS):
        piece = words[start : start + _WORDS]
        target = out[start : start + len(piece)]
        _sizes(piece, table, segment, target)
        for i in range(len(piece)):
            target[i] = _signed(target[i], piece[i])


@compiled
def add_table_law(values: Any, words: Any, table: Any, scale: float) -> None:
    """Do values += law(words) * scale."""
    segment, size = np.empty(_WORDS, dtype=np.uint32), np.empty(_WORDS)
    for start in range(0, len(words), _WORDS):
        piece, target = words[start : start + _WORDS], values[start : start + _WORDS]
        _sizes(piece, table, segment, size)
        for i in range(len(piece)):
            target[i] += _signed(size[i], piece[i]) * scale


@compiled
def multiply_table_law(values: Any, words: Any, table: Any, scale: float) -> None:
    """Do values *= law(words) * scale + 1."""
    segment, size = np.empty(_WORDS, dtype=np.uint32), np.empty(_WORDS)
    for start in range(0, len(words), _WORDS):
        piece, target = words[start : start + _WORDS], values[start : start + _WORDS]
        _sizes(piece, table, segment, size)
        for i in range(len(piece)):
            target[i] *= _signed(size[i], piece[i]) * scale + 1.0


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
