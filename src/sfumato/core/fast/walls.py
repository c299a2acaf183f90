"""What the guard computes for every row: its rounds, and how deep rows lie behind the walls of their regions.

Rows of one atom have the same walls, so they are worked on together. What counts at a wall is the difference of two
centres: sums of whole numbers are exact, whether centres are subtracted first or last.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.compile import compiled
from sfumato.core.fast.scores import LANE, PIECE, WIDE, by_group, take_rows, two_scores, whole_step

_SURELY = 1.0 + 1e-6  # more than roundings of a bound add up to


@compiled
def guard_rows(
    rows: Any,
    atoms: Any,
    targets: Any,
    near: Any,
    own: Any,
    centres: Any,
    walls: Any,
    steep: Any,
    low: Any,
    high: Any,
    bits: int,
    largest: float,
    margin: float,
    shifts: Any,
    factors: Any,
    are_clipped: bool,
    clip_once_more: bool,
    out: Any,
) -> None:
    """Write proposed rows of atoms after the guard's rounds; see `perturb.guard.rounds.Guard` and `Regions.clip`.

    Parameters
    ----------
    near, own : arrays of shape (a, c)
    walls, steep : arrays of shape (a, c)
        For every atom the walls, the nearest first, and what share of the way there a step takes at most.
    shifts, factors : arrays of shape (rounds, a, d) and (rounds, a)
    are_clipped : bool
        Whether the first of these rounds has clipped the rows already.
    """
    d, n = rows.shape
    rounds = len(factors)
    order, edges = np.empty(n, dtype=np.int64), np.empty(len(targets) + 1, dtype=np.int64)
    by_group(atoms, len(targets), order, edges)
    part, way, steps, share = np.empty((d, WIDE)), np.empty((d, WIDE)), np.empty((d, WIDE)), np.empty(PIECE)
    longest = np.empty(PIECE)
    for atom in range(len(targets)):
        start = targets[atom]
        group = order[edges[atom] : edges[atom + 1]]
        if rounds > 1 or clip_once_more or not are_clipped:
            # rows that go far first: the others come near to few walls
            group = group[np.argsort(-_lengths(rows, group, start))]
        for begin in range(0, len(group), PIECE):
            places = group[begin : begin + PIECE]
            m = take_rows(rows, places, part)
            for turn in range(rounds + 1 if clip_once_more else rounds):
                if turn > 0 or not are_clipped:
                    _ways(part, m, start, bits, largest, way, steps, longest)
                    _slowest(steps, m, longest, walls[atom], steep[atom], own[atom], near[atom], centres, margin, share)
                    _shares(way, m, start, low, high, margin, share)
                    for column in range(d):
                        values, ways, from_here = part[column], way[column], start[column]
                        for i in range(m):
                            values[i] = ways[i] * share[i] + from_here
                if turn < rounds:
                    factor = factors[turn, atom]
                    for column in range(d):
                        values, from_here, shift = part[column], start[column], shifts[turn, atom, column]
                        for i in range(m):
                            values[i] = from_here + factor * (values[i] - from_here - shift)
            for column in range(d):
                values, target = part[column], out[column]
                for i in range(len(places)):
                    target[places[i]] = values[i]


@compiled
def _lengths(rows: Any, group: Any, start: Any) -> Any:
    """Return how far some rows are from their target, squared."""
    squares = np.zeros(len(group))
    for column in range(len(rows)):
        values = rows[column]
        for i in range(len(group)):
            away = values[group[i]] - start[column]
            squares[i] += away * away
    return squares


@compiled
def _ways(part: Any, m: int, start: Any, bits: int, largest: float, way: Any, steps: Any, longest: Any) -> None:
    """Write how far rows are from their anchor, also in whole steps, and the longest way from each row on in steps."""
    up, limit = 2.0**bits, largest * 2.0**-bits
    farthest = np.zeros(PIECE)
    for column in range(len(part)):
        values, ways, from_here = part[column], way[column], start[column]
        for i in range(m):
            ways[i] = values[i] - from_here
            away = abs(ways[i])
            farthest[i] = max(farthest[i], away)
    for i in range(m):
        farthest[i] = limit / farthest[i] if farthest[i] > limit else 1.0
        longest[i] = 0.0
    for column in range(len(part)):
        ways, whole = way[column], steps[column]
        for i in range(m):
            ways[i] *= farthest[i]
            whole[i] = whole_step(ways[i], up, largest)
            longest[i] += whole[i] * whole[i]
    most = 0.0
    for i in range(m - 1, -1, -1):
        most = max(most, longest[i])
        longest[i] = np.sqrt(most) * _SURELY


@compiled
def _slowest(
    steps: Any,
    m: int,
    longest: Any,
    walls: Any,
    steep: Any,
    own: Any,
    near: Any,
    centres: Any,
    margin: float,
    least: Any,
) -> None:
    """Write the least speed at which rows leave the walls, 0 at most: what share of the gap their way takes, negative.

    A share below the margin does not hold a row up, and is left out.
    """
    d = len(steps)
    one, other = np.empty(d), np.empty(d)
    first, second = np.empty(PIECE), np.empty(PIECE)
    for i in range(m):
        least[i] = 0.0
    count = m
    for at in range(0, len(walls), 2):
        while count > 0 and longest[count - 1] * steep[at] < margin:
            count -= 1
        if count == 0:
            break
        j, k = walls[at], walls[min(at + 1, len(walls) - 1)]
        for column in range(d):
            one[column] = centres[own[j], column] - centres[j, column]
            other[column] = centres[own[k], column] - centres[k, column]
        filled = -(-count // LANE) * LANE
        two_scores(steps, 0, filled, one, other, 0.0, 0.0, first, second)
        nearness, other_nearness = near[j], near[k]
        for i in range(filled):
            speed, other_speed = first[i] * nearness, second[i] * other_nearness
            speed = min(speed, other_speed)
            least[i] = min(least[i], speed)


@compiled
def _shares(way: Any, m: int, start: Any, low: Any, high: Any, margin: float, share: Any) -> None:
    """Write what share of their way rows may go, over the least speeds: up to a margin before walls and bounds."""
    for i in range(m):
        share[i] = 1.0 / -share[i] if share[i] < 0.0 else np.inf
    for column in range(len(way)):
        ways = way[column]
        if np.isfinite(high[column]):
            room = max(high[column] - start[column], 0.0)
            for i in range(m):
                if ways[i] > 0.0:
                    share[i] = min(share[i], room / ways[i])
        if np.isfinite(low[column]):
            room = max(start[column] - low[column], 0.0)
            for i in range(m):
                if ways[i] < 0.0:
                    share[i] = min(share[i], room / -ways[i])
    for i in range(m):
        share[i] = min(1.0, margin * share[i])


@compiled
def depths(
    rows: Any,
    atoms: Any,
    bits: int,
    largest: float,
    centres: Any,
    halves: Any,
    own: Any,
    lengths: Any,
    low: Any,
    high: Any,
    nearest: Any,
) -> None:
    """Write the distance of every row to the nearest wall of its atom's region; see `Regions.depth`."""
    d, n = rows.shape
    order, edges = np.empty(n, dtype=np.int64), np.empty(len(own) + 1, dtype=np.int64)
    by_group(atoms, len(own), order, edges)
    up, square = 2.0**bits, 4.0**-bits
    part, deep = np.empty((d, WIDE)), np.empty(PIECE)
    one, other = np.empty(d), np.empty(d)
    first, second = np.empty(PIECE), np.empty(PIECE)
    walls = np.empty(len(centres), dtype=np.int64)
    for atom in range(len(own)):
        mine = own[atom]
        asked = 0
        for j in range(len(centres)):
            if mine[j] != j:
                walls[asked] = j
                asked += 1
        for begin in range(edges[atom], edges[atom + 1], PIECE):
            places = order[begin : min(begin + PIECE, edges[atom + 1])]
            m = take_rows(rows, places, part)
            for column in range(d):
                values = part[column]
                for i in range(m):
                    values[i] = whole_step(values[i], up, largest)
            for i in range(m):
                deep[i] = np.inf
            for at in range(0, asked, 2):
                j, k = walls[at], walls[min(at + 1, asked - 1)]
                for column in range(d):
                    one[column] = centres[mine[j], column] - centres[j, column]
                    other[column] = centres[mine[k], column] - centres[k, column]
                half, other_half = halves[mine[j]] - halves[j], halves[mine[k]] - halves[k]
                two_scores(part, 0, m, one, other, half, other_half, first, second)
                length, other_length = lengths[atom, j], lengths[atom, k]
                for i in range(m):
                    gap, other_gap = first[i] * square / length + 0.0, second[i] * square / other_length + 0.0
                    gap = min(gap, other_gap)
                    deep[i] = min(deep[i], gap)
            for i in range(len(places)):
                nearest[places[i]] = deep[i]
    for column in range(d):
        values = rows[column]
        if np.isfinite(low[column]) or np.isfinite(high[column]):
            for i in range(n):
                room = min(values[i] - low[column], high[column] - values[i])
                if room < 0.0:
                    nearest[i] = min(nearest[i], room)
