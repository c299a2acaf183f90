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
from sfumato.core.fast.scores import PIECE, WIDE, take_rows, two_scores

_SLACK = 2.0**-8  # steps; the bounds are sums of at most some hundred doubles below 2^27, so they err by far less


@compiled
def lloyd_rounds(steps: Any, centres: Any, rounds: int, labels: Any, counts: Any, sums: Any) -> Any:
    """Run Lloyd's rounds until no label changes; return the sum of all squares as (high, low): high 2^26 + low.

    Centres, labels, and the counts and sums of the clusters are written to.
    """
    d, n = steps.shape
    k = len(centres)
    squares = square_lengths(steps)
    near, far = np.empty(n), np.empty(n)  # bounds: at most so far from the own centre, at least from all others
    best = np.empty(PIECE, dtype=np.int64)
    least, second = np.empty(PIECE), np.empty(PIECE)
    for start in range(0, n, PIECE):
        stop = min(start + PIECE, n)
        two_nearest(steps, start, stop, centres, best, least, second)
        for i in range(stop - start):
            labels[start + i] = best[i]
            near[start + i] = np.sqrt(least[i] + squares[start + i])
            far[start + i] = np.sqrt(second[i] + squares[start + i])
            counts[best[i]] += 1.0
        for column in range(d):  # sums of whole numbers below 2^53 are exact in any order
            values = steps[column, start:stop]
            for i in range(stop - start):
                sums[best[i], column] += values[i]
    moved = np.empty((k, d))
    ways, farther, alone = np.empty(k), np.empty(k), np.empty(k)
    part, waiting = np.empty((d, WIDE)), np.empty(2 * PIECE, dtype=np.int64)
    for _ in range(rounds):
        still = True
        for j in range(k):
            for column in range(d):
                moved[j, column] = np.rint(sums[j, column] / counts[j]) if counts[j] > 0.0 else centres[j, column]
                still = still and moved[j, column] == centres[j, column]
        if still:
            break
        bounds_of(centres, moved, ways, farther, alone)
        centres[:] = moved
        changed, held = False, 0
        for start in range(0, n, PIECE):
            stop = min(start + PIECE, n)
            held = open_rows(start, stop, labels, ways, farther, alone, _SLACK, near, far, waiting, held)
            while held >= PIECE or (stop == n and held > 0):
                m = take_rows(steps, waiting[: min(held, PIECE)], part)
                two_nearest(part, 0, m, centres, best, least, second)
                measured = waiting[: min(held, PIECE)]
                changed |= _take(measured, best, least, second, steps, squares, near, far, labels, counts, sums)
                held = left_waiting(waiting, held)
        if not changed:
            break
    return exact_parts(squares)


@compiled
def few_lloyd_rounds(steps: Any, centres: Any, rounds: int, labels: Any, counts: Any, sums: Any) -> Any:
    """Do the same by measuring every row: for the first rounds, in which centres move too far for bounds to help."""
    d, n = steps.shape
    k = len(centres)
    best = np.empty(PIECE, dtype=np.int64)
    least, second = np.empty(PIECE), np.empty(PIECE)
    moved = np.empty((k, d))
    for start in range(0, n, PIECE):
        stop = min(start + PIECE, n)
        two_nearest(steps, start, stop, centres, best, least, second)
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
        for start in range(0, n, PIECE):
            stop = min(start + PIECE, n)
            two_nearest(steps, start, stop, centres, best, least, second)
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
    return exact_parts(square_lengths(steps))


@compiled
def square_lengths(steps: Any) -> Any:
    """Return the squared length of every row."""
    squares = np.zeros(steps.shape[1])
    for column in range(len(steps)):
        values = steps[column]
        for i in range(len(values)):
            squares[i] += values[i] * values[i]
    return squares


@compiled
def open_rows(
    start: int, stop: int, labels: Any, ways: Any, farther: Any, alone: Any, slack: float, near: Any, far: Any,
    waiting: Any, held: int,
) -> int:  # fmt: skip
    """Widen the bounds of some rows by how far centres have moved; let those whose bounds meet wait to be measured."""
    for i in range(start, stop):
        own = labels[i]
        near[i] += ways[own]
        far[i] -= farther[own]
        waiting[held] = i
        held += near[i] >= max(far[i], alone[own]) - slack
    return held


@compiled
def left_waiting(waiting: Any, held: int) -> int:
    """Let those who wait behind the first of them move up; return how many they are."""
    left = max(held - PIECE, 0)
    for i in range(left):
        waiting[i] = waiting[PIECE + i]
    return left


@compiled
def _take(
    measured: Any, best: Any, least: Any, second: Any, steps: Any, squares: Any, near: Any, far: Any, labels: Any,
    counts: Any, sums: Any,
) -> bool:  # fmt: skip
    """Write down what was measured of some rows; tell whether one of them changes its cluster."""
    changed = False
    for at in range(len(measured)):
        row, now = measured[at], best[at]
        near[row] = np.sqrt(least[at] + squares[row])
        far[row] = np.sqrt(second[at] + squares[row])
        before = labels[row]
        if now != before:
            changed = True
            labels[row] = now
            counts[before] -= 1.0
            counts[now] += 1.0
            for column in range(len(steps)):
                sums[before, column] -= steps[column, row]
                sums[now, column] += steps[column, row]
    return changed


@compiled
def two_nearest(steps: Any, start: int, stop: int, centres: Any, best: Any, least: Any, second: Any) -> None:
    """Write the nearest centre of some rows (ties to the lowest), its |c|^2 - 2 x.c, and that of the next one."""
    k, m = len(centres), stop - start
    halves, one, other, nearest = np.zeros(k), np.empty(m), np.empty(m), np.empty(m)
    for j in range(k):
        for column in range(len(steps)):
            halves[j] += centres[j, column] * centres[j, column]
        halves[j] /= 2.0
    for i in range(m):  # scores until the last line: the more, the nearer
        least[i] = second[i] = -np.inf
        nearest[i] = 0.0
    for j in range(0, k, 2):
        next_one = min(j + 1, k - 1)
        two_scores(steps, start, stop, centres[j], centres[next_one], halves[j], halves[next_one], one, other)
        _nearer(one, m, float(j), nearest, least, second)
        if next_one > j:
            _nearer(other, m, float(next_one), nearest, least, second)
    for i in range(m):
        best[i] = np.int64(nearest[i])
        least[i] *= -2.0
        second[i] *= -2.0


@compiled
def _nearer(scores: Any, m: int, label: float, nearest: Any, most: Any, second: Any) -> None:
    """Keep the label of the centre with the largest score so far, that score, and the next one."""
    for i in range(m):
        score = scores[i]
        closer = score > most[i]
        behind = most[i] if closer else score
        second[i] = max(second[i], behind)
        nearest[i] = label if closer else nearest[i]
        most[i] = score if closer else most[i]


@compiled
def bounds_of(centres: Any, moved: Any, ways: Any, farther: Any, alone: Any) -> None:
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
