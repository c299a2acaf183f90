"""Lloyd's rounds on a lattice, without the distances that cannot change a label.

Every row keeps a bound on the distance to its own centre and one on the distance to any other. Centres that move widen
both by as much as they move; while the bounds do not meet, the row's centre is the nearest, and nothing is computed
(Hamerly 2010). Rows whose bounds meet are measured exactly, so the labels are those of measuring every row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.clusters import exact_parts
from sfumato.core.fast.compile import compiled

_PIECE = 512  # rows whose distances stay in the first-level cache
_SLACK = 2.0**-8  # steps; the bounds are sums of at most some hundred doubles below 2^27, so they err by far less


@compiled
def lloyd_rounds(steps: Any, centres: Any, rounds: int, labels: Any, counts: Any, sums: Any) -> Any:
    """Run Lloyd's rounds until no label changes; return the sum of all squares as (high, low): high 2^26 + low.

    Centres, labels, and the counts and sums of the clusters are written to.
    """
    d, n = steps.shape
    k = len(centres)
    rows = np.empty((n, d))
    squares = np.zeros(n)
    near, far = np.empty(n), np.empty(n)  # bounds: at most so far from the own centre, at least from all others
    best = np.empty(_PIECE, dtype=np.int64)
    least, second, total = np.empty(_PIECE), np.empty(_PIECE), np.empty(_PIECE)
    for start in range(0, n, _PIECE):
        stop = min(start + _PIECE, n)
        for column in range(d):
            values, square = steps[column, start:stop], squares[start:stop]
            for i in range(stop - start):
                rows[start + i, column] = values[i]
                square[i] += values[i] * values[i]
        _two_nearest(steps, start, stop, centres, best, least, second, total)
        for i in range(stop - start):
            labels[start + i] = best[i]
            near[start + i] = np.sqrt(least[i] + squares[start + i])
            far[start + i] = np.sqrt(second[i] + squares[start + i])
            counts[best[i]] += 1.0
            for column in range(d):  # sums of whole numbers below 2^53 are exact in any order
                sums[best[i], column] += rows[start + i, column]
    moved = np.empty((k, d))
    ways, farther, alone = np.empty(k), np.empty(k), np.empty(k)
    part, waiting, apart = np.empty((d, _PIECE)), np.empty(_PIECE, dtype=np.int64), np.empty(_PIECE)
    for _ in range(rounds):
        still = True
        for j in range(k):
            for column in range(d):
                moved[j, column] = np.rint(sums[j, column] / counts[j]) if counts[j] > 0.0 else centres[j, column]
                still = still and moved[j, column] == centres[j, column]
        if still:
            break
        _ways(centres, moved, ways, farther, alone)
        centres[:] = moved
        changed, held = False, 0
        for start in range(0, n, _PIECE):
            stop = min(start + _PIECE, n)
            count = 0
            for i in range(start, stop):
                own = labels[i]
                near[i] += ways[own]
                far[i] -= farther[own]
                apart[i - start] = max(far[i], alone[own]) - _SLACK
                count += near[i] >= apart[i - start]
            if 2 * count > stop - start:  # most of them: measuring all is faster than to pick them out
                _two_nearest(steps, start, stop, centres, best, least, second, total)
                for at in range(stop - start):
                    found = best[at], least[at], second[at]
                    changed |= _take(start + at, found, rows, squares, near, far, labels, counts, sums)
                continue
            for i in range(start, stop):
                if near[i] >= apart[i - start]:
                    near[i] = _distance(rows, i, centres, labels[i])
                if near[i] >= apart[i - start]:
                    held = _set_aside(rows, i, part, waiting, held)
                if held == _PIECE:
                    _two_nearest(part, 0, held, centres, best, least, second, total)
                    for at in range(held):
                        found = best[at], least[at], second[at]
                        changed |= _take(waiting[at], found, rows, squares, near, far, labels, counts, sums)
                    held = 0
        _two_nearest(part, 0, held, centres, best, least, second, total)
        for at in range(held):
            found = best[at], least[at], second[at]
            changed |= _take(waiting[at], found, rows, squares, near, far, labels, counts, sums)
        if not changed:
            break
    return exact_parts(squares)


@compiled
def few_lloyd_rounds(steps: Any, centres: Any, rounds: int, labels: Any, counts: Any, sums: Any) -> Any:
    """Do the same by measuring every row: for the first rounds, in which centres move too far for bounds to help."""
    d, n = steps.shape
    k = len(centres)
    best = np.empty(_PIECE, dtype=np.int64)
    least, second, total = np.empty(_PIECE), np.empty(_PIECE), np.empty(_PIECE)
    moved = np.empty((k, d))
    for start in range(0, n, _PIECE):
        stop = min(start + _PIECE, n)
        _two_nearest(steps, start, stop, centres, best, least, second, total)
        for i in range(stop - start):
            labels[start + i] = best[i]
            counts[best[i]] += 1.0
        for column in range(d):
            values = steps[column, start:stop]
            for i in range(stop - start):
                sums[best[i], column] += values[i]
    for _ in range(rounds):
        still, changed = True, False
        for j in range(k):
            for column in range(d):
                moved[j, column] = np.rint(sums[j, column] / counts[j]) if counts[j] > 0.0 else centres[j, column]
                still = still and moved[j, column] == centres[j, column]
        if still:
            break
        centres[:] = moved
        for start in range(0, n, _PIECE):
            stop = min(start + _PIECE, n)
            _two_nearest(steps, start, stop, centres, best, least, second, total)
            for i in range(stop - start):
                before, now = labels[start + i], best[i]
                if now != before:
                    changed = True
                    labels[start + i] = now
                    counts[before] -= 1.0
                    counts[now] += 1.0
                    for column in range(d):
                        sums[before, column] -= steps[column, start + i]
                        sums[now, column] += steps[column, start + i]
        if not changed:
            break
    high, low = np.int64(0), np.int64(0)
    for start in range(0, n, _PIECE):
        stop = min(start + _PIECE, n)
        total[:] = 0.0
        for column in range(d):
            values = steps[column, start:stop]
            for i in range(stop - start):
                total[i] += values[i] * values[i]
        parts = exact_parts(total[: stop - start])
        high += parts[0]
        low += parts[1]
    return high, low


@compiled
def _take(
    row: int, found: Any, rows: Any, squares: Any, near: Any, far: Any, labels: Any, counts: Any, sums: Any
) -> bool:
    """Write down what was measured of a row; tell whether it changes its cluster."""
    now, least, second = found
    near[row] = np.sqrt(least + squares[row])
    far[row] = np.sqrt(second + squares[row])
    before = labels[row]
    if now == before:
        return False
    labels[row] = now
    counts[before] -= 1.0
    counts[now] += 1.0
    for column in range(rows.shape[1]):
        sums[before, column] -= rows[row, column]
        sums[now, column] += rows[row, column]
    return True


@compiled
def _set_aside(rows: Any, row: int, part: Any, waiting: Any, held: int) -> int:
    """Let a row wait to be measured with others; return how many wait."""
    for column in range(rows.shape[1]):
        part[column, held] = rows[row, column]
    waiting[held] = row
    return held + 1


@compiled
def _distance(rows: Any, row: int, centres: Any, own: int) -> Any:
    square = 0.0
    for column in range(rows.shape[1]):
        away = rows[row, column] - centres[own, column]
        square += away * away
    return np.sqrt(square)


@compiled
def _two_nearest(
    steps: Any, start: int, stop: int, centres: Any, best: Any, least: Any, second: Any, total: Any
) -> None:
    """Write the nearest centre of some rows (ties to the lowest), its |c|^2 - 2 x.c, and that of the next one."""
    d = len(steps)
    m = stop - start
    for j in range(len(centres)):
        norm = 0.0
        for column in range(d):
            norm += centres[j, column] * centres[j, column]
        for i in range(m):
            total[i] = norm
        for column in range(d):
            values, doubled = steps[column, start:stop], -2.0 * centres[j, column]
            for i in range(m):
                total[i] += doubled * values[i]
        if j == 0:
            for i in range(m):
                best[i] = 0
                least[i] = total[i]
                second[i] = np.inf
        else:
            for i in range(m):
                closer = total[i] < least[i]
                second[i] = min(second[i], least[i] if closer else total[i])
                best[i] = j if closer else best[i]
                least[i] = total[i] if closer else least[i]


@compiled
def _ways(centres: Any, moved: Any, ways: Any, farther: Any, alone: Any) -> None:
    """Write how far centres move, how far the farthest other moves, and half the way to the nearest other."""
    k, d = centres.shape
    for j in range(k):
        square = 0.0
        for column in range(d):
            away = moved[j, column] - centres[j, column]
            square += away * away
        ways[j] = np.sqrt(square)
    for j in range(k):
        farther[j] = 0.0
        alone[j] = np.inf
        for other in range(k):
            if other != j:
                square = 0.0
                for column in range(d):
                    away = moved[j, column] - moved[other, column]
                    square += away * away
                farther[j] = max(farther[j], ways[other])
                alone[j] = min(alone[j], np.sqrt(square) / 2.0)
