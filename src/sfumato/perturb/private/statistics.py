"""What is measured of a table: whole numbers that one row can move only so far.

Both summaries see each row by itself: what a row adds depends on its own values and on settings that are public or
already noisy, never on other rows. docs/dp.md has the sensitivities and their proof.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.cluster.fixed_order import squared_distances
from sfumato.core.rows import Rows
from sfumato.core.summaries import Summary

STEPS = 1 << 20  # a vector of length 1 is this many steps long
Released = dict[str, Any]


class Private(Summary):
    """A summary whose exact numbers are forgotten as soon as they are released with noise.

    What travels on, to executors or into a fitted state, is `released`: noise is drawn once, by whoever fits.
    """

    def __init__(self) -> None:
        self.released: Released | None = None

    def release(self, make: Callable[[Self], Released]) -> Released:
        """Return what is released of this summary: made now, with fresh noise, or earlier."""
        if self.released is None:
            self.released = make(self)
            self._forget()
        return self.released

    @abstractmethod
    def _forget(self) -> None:
        """Leave nothing of the exact numbers."""


class Histograms(Private):
    """Rows by interval, for each of some columns.

    Parameters
    ----------
    columns : tuple of int
        Their places in the table.
    edges : array of shape (columns, intervals - 1)
        Inner edges, rising; public.
    """

    learnt: ClassVar[tuple[str, ...]] = ("counts", "released")

    def __init__(self, columns: tuple[int, ...], edges: Floats) -> None:
        super().__init__()
        self._columns, self._edges = columns, edges
        self.counts: Integers = np.zeros((len(edges), edges.shape[1] + 1), dtype=np.int64)

    def fresh(self) -> Self:
        return type(self)(self._columns, self._edges)

    def add(self, tile: Floats, rows: Rows) -> None:
        for place, edges, counts in zip(self._columns, self._edges, self.counts, strict=True):
            counts += np.bincount(np.searchsorted(edges, tile[place], side="right"), minlength=len(counts))

    def merge(self, other: Self) -> None:
        self.counts += other.counts

    def _forget(self) -> None:
        self.counts = np.zeros_like(self.counts)


@dataclass(frozen=True)
class Space:
    """Where distances are taken: some columns, clipped to their bounds, in units of their own.

    Attributes
    ----------
    columns : tuple of int
    low, high : arrays of shape (d,)
        The owner's bounds.
    middle, unit : arrays of shape (d,)
        Public, or made of noisy numbers.
    """

    columns: tuple[int, ...]
    low: Floats
    high: Floats
    middle: Floats
    unit: Floats

    def place(self, tile: Floats) -> Floats:
        """Return the places of some rows, of shape (d, rows)."""
        values = np.clip(tile[list(self.columns)], self.low[:, None], self.high[:, None])
        values -= self.middle[:, None]
        values /= self.unit[:, None]
        return values


class BallSums(Private):
    """Counts, sums and products of rows around given centres, each row clipped to its centre's ball.

    Parameters
    ----------
    space : Space
    centres : array of shape (k, d)
    radii : array of shape (k,)
    products : bool
        Whether all products of two columns are summed, too.
    levels : tuple of (int, int)
        Places of columns of categories, and how many each has: rows are counted by them for each centre.
    """

    learnt: ClassVar[tuple[str, ...]] = ("counts", "sums", "squares", "products", "levels", "released")

    def __init__(
        self,
        space: Space,
        centres: Floats,
        radii: Floats,
        *,
        products: bool = False,
        levels: tuple[tuple[int, int], ...] = (),
    ) -> None:
        super().__init__()
        self._space, self._centres, self._radii = space, centres, radii
        self._with_products, self._levels = products, levels
        self._forget()

    def fresh(self) -> Self:
        return type(self)(self._space, self._centres, self._radii, products=self._with_products, levels=self._levels)

    def _forget(self) -> None:
        k, d = self._centres.shape
        pairs = d * (d + 1) // 2 if self._with_products else 0
        self.counts: Integers = np.zeros(k, dtype=np.int64)
        self.sums: Integers = np.zeros((d, k), dtype=np.int64)
        self.squares: Integers = np.zeros(k, dtype=np.int64)
        self.products: Integers = np.zeros((pairs, k), dtype=np.int64)
        self.levels: list[Integers] = [np.zeros((k, size), dtype=np.int64) for _, size in self._levels]

    def add(self, tile: Floats, rows: Rows) -> None:
        k = len(self._centres)
        places = self._space.place(tile)
        nearest = np.argmin(squared_distances(places, self._centres), axis=0)
        steps = clipped_steps(places - self._centres[nearest].T, self._radii[nearest])
        self.counts += np.bincount(nearest, minlength=k)
        for sums, column in zip(self.sums, steps, strict=True):
            sums += _by_centre(nearest, column, k)
        self.squares += _by_centre(nearest, np.trunc((steps * steps).sum(axis=0) / STEPS), k)
        if self._with_products:
            pairs = ((a, b) for i, a in enumerate(steps) for b in steps[i:])
            for sums, (one, other) in zip(self.products, pairs, strict=True):
                sums += _by_centre(nearest, np.trunc(one * other / STEPS), k)
        for (place, size), counts in zip(self._levels, self.levels, strict=True):
            level = np.clip(np.rint(tile[place]), 0, size - 1).astype(np.int64)
            counts += np.bincount(nearest * size + level, minlength=k * size).reshape(k, size)

    def merge(self, other: Self) -> None:
        self.counts += other.counts
        self.sums += other.sums
        self.squares += other.squares
        self.products += other.products
        for mine, theirs in zip(self.levels, other.levels, strict=True):
            mine += theirs


def clipped_steps(apart: Floats, radii: Floats) -> Floats:
    """Return vectors in whole steps of their ball, none longer than `STEPS`: checked in whole numbers, row by row.

    Parameters
    ----------
    apart : array of shape (d, n)
        From the centre of each row.
    radii : array of shape (n,)

    Examples
    --------
    >>> clipped_steps(np.array([[1.0, 30.0], [0.0, 40.0]]), np.array([2.0, 2.0])).astype(int).tolist()
    [[524288, 629145], [0, 838860]]
    """
    apart = apart / radii
    length = np.zeros(apart.shape[1])
    for column in apart:  # column by column: a row's length does not depend on the block it stands in
        length += column * column
    length = np.sqrt(length)
    steps: Floats = np.trunc(apart * (STEPS / np.maximum(1.0, length * (1.0 + 1e-9))))
    total = np.zeros(apart.shape[1])
    for column in steps:  # whole numbers below 2^53: exact
        total += column * column
    steps[:, ~(total <= float(STEPS) ** 2)] = 0.0  # cannot be; if it could, the row would not count
    return steps


def _by_centre(nearest: Integers, whole: Floats, k: int) -> Integers:
    # sums of whole numbers below 2^53 are exact in doubles
    sums: Integers = np.bincount(nearest, weights=whole, minlength=k).astype(np.int64)
    return sums
