"""Starts of k-means on a lattice, points that are pushed into their regions, and what that solves."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.compile import compiled

_PIECE = 512  # rows whose costs stay in the first-level cache
_GLANCE = 64  # scores that are looked at together


@compiled
def start_rows(steps: Any, draws: Any, chosen: Any) -> None:
    """Write the rows that k-means++ starts from, three candidates each; see `cluster.lattice_kmeans.plus_plus`."""
    n = steps.shape[1]
    rows = np.empty(3, dtype=np.int64)
    closer = np.full((3, n), np.inf)
    nearest = np.full(n, np.inf)
    cumulated = np.empty(n)
    rows[:] = min(int(draws[0] * n), n - 1)
    chosen[0] = rows[0]
    _closer_rows(steps, rows[:1], nearest, closer)
    nearest[:] = closer[0]
    for j in range(1, len(chosen)):
        total = 0.0
        for i in range(n):  # one row after the other: a fixed order
            total += nearest[i]
            cumulated[i] = total
        for c in range(3):
            rows[c] = min(np.searchsorted(cumulated, draws[3 * j + c] * total, side="right"), n - 1)
        _closer_rows(steps, rows, nearest, closer)
        best, least = 0, exact_parts(closer[0])
        for c in range(1, 3):
            parts = exact_parts(closer[c])
            if parts < least:
                best, least = c, parts
        chosen[j] = rows[best]
        nearest[:] = closer[best]


@compiled
def _closer_rows(steps: Any, rows: Any, nearest: Any, out: Any) -> None:
    """Write the squared distances to some of the rows, where they are below the nearest so far; exact."""
    d, n = steps.shape
    for start in range(0, n, _PIECE):
        stop = min(start + _PIECE, n)
        for c in range(len(rows)):
            total = out[c, start:stop]
            total[:] = 0.0
            for column in range(d):
                values, centre = steps[column, start:stop], steps[column, rows[c]]
                for i in range(stop - start):
                    away = values[i] - centre
                    total[i] += away * away
            for i in range(stop - start):
                total[i] = min(total[i], nearest[start + i])


@compiled
def likely_nearest(asked: Any, blocks: Any, lines: int, best: Any, which: Any) -> None:
    """Keep the least scores of some rows, asked times blocks, and whose they are; see `attack.engine.neighbours`.

    Parameters
    ----------
    asked : array of shape (m, d)
    blocks : array of shape (b, d, places)
        The rows that are looked at, as columns.
    lines : int
        Rows that are asked for together: their scores stay in the cache.
    best, which : arrays of shape (m, kept)
    """
    places = blocks.shape[2]
    scores = np.empty((lines, places), dtype=blocks.dtype)
    for first in range(0, len(asked), lines):
        part = asked[first : first + lines]
        here = scores[: len(part)]
        for block in range(len(blocks)):
            np.dot(part, blocks[block], here)
            for r in range(len(part)):
                _keep_least(here[r], block * places, best[first + r], which[first + r])


@compiled
def _keep_least(line: Any, first: int, least: Any, place: Any) -> None:
    kept = len(least)
    limit = least[kept - 1]
    for start in range(0, len(line), _GLANCE):
        part = line[start : start + _GLANCE]
        less = 0
        for j in range(len(part)):  # mostly none: counted many at once
            less += part[j] < limit
        if less == 0:
            continue
        for j in range(len(part)):
            if part[j] < limit:
                at = kept - 1
                while at > 0 and least[at - 1] > part[j]:
                    least[at], place[at] = least[at - 1], place[at - 1]
                    at -= 1
                least[at], place[at] = part[j], first + start + j
                limit = least[kept - 1]


@compiled
def exact_parts(values: Any) -> Any:
    """Return the sum of whole numbers below 2^53 as (high, low): high 2^26 + low, low below 2^26."""
    high, low = np.int64(0), np.int64(0)
    for i in range(len(values)):
        part = np.floor(values[i] * 2.0**-26)
        high += np.int64(part)
        low += np.int64(values[i] - part * 2.0**26)
    return high + (low >> 26), low & ((1 << 26) - 1)


@compiled
def same_labels(one: Any, other: Any) -> tuple[int, Any]:
    """Count the rows with each pair of labels; return how many have the same, whatever clusters are called, and all.

    -1 for the number if that is not plain: two clusters have most in common with one and the same.
    """
    k = max(one.max(), other.max()) + 1
    table = np.zeros((k, k), dtype=np.int64)
    for i in range(len(one)):
        table[one[i], other[i]] += 1
    taken = np.zeros(k, dtype=np.bool_)
    same = 0
    for a in range(k):
        best = 0
        for b in range(1, k):
            if table[a, b] > table[a, best]:
                best = b
        if table[a, best] > 0:
            if taken[best]:
                return -1, table
            taken[best] = True
            same += table[a, best]
    return same, table


@compiled
def solve_in_place(rest: Any, out: Any) -> None:
    """Write the solution of a positive definite system over its right side; see `core.linear.solve_positive`."""
    size, width = out.shape
    for j in range(size):  # Cholesky: the lower half of the matrix becomes its factor
        pivot = rest[j, j]
        root = np.sqrt(pivot) if pivot > 0.0 else 0.0
        for i in range(j + 1, size):
            rest[i, j] = rest[i, j] / root if pivot > 0.0 else 0.0
        rest[j, j] = root
        for i in range(j + 1, size):
            for column in range(j + 1, i + 1):
                rest[i, column] -= rest[i, j] * rest[column, j]
    for i in range(size):
        for e in range(width):
            out[i, e] /= rest[i, i]
        for below in range(i + 1, size):
            for e in range(width):
                out[below, e] -= rest[below, i] * out[i, e]
    for i in range(size - 1, -1, -1):
        for e in range(width):
            out[i, e] /= rest[i, i]
        for above in range(i):
            for e in range(width):
                out[above, e] -= rest[i, above] * out[i, e]


@compiled
def push_inside(
    points: Any,
    atoms: Any,
    inset: Any,
    least: float,
    rounds: int,
    bits: int,
    largest: float,
    centres: Any,
    halves: Any,
    own: Any,
    lengths: Any,
    low: Any,
    high: Any,
    arrived: Any,
) -> None:
    """Move points into their regions, one after the other; see `perturb.guard.regions.Regions.push_inside`."""
    d, n = points.shape
    c = len(centres)
    scores = np.empty(c)
    at = np.empty(d)
    step = np.empty(d)
    up, unit, square = 2.0**bits, 2.0**-bits, 4.0**-bits
    for p in range(n):
        atom = atoms[p]
        half = inset[p] / 2
        for column in range(d):
            at[column] = points[column, p]
        arrived[p] = False
        for _ in range(rounds):
            for column in range(d):
                whole = np.rint(at[column] * up)
                whole = max(-largest, whole)
                step[column] = min(largest, whole)
            for j in range(c):
                score = 0.0
                for column in range(d):
                    score += centres[j, column] * step[column]
                scores[j] = score - halves[j]
            wall, farthest, enough = 0, -np.inf, 0.0
            for j in range(c):
                mine = own[atom, j]
                length = lengths[atom, j]
                wanted = length * half
                wanted = max(least, wanted)
                missing = -np.inf
                if mine != j:
                    missing = wanted - (scores[mine] - scores[j]) * square / length
                if missing > farthest or j == 0:
                    wall, farthest, enough = j, missing, wanted / 2
            if not farthest > enough:
                arrived[p] = True
                break
            mine = own[atom, wall]
            length = lengths[atom, wall]
            for column in range(d):
                away = (centres[mine, column] - centres[wall, column]) * unit / length
                moved = at[column] + away * farthest
                moved = max(low[column], moved)
                at[column] = min(high[column], moved)
        for column in range(d):
            points[column, p] = at[column]
