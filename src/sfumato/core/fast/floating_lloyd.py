"""k-means of weighted rows that stand on no lattice: starts, and Lloyd's rounds, each in one call without the lock.

Sums go from the first row to the last and from the first column to the last, as on numpy's side
(`cluster.weighted_kmeans`), so both have the same bits. Bounds leave out distances as in `core.fast.lloyd`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.clusters import _closer_rows
from sfumato.core.fast.compile import compiled
from sfumato.core.fast.lloyd import bounds_of, left_waiting, open_rows, square_lengths, two_nearest
from sfumato.core.fast.scores import PIECE, WIDE, take_rows

_FEW = 8  # rounds in which bounds save less than they cost
_SLACK = 1e-6  # of the longest row; distances that come from squares err by far less


@compiled
def weighted_starts(columns: Any, weights: Any, draws: Any, trials: int, chosen: Any) -> None:
    """Write the rows that k-means++ starts from, the best of some candidates each."""
    n = columns.shape[1]
    rows = np.empty(trials, dtype=np.int64)
    closer, nearest, cumulated = np.empty((trials, n)), np.full(n, np.inf), np.empty(n)
    total = 0.0
    for i in range(n):
        total += weights[i]
        cumulated[i] = total
    rows[0] = min(np.searchsorted(cumulated, draws[0] * total, side="right"), n - 1)
    chosen[0] = rows[0]
    _closer_rows(columns, rows[:1], nearest, closer)
    nearest[:] = closer[0]
    for j in range(1, len(chosen)):
        total = 0.0
        for i in range(n):
            total += weights[i] * nearest[i]
            cumulated[i] = total
        for c in range(trials):
            drawn = draws[1 + (j - 1) * trials + c] * total
            rows[c] = min(np.searchsorted(cumulated, drawn, side="right"), n - 1)
        _closer_rows(columns, rows, nearest, closer)
        best, least = 0, np.inf
        for c in range(trials):
            cost = 0.0
            for i in range(n):
                cost += weights[i] * closer[c, i]
            if cost < least:
                best, least = c, cost
        chosen[j] = rows[best]
        nearest[:] = closer[best]


@compiled
def weighted_rounds(columns: Any, weights: Any, centres: Any, rounds: int, limit: float, labels: Any) -> Any:
    """Run Lloyd's rounds until no label changes or centres move by less than the limit; return the cost.

    Centres and labels are written to, and belong together: labels are the nearest of these centres.
    """
    d, n = columns.shape
    k = len(centres)
    squares = square_lengths(columns)
    rows = np.empty((n, d))
    near, far = np.empty(n), np.empty(n)
    best = np.empty(PIECE, dtype=np.int64)
    least, second = np.empty(PIECE), np.empty(PIECE)
    for start in range(0, n, PIECE):
        stop = min(start + PIECE, n)
        for column in range(d):
            values = columns[column, start:stop]
            for i in range(stop - start):
                rows[start + i, column] = values[i]
        two_nearest(columns, start, stop, centres, best, least, second)
        for i in range(stop - start):
            labels[start + i] = best[i]
    slack = _SLACK * np.sqrt(squares.max())
    counts, sums, moved = np.empty(k), np.empty((k, d)), np.empty((k, d))
    ways, farther, alone = np.empty(k), np.empty(k), np.empty(k)
    part, waiting, everyone = np.empty((d, WIDE)), np.empty(2 * PIECE, dtype=np.int64), np.arange(n)
    bounded = False
    for turn in range(rounds):
        _weighted_sums(rows, weights, labels, counts, sums)
        shift = 0.0
        for j in range(k):
            for column in range(d):
                moved[j, column] = sums[j, column] / counts[j] if counts[j] > 0.0 else centres[j, column]
                away = moved[j, column] - centres[j, column]
                shift += away * away
        changed, held = False, 0
        if bounded:
            bounds_of(centres, moved, ways, farther, alone)
        centres[:] = moved
        for start in range(0, n, PIECE):
            stop = min(start + PIECE, n)
            if not bounded:
                two_nearest(columns, start, stop, centres, best, least, second)
                changed |= _take(everyone[start:stop], best, least, second, squares, near, far, labels)
                continue
            held = open_rows(start, stop, labels, ways, farther, alone, slack, near, far, waiting, held)
            while held >= PIECE or (stop == n and held > 0):
                measured = waiting[: min(held, PIECE)]
                m = take_rows(columns, measured, part)
                two_nearest(part, 0, m, centres, best, least, second)
                changed |= _take(measured, best, least, second, squares, near, far, labels)
                held = left_waiting(waiting, held)
        if not changed or shift <= limit:
            break
        bounded = turn + 1 >= _FEW
    cost = 0.0
    for i in range(n):
        own, score = labels[i], 0.0
        for column in range(d):
            away = rows[i, column] - centres[own, column]
            score += away * away
        cost += weights[i] * score
    return cost


@compiled
def _weighted_sums(rows: Any, weights: Any, labels: Any, counts: Any, sums: Any) -> None:
    counts[:] = 0.0
    sums[:] = 0.0
    for i in range(len(rows)):
        own, weight = labels[i], weights[i]
        counts[own] += weight
        row, target = rows[i], sums[own]
        for column in range(len(row)):
            target[column] += weight * row[column]


@compiled
def _take(measured: Any, best: Any, least: Any, second: Any, squares: Any, near: Any, far: Any, labels: Any) -> bool:
    """Write down what was measured of rows; tell whether one changes its cluster."""
    changed = False
    for at in range(len(measured)):
        row = measured[at]
        near[row] = np.sqrt(max(least[at] + squares[row], 0.0))
        far[row] = np.sqrt(max(second[at] + squares[row], 0.0))
        changed = changed or labels[row] != best[at]
        labels[row] = best[at]
    return changed
