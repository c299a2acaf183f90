"""Rows that lie outside of their regions climb back by single steps of a column or two.

A step changes a cell, so the score of a centre changes by one product. Scores are whole numbers, so it is the very
score that all columns would give, and the work of a look at all steps grows with the columns, not with their square.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.linear import exact_product
from sfumato.perturb.guard.regions import Regions
from sfumato.perturb.guard.signs import Signs
from sfumato.perturb.guard.space import Space

_MOST_CELLS = 1 << 21  # numbers that a look at some moves may hold at once


@dataclass(frozen=True)
class Moves:
    """Single steps of `k` columns each: which columns, and by how much; arrays of shape (k, moves)."""

    columns: Integers
    steps: Floats
    scales: Floats

    def __len__(self) -> int:
        return int(self.columns.shape[1])

    def some(self, start: int, stop: int) -> Moves:
        """Return some of them."""
        return Moves(self.columns[:, start:stop], self.steps[:, start:stop], self.scales[:, start:stop])

    def tried(self, table: Floats) -> list[Floats]:
        """Return the cells that each column of the moves then holds, each of shape (moves, rows)."""
        return [
            np.rint((table[index] + step[:, None]) * scale[:, None]) / scale[:, None]
            for index, step, scale in zip(self.columns, self.steps, self.scales, strict=True)
        ]


def all_moves(decimals: Sequence[int | None], columns: int) -> list[Moves]:
    """Return all single steps of a column, and of two if so many may change at once.

    Examples
    --------
    >>> [len(moves) for moves in all_moves([0, None, 2], 2)]
    [4, 4]
    """
    single = [
        (index, sign * 10.0**-places, 10.0**places)
        for index, places in enumerate(decimals)
        if places is not None
        for sign in (-1.0, 1.0)
    ]
    pairs = [(one, two) for one, two in combinations(single, 2) if one[0] != two[0]] if columns > 1 else []
    out = []
    for many in ([(one,) for one in single], pairs):
        if many:
            parts = np.array(many, dtype=np.float64).transpose(2, 1, 0)
            out.append(Moves(parts[0].astype(np.int64), parts[1], parts[2]))
    return out


@dataclass(frozen=True)
class Standing:
    """Where rows stand, and what a look at their neighbourhood asks again and again.

    Attributes
    ----------
    table, original : arrays of shape (d, rows)
    atoms : array of shape (rows,)
    """

    space: Space
    regions: Regions
    signs: Signs | None
    table: Floats
    original: Floats
    atoms: Integers

    def best(self, every: Sequence[Moves]) -> tuple[Floats, list[tuple[Integers, Integers, Floats]]]:
        """Return how deep rows lie after their best move, and what it changes: rows, columns and cells."""
        reached = np.full(len(self.atoms), -np.inf)
        best = [(np.full(len(self.atoms), -1), moves) for moves in every]
        for (chosen, _), depths in zip(best, self._depths(every), strict=True):
            number = depths.argmax(axis=0)
            deep = depths[number, np.arange(len(number))]
            better = deep > reached
            reached[better] = deep[better]
            for earlier, _ in best:
                earlier[better] = -1
            chosen[better] = number[better]
        return reached, [change for chosen, moves in best for change in self._changes(chosen, moves)]

    def _changes(self, chosen: Integers, moves: Moves) -> Iterator[tuple[Integers, Integers, Floats]]:
        rows = np.flatnonzero(chosen >= 0)
        for index, step, scale in zip(moves.columns, moves.steps, moves.scales, strict=True):
            columns, step, scale = (part[chosen[rows]] for part in (index, step, scale))
            yield rows, columns, np.rint((self.table[columns, rows] + step) * scale) / scale

    def _depths(self, every: Sequence[Moves]) -> Iterator[Floats]:
        """Yield how deep rows lie after each move, shape (moves, rows)."""
        inside = self.space.enter(self.table)
        held = self.space.steps(inside)
        product = exact_product(self.regions.centres, held)
        walls = self.regions.walls_of(self.atoms)
        room = self._room(inside, slice(None))
        apart, beyond = self.table != self.original, self._beyond(self.table, slice(None))
        many = max(1, _MOST_CELLS // max(1, product.size))
        for moves in every:
            least = np.argsort(room, axis=0, kind="stable")[: len(moves.columns) + 1]
            out = np.empty((len(moves), len(self.atoms)))
            for start in range(0, len(moves), many):
                some = moves.some(start, start + many)
                cells = some.tried(self.table)
                entered = [self._enter(one, index) for one, index in zip(cells, some.columns, strict=True)]
                scores = np.repeat(product[:, None, :], len(some), axis=1)
                differs, outside = apart.sum(axis=0)[None, :], beyond.sum(axis=0)[None, :]
                for tried, now, index in zip(cells, entered, some.columns, strict=True):
                    scores += self.regions.centres[:, index, None] * (self.space.steps(now) - held[index])[None]
                    differs = differs - apart[index] + (tried != self.original[index])
                    outside = outside - beyond[index] + self._beyond(tried, index)
                depth = self.regions.depth_of(scores.reshape(len(scores), -1), walls, len(some)).reshape(len(some), -1)
                np.minimum(depth, _of_others(room, least, some.columns), out=depth)
                for now, index in zip(entered, some.columns, strict=True):
                    np.minimum(depth, self._room(now, index), out=depth)
                depth[(differs == 0) | (outside > 0)] = -np.inf  # the original itself is no place
                out[start : start + many] = depth
            yield out

    def _enter(self, cells: Floats, columns: Integers) -> Floats:
        inside: Floats = (cells - self.space.offset[columns, None]) / self.space.unit[columns, None]
        return inside

    def _room(self, inside: Floats, columns: Integers | slice) -> Floats:
        """Return how far cells lie beyond the bounds of their columns, below zero; infinite inside."""
        low, high = self.regions.low[columns, None], self.regions.high[columns, None]
        room = np.minimum(inside - low, high - inside)
        room[room >= 0] = np.inf
        return room

    def _beyond(self, cells: Floats, columns: Integers | slice) -> Flags:
        if self.signs is None:
            return np.zeros(cells.shape, dtype=bool)
        return (cells < self.signs.low[columns, None]) | (cells > self.signs.high[columns, None])


def _of_others(room: Floats, least: Integers, columns: Integers) -> Floats:
    """Return the least room of columns that do not move, shape (moves, rows); among the first ones is one of them."""
    rows = np.arange(room.shape[1])
    out = np.full((columns.shape[1], len(rows)), np.inf)
    for place in least[::-1]:
        moves = (place[None, None, :] == columns[:, :, None]).any(axis=0)
        np.copyto(out, room[place, rows][None, :], where=~moves)
    return out
