"""All compiled kernels; importing this module imports numba.

Formulas and their order are those of numpy's side. Here are the two nearest references of each row and the counts of
intervals; all others have files of their own, by what they are for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.atoms import (
    add_displacements,
    draw_nearer,
    draw_rows,
    group_moments,
    label_rows,
    meet_demand,
    turn_by_chance,
)
from sfumato.core.fast.clusters import (
    exact_parts,
    likely_nearest,
    push_inside,
    same_labels,
    solve_in_place,
    start_rows,
)
from sfumato.core.fast.compile import compiled
from sfumato.core.fast.floating_lloyd import weighted_rounds, weighted_starts
from sfumato.core.fast.key_stream import WORDS, expand_key, key_stream
from sfumato.core.fast.laws import (
    add_sized_uniform,
    add_table_law,
    add_uniform,
    draw_in_clusters,
    multiply_table_law,
    multiply_uniform,
    table_law,
)
from sfumato.core.fast.lloyd import few_lloyd_rounds, lloyd_rounds
from sfumato.core.fast.pieces import (
    add_correlated_to_rows,
    add_noise_to_rows,
    draw_rows_in_clusters,
    look_at_rows,
    moments_of_rows,
    normal_steps,
)
from sfumato.core.fast.products import add_product, multiply_columns, turn
from sfumato.core.fast.small_matrices import (
    cholesky_factor,
    exact_covariance,
    inverse_of_factor,
    small_product,
    sums_in_order,
)
from sfumato.core.fast.summing import changed_cells, grid_steps, hash_rows, lane_sum, turn_back, turn_rows
from sfumato.core.fast.walls import depths, guard_rows

__all__ = [
    "WORDS",
    "add_correlated_to_rows",
    "add_displacements",
    "add_noise_to_rows",
    "add_product",
    "add_sized_uniform",
    "add_table_law",
    "add_uniform",
    "changed_cells",
    "cholesky_factor",
    "count_intervals",
    "count_rows_in_intervals",
    "depths",
    "draw_in_clusters",
    "draw_nearer",
    "draw_rows",
    "draw_rows_in_clusters",
    "exact_covariance",
    "exact_parts",
    "expand_key",
    "few_lloyd_rounds",
    "grid_steps",
    "group_moments",
    "guard_rows",
    "hash_rows",
    "inverse_of_factor",
    "key_stream",
    "label_rows",
    "lane_sum",
    "likely_nearest",
    "lloyd_rounds",
    "look_at_rows",
    "meet_demand",
    "moments_of_rows",
    "multiply_columns",
    "multiply_table_law",
    "multiply_uniform",
    "normal_steps",
    "push_inside",
    "same_labels",
    "small_product",
    "solve_in_place",
    "start_rows",
    "sums_in_order",
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
_TURNED = 1 << 13  # rows of which every column is counted by itself: its intervals are the larger part of the cache


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
def count_intervals(
    tile: Any, low: Any, high: Any, sum_unit: float, square_unit: float, counts: Any, sums: Any, squares: Any
) -> None:
    """Add the values of all columns to the counts and sums of their intervals (`IntervalCounts.add`)."""
    n_intervals = counts.shape[1]
    interval, fine = np.empty(_PIECE, dtype=np.int64), np.empty(_PIECE, dtype=np.int64)
    for column in range(len(tile)):
        least, width = low[column], high[column] - low[column]
        count, total, square = counts[column], sums[column], np.int64(0)
        for start in range(0, tile.shape[1], _PIECE):
            values = tile[column, start : min(start + _PIECE, tile.shape[1])]
            for i in range(len(values)):  # where each value belongs, several at once; then each to its place
                place = (values[i] - least) / width * np.float64(n_intervals) if width > 0 else 0.0
                place = min(max(place, 0.0), np.float64(n_intervals))
                at = min(np.int64(place), np.int64(n_intervals - 1))
                place -= np.float64(at)
                interval[i], fine[i] = at, np.int64(np.rint(place * sum_unit))
                coarse = np.rint(place * square_unit)
                square += np.int64(coarse * coarse)
            for i in range(len(values)):
                count[interval[i]] += 1
                total[interval[i]] += fine[i]
        squares[column] += square


@compiled
def count_rows_in_intervals(
    rows: Any, low: Any, high: Any, sum_unit: float, square_unit: float, counts: Any, sums: Any, squares: Any
) -> None:
    """Do the same for rows as they lie in an array, some thousand at a time."""
    tile = np.empty((rows.shape[1], _TURNED + 8))  # columns a power of two apart would share one place in the cache
    for start in range(0, len(rows), _TURNED):
        part = rows[start : start + _TURNED]
        turn_rows(part, tile)
        count_intervals(tile[:, : len(part)], low, high, sum_unit, square_unit, counts, sums, squares)
