"""Shuffled rows of an orbit: the next row is the one whose value falls on the decimal grid."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from sfumato.attack.engine.knowledge import FloatArray, IntArray
from sfumato.attack.orbit.column import slack_of

if TYPE_CHECKING:
    from sfumato.attack.engine.interface import Deadline

CONFIRMED = 8


class _Grid:
    """Released values sorted by their offset from the grid: finds rows that fit a predicted offset.

    An original on the grid plus noise leaves exactly the noise as the offset, so the next row is looked up by it.
    """

    def __init__(self, column: FloatArray, step: float) -> None:
        self.steps = column / step
        offsets = self.steps - np.floor(self.steps)
        self.rows = np.argsort(offsets)
        self.offsets = offsets[self.rows]
        self.slack = slack_of(column, step)

    def spans(self, noise: FloatArray) -> tuple[IntArray, IntArray]:
        """Return for each noise (in grid steps) the span of sorted rows that fit it."""
        wanted = noise - np.floor(noise)
        return (
            np.searchsorted(self.offsets, wanted - self.slack, side="left"),
            np.searchsorted(self.offsets, wanted + self.slack, side="right"),
        )

    def fitting(self, noise: float) -> list[int]:
        """Return the rows whose offset fits one noise, both ends of the circle included."""
        found: list[int] = []
        for turn in (-1.0, 0.0, 1.0):
            wanted = noise - np.floor(noise) + turn
            low = int(np.searchsorted(self.offsets, wanted - self.slack, side="left"))
            high = int(np.searchsorted(self.offsets, wanted + self.slack, side="right"))
            found += self.rows[low:high].tolist()
        return found


def find_order(
    column: FloatArray,
    starts: Iterable[tuple[int, FloatArray, FloatArray]],
    amplitude: float,
    step: float,
    deadline: Deadline,
) -> IntArray | None:
    """Return the order in which the orbit ran through shuffled rows, or None.

    Parameters
    ----------
    column : array of shape (n,)
        Released column, rows in any order.
    starts : iterable of (row, values, ranges)
        Rows to enter at, with candidate originals of that row and candidate ranges of the column.
    amplitude, step : float
        Share of the range that the noise spans, grid step of the original.
    deadline : Deadline
        Told of every start.

    Returns
    -------
    array of shape (n,) or None
        Row numbers in the order of the orbit; rows that were not met follow at the end.
    """
    grid = _Grid(column, step)
    if grid.slack * column.size > 0.2:  # a rounded release: too many rows fit by luck
        return None
    for row, values, ranges in starts:
        deadline.check()
        rho = amplitude * ranges / step
        level = 0.5 + (column[row] - values) / step / rho
        fits = (level >= 0) & (level <= 1)
        rho, level = rho[fits], level[fits]
        low, high = grid.spans(rho * (4 * level * (1 - level) - 0.5))
        for index in np.flatnonzero(high > low).tolist():
            deadline.check(20_000)
            chain = _forward(grid, row, float(rho[index]), float(level[index]), CONFIRMED)
            if len(chain) < min(CONFIRMED, column.size):
                continue
            later = _forward(grid, row, float(rho[index]), float(level[index]), column.size)
            earlier = _backward(grid, float(rho[index]), float(level[index]), set(later))
            order = earlier[::-1] + later
            if len(order) > column.size // 2:
                rest = np.setdiff1d(np.arange(column.size), order)
                return np.concatenate([np.array(order, dtype=np.int64), rest])
    return None


def _forward(grid: _Grid, row: int, rho: float, level: float, most: int) -> list[int]:
    """Return rows met from `row` on, at most `most`."""
    chain, met = [row], {row}
    while len(chain) < most:
        level = 4 * level * (1 - level)
        noise = rho * (level - 0.5)
        free = [other for other in grid.fitting(noise) if other not in met]
        if not free:
            break
        nearest = min(free, key=lambda other: abs(_off(float(grid.steps[other]) - noise)))
        chain.append(nearest)
        met.add(nearest)
        level = _renewed(grid, nearest, noise, rho)
    return chain


def _backward(grid: _Grid, rho: float, level: float, met: set[int]) -> list[int]:
    """Return rows that stand before the row of this level, nearest first."""
    chain: list[int] = []
    while True:
        root = max(0.0, 1 - level) ** 0.5
        options: list[tuple[float, int, float]] = []
        for before in ((1 - root) / 2, (1 + root) / 2):
            noise = rho * (before - 0.5)
            for other in grid.fitting(noise):
                if other not in met:
                    renewed = _renewed(grid, other, noise, rho)
                    options.append((abs(4 * renewed * (1 - renewed) - level) * rho, other, renewed))
        if not options or min(options)[0] > max(grid.slack, 1e-5):
            return chain
        _, nearest, level = min(options)
        chain.append(nearest)
        met.add(nearest)


def _renewed(grid: _Grid, row: int, noise: float, rho: float) -> float:
    """Return the level of a row after its original has been moved to the grid."""
    whole = round(float(grid.steps[row]) - noise)
    return min(1.0, max(0.0, 0.5 + (float(grid.steps[row]) - whole) / rho))


def _off(steps: float) -> float:
    return float(steps - np.round(steps))
