"""k-means of weighted rows that stand on no lattice: starts, and Lloyd's rounds, each in one call without the lock.

Sums go from the first row to the last and from the first column to the last, as on numpy's side
(`cluster.weighted_kmeans`), so both have the same bits. Bounds leave out distances as in `core.fast.lloyd`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.clusters import _closer_rows
from sfumato.core.fast.compile import compiled
from sfumato.core.fast.lloyd import _distance, _set_aside, _two_nearest, _ways

_PIECE = 512  # rows whose distances stay in the first-level cache
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
    rows, squares = np.empty((n, d)), np.zeros(n)
    near, far = np.empty(n), np.empty(n)
    best = np.empty(_PIECE, dtype=np.int64)
    least, second, total = np.empty(_PIECE), np.empty(_PIECE), np.empty(_PIECE)
    for start in range(0, n, _PIECE):
        stop = min(start + _PIECE, n)
        for column in range(d):
            values, square = columns[column, start:stop], squares[start:stop]
            for i in range(stop - start):
                rows[start + i, column] = values[i]
                square[i] += values[i] * values[i]
        _two_nearest(columns, start, stop, centres, best, least, second, total)
        for i in range(stop - start):
            labels[start + i] = best[i]
    slack = _SLACK * np.sqrt(squares.max())
    counts, sums, moved = np.empty(k), np.empty((k, d)), np.empty((k, d))
    ways, farther, alone = np.empty(k), np.empty(k), np.empty(k)
    part, waiting, apart = np.empty((d, _PIECE)), np.empty(_PIECE, dtype=np.int64), np.empty(_PIECE)
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
            _ways(centres, moved, ways, farther, alone)
        centres[:] = moved
        for start in range(0, n, _PIECE):
            stop = min(start + _PIECE, n)
            count = stop - start
            if bounded:
                count = 0
                for i in range(start, stop):
                    own = labels[i]
                    near[i] += ways[own]
                    far[i] -= farther[own]
                    apart[i - start] = max(far[i], alone[own]) - slack
                    count += near[i] >= apart[i - start]
            if 2 * count > stop - start:  # most of them: measuring all is faster than to pick them out
                _two_nearest(columns, start, stop, centres, best, least, second, total)
                for i in range(stop - start):
                    at = start + i
                    near[at] = np.sqrt(max(least[i] + squares[at], 0.0))
                    far[at] = np.sqrt(max(second[i] + squares[at], 0.0))
                    changed = changed or labels[at] != best[i]
                    labels[at] = best[i]
                continue
            for i in range(start, stop):
                if near[i] >= apart[i - start]:
                    near[i] = _distance(rows, i, centres, labels[i])
                if near[i] >= apart[i - start]:
                    held = _set_aside(rows, i, part, waiting, held)
                if held == _PIECE:
                    _two_nearest(part, 0, held, centres, best, least, second, total)
                    changed |= _take_all(waiting, held, best, least, second, squares, near, far, labels)
                    held = 0
        _two_nearest(part, 0, held, centres, best, least, second, total)
        changed |= _take_all(waiting, held, best, least, second, squares, near, far, labels)
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
def _take_all(
    waiting: Any, held: int, best: Any, least: Any, second: Any, squares: Any, near: Any, far: Any, labels: Any
) -> bool:
    """Write down what was measured of rows; tell whether one changes its cluster."""
    changed = False
    for at in range(held):
        row = waiting[at]
        near[row] = np.sqrt(max(least[at] + squares[row], 0.0))
        far[row] = np.sqrt(max(second[at] + squares[row], 0.0))
        changed = changed or labels[row] != best[at]
        labels[row] = best[at]
    return changed
