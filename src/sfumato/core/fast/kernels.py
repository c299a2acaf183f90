"""All compiled kernels; importing this module imports numba."""

from __future__ import annotations

from sfumato.core.fast.clusters import lloyd_rounds, push_inside
from sfumato.core.fast.distances import two_nearest_squares
from sfumato.core.fast.intervals import draw_in_clusters
from sfumato.core.fast.linear import multiply_columns, turn
from sfumato.core.fast.noise import (
    add_sized_uniform,
    add_table_law,
    add_uniform,
    multiply_table_law,
    multiply_uniform,
    table_law,
)
from sfumato.core.fast.summaries import count_intervals, grid_steps, hash_rows

__all__ = [
    "add_sized_uniform",
    "add_table_law",
    "add_uniform",
    "count_intervals",
    "draw_in_clusters",
    "grid_steps",
    "hash_rows",
    "lloyd_rounds",
    "multiply_columns",
    "multiply_table_law",
    "multiply_uniform",
    "push_inside",
    "table_law",
    "turn",
    "two_nearest_squares",
]
