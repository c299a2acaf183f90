"""What mixing computes for every row: its labels and code, its draw, the guard's rounds, and the moments of atoms.

One sweep over a piece of rows each, without the interpreter's lock. Products are those of whole numbers, so exact in
any order; everything else is in the order of numpy's side (`perturb.guard`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.compile import compiled

_PIECE = 512  # rows whose scores stay in the first-level cache
_EXACT_ROWS = 8192  # products of so many steps of up to 2^20 stay below 2^53


@compiled
def label_rows(steps: Any, pulls: Any, halves: Any, sizes: Any, labels: Any) -> None:
    """Write the label of every row in every clustering: that of the most p.x - h, the first of several."""
    d, n = steps.shape
    total, most = np.empty(_PIECE), np.empty(_PIECE)
    best = np.empty(_PIECE, dtype=np.int64)
    for start in range(0, n, _PIECE):
        m = min(_PIECE, n - start)
        first = 0
        for clustering in range(len(sizes)):
            for j in range(sizes[clustering]):
                half = halves[first + j]
                for i in range(m):
                    total[i] = -half
                for column in range(d):
                    values, pull = steps[column, start : start + m], pulls[first + j, column]
                    for i in range(m):
                        total[i] += pull * values[i]
                if j == 0:
                    for i in range(m):
                        best[i] = 0
                        most[i] = total[i]
                else:
                    for i in range(m):
                        better = total[i] > most[i]
                        best[i] = j if better else best[i]
                        most[i] = total[i] if better else most[i]
            target_labels = labels[clustering, start : start + m]
            for i in range(m):
                target_labels[i] = best[i]
            first += sizes[clustering]


@compiled
def draw_rows(
    steps: Any, atoms: Any, place: Any, matrices: Any, units: Any, centres: Any, targets: Any, proposed: Any
) -> None:
    """Write the drawn rows: target + (matrix times draws, in its unit, less the centre of the draws)."""
    d, n = steps.shape
    total, row = np.empty(d), np.empty(d)
    for i in range(n):
        at = place[atoms[i]]
        if at < 0:
            continue
        for column in range(d):
            row[column] = steps[column, i]
        for out in range(d):
            sum_of = 0.0
            for column in range(d):
                sum_of += matrices[at, out, column] * row[column]
            total[out] = sum_of
        for out in range(d):
            proposed[out, i] = targets[atoms[i], out] + (total[out] * units[at] - centres[at, out])


@compiled
def guard_rows(
    rows: Any,
    atoms: Any,
    targets: Any,
    near: Any,
    own: Any,
    centres_down: Any,
    low: Any,
    high: Any,
    bits: int,
    largest: float,
    margin: float,
    shifts: Any,
    factors: Any,
    clip_once_more: bool,
    out: Any,
) -> None:
    """Write proposed rows after the guard's rounds; see `perturb.guard.rounds.Guard` and `Regions.clip`.

    Parameters
    ----------
    near, own : arrays of shape (a, c)
    centres_down : array of shape (d, c)
    shifts, factors : arrays of shape (rounds, a, d) and (rounds, a)
    """
    d, n = rows.shape
    c = centres_down.shape[1]
    up, limit = 2.0**bits, largest * 2.0**-bits
    row, way, scores = np.empty(d), np.empty(d), np.empty(c)
    rounds = len(factors)
    for i in range(n):
        atom = atoms[i]
        start = targets[atom]
        for column in range(d):
            row[column] = rows[column, i]
        for turn in range(rounds + 1 if clip_once_more else rounds):
            farthest = 0.0
            for column in range(d):
                way[column] = row[column] - start[column]
                farthest = max(farthest, abs(way[column]))
            shrink = limit / farthest if farthest > limit else 1.0
            scores[:] = 0.0
            for column in range(d):
                way[column] *= shrink
                step = min(max(np.rint(way[column] * up), -largest), largest)
                line = centres_down[column]
                for j in range(c):
                    scores[j] += line[j] * step
            least = np.inf
            mine, nearness = own[atom], near[atom]
            for j in range(c):
                speed = (scores[mine[j]] - scores[j]) * nearness[j]
                least = min(least, speed)
            reach = 1.0 / -least if -least > 0.0 else np.inf
            for column in range(d):
                if np.isfinite(high[column]) and way[column] > 0.0:
                    reach = min(reach, max(high[column] - start[column], 0.0) / way[column])
                if np.isfinite(low[column]) and -way[column] > 0.0:
                    reach = min(reach, max(start[column] - low[column], 0.0) / -way[column])
            share = min(1.0, margin * reach)
            for column in range(d):
                row[column] = way[column] * share + start[column]
            if turn < rounds:
                for column in range(d):
                    row[column] = start[column] + factors[turn, atom] * (
                        row[column] - start[column] - shifts[turn, atom, column]
                    )
        for column in range(d):
            out[column, i] = row[column]


@compiled
def add_displacements(
    rows: Any, atoms: Any, targets: Any, unit: float, coarse_unit: float, largest: float, sums: Any, squares: Any
) -> None:
    """Add how far rows are from the targets of their atoms, in whole steps, and the squares in coarser ones."""
    d, n = rows.shape
    for column in range(d):
        values = rows[column]
        for i in range(n):
            moved = values[i] - targets[atoms[i], column]
            sums[column, atoms[i]] += np.int64(min(max(np.rint(moved * unit), -largest), largest))
            step = np.int64(min(max(np.rint(moved * coarse_unit), -largest), largest))
            squares[atoms[i]] += step * step


@compiled
def group_moments(steps: Any, order: Any, edges: Any, cross: bool, sums: Any, products: Any) -> None:
    """Write sums and products of the rows of each group: those at order[edges[g] : edges[g + 1]]."""
    d = len(steps)
    pairs = d if cross else 0
    row, part = np.empty(d), np.zeros((pairs, pairs))
    for group in range(len(edges) - 1):
        for first in range(edges[group], edges[group + 1], _EXACT_ROWS):
            last = min(first + _EXACT_ROWS, edges[group + 1])
            if cross:
                part[:] = 0.0
            for at in range(first, last):
                for column in range(d):
                    row[column] = steps[column, order[at]]
                    sums[group, column] += np.int64(row[column])
                if cross:
                    for i in range(d):
                        own, line = row[i], part[i]
                        for j in range(i + 1):
                            line[j] += own * row[j]
            if cross:
                for i in range(d):
                    for j in range(i + 1):
                        products[group, i, j] += np.int64(part[i, j])
        if cross:
            for i in range(d):
                for j in range(i):
                    products[group, j, i] = products[group, i, j]
