"""What mixing computes for every row: its labels and code, its draw, and the moments of atoms.

One sweep over a piece of rows each, without the interpreter's lock. Products are those of whole numbers, so exact in
any order; everything else is in the order of numpy's side (`perturb.guard`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.compile import compiled
from sfumato.core.fast.scores import PIECE, WIDE, by_group, take_rows, two_scores

_EXACT_ROWS = 8192  # products of so many steps of up to 2^20 stay below 2^53


@compiled
def label_rows(steps: Any, pulls: Any, halves: Any, sizes: Any, labels: Any) -> None:
    """Write the label of every row in every clustering: that of the most p.x - h, the first of several."""
    n = steps.shape[1]
    first, second, most, best = np.empty(PIECE), np.empty(PIECE), np.empty(PIECE), np.empty(PIECE)
    for start in range(0, n, PIECE):
        stop = min(start + PIECE, n)
        m, begin = stop - start, 0
        for clustering in range(len(sizes)):
            end = begin + sizes[clustering]
            for i in range(m):
                most[i] = -np.inf
                best[i] = 0.0
            for j in range(begin, end, 2):
                other = min(j + 1, end - 1)
                two_scores(steps, start, stop, pulls[j], pulls[other], halves[j], halves[other], first, second)
                label, next_label = float(j - begin), float(other - begin)
                for i in range(m):
                    better = first[i] > most[i]
                    best[i] = label if better else best[i]
                    most[i] = first[i] if better else most[i]
                    better = second[i] > most[i]
                    best[i] = next_label if better else best[i]
                    most[i] = second[i] if better else most[i]
            target = labels[clustering, start:stop]
            for i in range(m):
                target[i] = np.int64(best[i])
            begin = end


@compiled
def draw_rows(
    steps: Any, atoms: Any, place: Any, matrices: Any, units: Any, centres: Any, targets: Any, proposed: Any
) -> None:
    """Write the drawn rows: target + (matrix times draws, in its unit, less the centre of the draws)."""
    d, n = steps.shape
    order, edges = np.empty(n, dtype=np.int64), np.empty(len(targets) + 1, dtype=np.int64)
    by_group(atoms, len(targets), order, edges)
    part, first, second = np.empty((d, WIDE)), np.empty(PIECE), np.empty(PIECE)
    for atom in range(len(targets)):
        at = place[atom]
        if at < 0:
            continue
        for start in range(edges[atom], edges[atom + 1], PIECE):
            rows = order[start : min(start + PIECE, edges[atom + 1])]
            m = take_rows(steps, rows, part)
            for column in range(0, d, 2):
                other = min(column + 1, d - 1)
                two_scores(part, 0, m, matrices[at, column], matrices[at, other], 0.0, 0.0, first, second)
                for i in range(len(rows)):
                    proposed[column, rows[i]] = targets[atom, column] + (first[i] * units[at] - centres[at, column])
                    proposed[other, rows[i]] = targets[atom, other] + (second[i] * units[at] - centres[at, other])


@compiled
def draw_nearer(inside: Any, of: Any, middles: Any, farthest: Any, nothing: float, out: Any) -> None:
    """Write rows, those that are too far from the middle of their atoms drawn nearer; see `perturb.guard.leverage`."""
    d, n = inside.shape
    total = np.empty(PIECE)
    for start in range(0, n, PIECE):
        m = min(PIECE, n - start)
        atoms = of[start : start + m]
        for i in range(m):
            total[i] = 0.0
        for column in range(d):
            values = inside[column, start : start + m]
            for i in range(m):
                away = values[i] - middles[atoms[i], column]
                total[i] += away * away
        for i in range(m):
            distance, reach = np.sqrt(total[i]), farthest[atoms[i]]
            total[i] = -1.0  # as it is
            if distance > reach:
                left = reach
                if nothing < np.inf:
                    left = min(max((nothing * reach - distance) / (nothing - 1.0), 0.0), reach)
                total[i] = left / distance
        for column in range(d):
            values, target = inside[column, start : start + m], out[column, start : start + m]
            for i in range(m):
                middle = middles[atoms[i], column]
                target[i] = values[i] if total[i] < 0.0 else middle + (values[i] - middle) * total[i]


@compiled
def add_displacements(
    rows: Any, atoms: Any, targets: Any, unit: float, coarse_unit: float, largest: float, sums: Any, squares: Any
) -> None:
    """Add how far rows of atoms are from their targets, in whole steps, and the squares in coarser ones."""
    d, n = rows.shape
    for column in range(d):
        values = rows[column]
        for i in range(n):
            if atoms[i] < 0:
                continue
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


@compiled
def turn_by_chance(rows: Any, draws: Any) -> None:
    """Turn the rows of a group by a random orthogonal matrix, in place; see `perturb.guard.spread.mix_rows`."""
    d, n = rows.shape
    ones, vector, products = np.full(n, 1.0 / np.sqrt(float(n))), np.empty(n), np.empty(n)
    ones[0] += 1.0
    _reflect(rows, 0, ones, products)
    used = 0
    for size in range(n - 1, 1, -1):
        for i in range(size):
            vector[i] = draws[used + i]
            products[i] = vector[i] * vector[i]
        used += size
        first, length = vector[0], np.sqrt(_folded_sum(products[:size]))
        vector[0] += length if first >= 0.0 else -length
        _reflect(rows, n - size, vector[:size], products)
        if first >= 0.0:
            for column in range(d):
                rows[column, n - size] *= -1.0
    if draws[used] < 0.0:
        for column in range(d):
            rows[column, n - 1] *= -1.0
    _reflect(rows, 0, ones, products)


@compiled
def meet_demand(own: Any, weights: Any, ways: Any, wanted: float, size: float, limit: float, products: Any) -> bool:
    """Add as much of a demand's own ways as it lacks; tell whether it lacked any. See `perturb.guard.leaning`."""
    a, d = own.shape
    at = 0
    for atom in range(a):
        for column in range(d):
            products[at] = weights[atom, 0] * own[atom, column] * ways[atom, column]
            at += 1
    lack = wanted - _folded_sum(products)
    if not lack > limit or not size > 0.0:
        return False
    for atom in range(a):
        for column in range(d):
            ways[atom, column] += (lack / size) * own[atom, column]
    return True


@compiled
def _reflect(rows: Any, begin: int, vector: Any, products: Any) -> None:
    size = len(vector)
    for i in range(size):
        products[i] = vector[i] * vector[i]
    factor = 2.0 / _folded_sum(products[:size])
    for column in range(len(rows)):
        values = rows[column, begin:]
        for i in range(size):
            products[i] = values[i] * vector[i]
        weight = _folded_sum(products[:size]) * factor
        for i in range(size):
            values[i] -= weight * vector[i]


@compiled
def _folded_sum(values: Any) -> Any:
    """Return a sum in the order of `core.linear.fixed_order_sum`; the values are written over."""
    length = len(values)
    while length > 1:
        half = (length + 1) // 2
        for i in range(length - half):
            values[i] += values[half + i]
        length = half
    return values[0]
