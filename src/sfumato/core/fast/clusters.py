"""Rounds of k-means on a lattice, and points that are pushed into their regions."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.compile import compiled

_PIECE = 512  # rows whose costs stay in the first-level cache


@compiled
def nearest_centres(steps: Any, centres: Any, labels: Any, cost: Any) -> bool:
    """Write each row's nearest centre (ties to the lowest) and |c|^2 - 2 x.c; tell whether a label has changed."""
    d, n = steps.shape
    total = np.empty(_PIECE)
    best = np.empty(_PIECE, dtype=labels.dtype)
    changed = False
    for start in range(0, n, _PIECE):
        stop = min(start + _PIECE, n)
        m = stop - start
        least = cost[start:stop]
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
                    least[i] = total[i]
                    best[i] = 0
            else:
                for i in range(m):
                    closer = total[i] < least[i]
                    best[i] = j if closer else best[i]
                    least[i] = total[i] if closer else least[i]
        for i in range(m):
            changed = changed or labels[start + i] != best[i]
            labels[start + i] = best[i]
    return changed


@compiled
def lloyd_rounds(steps: Any, centres: Any, rounds: int, labels: Any, cost: Any) -> None:
    """Run Lloyd's rounds until no label changes; all arrays but the steps are written to."""
    d, n = steps.shape
    k = len(centres)
    nearest_centres(steps, centres, labels, cost)
    for _ in range(rounds):
        counts = np.zeros(k)
        sums = np.zeros((k, d))
        for i in range(n):
            counts[labels[i]] += 1.0
        for column in range(d):  # sums of whole numbers below 2^53 are exact in any order
            values = steps[column]
            for i in range(n):
                sums[labels[i], column] += values[i]
        still = True
        for j in range(k):
            for column in range(d):
                if counts[j] > 0.0:
                    sums[j, column] = np.rint(sums[j, column] / counts[j])
                else:
                    sums[j, column] = centres[j, column]
                still = still and sums[j, column] == centres[j, column]
        if still:
            break
        centres[:] = sums
        if not nearest_centres(steps, centres, labels, cost):
            break


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
