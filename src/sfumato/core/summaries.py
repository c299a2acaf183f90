"""Summaries of blocks: what a method may learn of a table while reading it once.

A summary is *exact*: minima, counts, and sums of integers. So its value depends on the rows and on nothing
else, neither on the size of the batches nor on the order in which they are merged. Float sums would differ
in their last bits, and with them every released value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.core.fast import compiled_kernels
from sfumato.core.rows import RowRange, Rows
from sfumato.core.tiles import BLOCK_ROWS, tile_rows

_QUANTUM_BITS = 21  # 2^21 on each side of the middle: products of 1024 rows stay below 2^53
_PRODUCT_ROWS = 1024
_SPARE = 20.0  # deviations by which more rows of a sample are kept than are asked for
_MANY = 2  # times as many rows as are kept


class Summary(ABC):
    """Something that can be learnt from blocks in any order.

    Subclasses add blocks (`add`), give an empty twin for another worker (`fresh`), and join with what
    another worker has seen (`merge`). What it has learnt stands in the attributes named in `learnt`, so that it can
    travel to another process without its parameters.
    """

    learnt: ClassVar[tuple[str, ...]]

    @property
    def block_rows(self) -> int:
        """How many rows `add` likes to see at once; the result does not depend on it."""
        return BLOCK_ROWS

    @abstractmethod
    def fresh(self) -> Self:
        """Return an empty summary of the same kind."""

    @abstractmethod
    def add(self, tile: Floats, rows: Rows) -> None:
        """Add a block: `tile` has shape (columns, rows)."""

    def add_plain(self, table: Floats, rows: Rows) -> bool:
        """Add a block as it lies in memory, shape (rows, columns), if that can be done in one compiled call."""
        return False

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Add everything another summary has seen (other rows)."""

    def conclude(self) -> None:  # noqa: B027  # most have nothing to do
        """Do what is done once, where all rows have been merged; see `Concluded`."""


class Moments(Summary):
    """Exact means and covariances on a grid of 2^22 steps over each column's range.

    Values become integers, and products of integers below 2^53 are exact in doubles, so that even a matrix
    product by BLAS has one possible result. The means keep another 22 bits.

    Parameters
    ----------
    low, high : arrays of shape (d,)
        Range of each column, from the survey.
    cross : bool
        False leaves out the covariances and keeps the variances.

    Examples
    --------
    >>> from sfumato.core.rows import RowRange
    >>> moments = Moments(np.array([0.0]), np.array([4.0]))
    >>> moments.add(np.array([[0.0, 1.0, 3.0, 4.0]]), RowRange(0, 4))
    >>> moments.mean().tolist(), moments.variance().round(6).tolist()
    ([2.0], [3.333333])
    """

    learnt: ClassVar[tuple[str, ...]] = ("n_rows", "_sums", "_rest", "_older", "_recent", "_recent_rows")

    def __init__(self, low: Floats, high: Floats, *, cross: bool = True) -> None:
        self._low, self._high, self._cross = low, high, cross
        self._middle = low / 2 + high / 2
        half = high / 2 - low / 2
        self._unit = np.maximum(np.where(half > 0, half, 1.0) / 2.0**_QUANTUM_BITS, np.finfo(np.float64).tiny)
        d = len(low)
        self.n_rows = 0
        self._sums: list[int] = [0] * d
        self._rest: list[int] = [0] * d
        shape = (d, d) if cross else (d,)
        self._older = np.zeros(shape, dtype=object)
        self._recent = np.zeros(shape, dtype=np.int64)  # of fewer than 2^20 rows, which 64 bits hold
        self._recent_rows = 0

    @property
    def _products(self) -> NDArray[np.object_]:
        """The sums of products of steps, as integers without bounds."""
        total: NDArray[np.object_] = self._older + self._recent.astype(object)
        return total

    def _set_products(self, total: NDArray[np.object_]) -> None:
        self._older, self._recent_rows = total, 0
        self._recent[...] = 0

    def fresh(self) -> Self:
        return type(self)(self._low, self._high, cross=self._cross)

    @property
    def block_rows(self) -> int:
        # numpy: the tile, its steps and their rests together stay in the cache
        return tile_rows((3 if compiled_kernels(0) is None else 1) * len(self._low))

    def add(self, tile: Floats, rows: Rows) -> None:
        for start in range(0, tile.shape[1], 1 << 19):  # int64 holds 2^42 * 2^19
            self._add_part(tile[:, start : start + (1 << 19)])

    def add_plain(self, table: Floats, rows: Rows) -> bool:
        fast = compiled_kernels(table.size)
        if fast is None:
            return False
        for start in range(0, len(table), 1 << 19):
            part = table[start : start + (1 << 19)]
            sums, rests = np.zeros((2, len(self._low)), dtype=np.int64)
            products = np.zeros((len(self._low) if self._cross else 1, len(self._low)), dtype=np.int64)
            fast.moments_of_rows(part, self._middle, self._unit, self._cross, sums, rests, products)
            self._count_rows(len(part))
            self._recent += products + np.tril(products, -1).T if self._cross else products[0]
            self._add_sums(sums, rests)
        return True

    def _add_part(self, tile: Floats) -> None:
        self._count_rows(tile.shape[1])
        self._add_sums(*self._steps(tile))

    def _count_rows(self, count: int) -> None:
        if self._recent_rows + count > 1 << 20:
            self._set_products(self._products)
        self._recent_rows += count
        self.n_rows += count

    def _add_sums(self, sums: NDArray[Any], rests: NDArray[Any]) -> None:
        for column, (s, r) in enumerate(zip(sums.tolist(), rests.tolist(), strict=True)):
            self._sums[column] += int(s)
            self._rest[column] += int(r)

    def _steps(self, tile: Floats) -> tuple[NDArray[Any], NDArray[Any]]:
        """Add the products of whole steps of the grid; return their sums, and the sums of the rests in 2^-22 steps."""
        fast = compiled_kernels(tile.size)
        if fast is not None:
            sums, rests, squares = np.zeros((3, len(tile)), dtype=np.int64)
            steps = np.empty(tile.shape if self._cross else (0, 0))
            fast.grid_steps(np.ascontiguousarray(tile), self._middle, self._unit, steps, sums, rests, squares)
            if self._cross:
                self._add_products(steps)
            else:
                self._recent += squares
            return sums, rests
        scaled = tile - self._middle[:, None]
        scaled /= self._unit[:, None]
        steps = np.rint(scaled)
        self._add_products(steps)
        scaled -= steps
        scaled *= 2.0**22
        rests = np.rint(scaled, out=scaled)
        # whole numbers of 21 bits: doubles hold sums of 2^19 of them exactly, in any order
        return steps.sum(axis=1), rests.sum(axis=1)

    def _add_products(self, steps: Floats) -> None:
        if not self._cross:
            for start in range(0, steps.shape[1], _PRODUCT_ROWS):
                part = steps[:, start : start + _PRODUCT_ROWS]
                self._recent += (part * part).sum(axis=1).astype(np.int64)
            return
        # products of as many rows as stay exact, of all such parts in one call: threads wait for the interpreter less
        whole = steps.shape[1] - steps.shape[1] % _PRODUCT_ROWS
        parts = steps[:, :whole].reshape(len(steps), -1, _PRODUCT_ROWS).transpose(1, 0, 2)
        self._recent += np.matmul(parts, parts.transpose(0, 2, 1)).astype(np.int64).sum(axis=0)
        rest = steps[:, whole:]
        self._recent += (rest @ rest.T).astype(np.int64)

    def merge(self, other: Self) -> None:
        self.n_rows += other.n_rows
        self._sums = [a + b for a, b in zip(self._sums, other._sums, strict=True)]
        self._rest = [a + b for a, b in zip(self._rest, other._rest, strict=True)]
        self._set_products(self._products + other._products)

    def mean(self) -> Floats:
        """Return the mean of each column."""
        steps = [((s << 22) + r) / (self.n_rows << 22) for s, r in zip(self._sums, self._rest, strict=True)]
        mean: Floats = np.clip(self._middle + np.array(steps) * self._unit, self._low, self._high)
        return mean

    @property
    def units(self) -> Floats:
        """The step of each column's grid."""
        return self._unit

    def step_covariance(self) -> Floats:
        """Return the covariance matrix (divisor n - 1) in steps of the grid, which neither under- nor overflows."""
        n, products = self.n_rows, self._products
        out: Floats = np.empty(products.shape)
        for i, a in enumerate(self._sums):
            for j, b in enumerate(self._sums):
                # integers divided by integers: correctly rounded, whatever their size
                out[i, j] = (n * products[i, j] - a * b) / (n * max(n - 1, 1))
        return out

    def covariance(self) -> Floats:
        """Return the covariance matrix (divisor n - 1)."""
        covariance: Floats = self.step_covariance() * self._unit[:, None] * self._unit[None, :]
        return covariance

    def variance(self) -> Floats:
        """Return the variance of each column (divisor n - 1)."""
        return self._step_variance() * self._unit * self._unit

    def deviation(self) -> Floats:
        """Return the standard deviation of each column (divisor n - 1)."""
        return np.sqrt(self._step_variance()) * self._unit

    def _step_variance(self) -> Floats:
        n = self.n_rows
        squares = np.diagonal(self._products) if self._cross else self._products
        exact = [(n * p - s * s) / (n * max(n - 1, 1)) for p, s in zip(squares, self._sums, strict=True)]
        return np.array(exact)


class Sample(Summary):
    """A keyed random sample: the `size` rows with the smallest words.

    Parameters
    ----------
    subkey : bytes
        The stream whose words decide.
    of : int
        Rows of the table, so that most of them need not be looked at twice. Default: 0, nobody knows.
    """

    learnt: ClassVar[tuple[str, ...]] = ("_words", "_labels", "_values", "_waiting")

    def __init__(self, size: int, subkey: bytes, of: int = 0) -> None:
        self._size, self._subkey, self._of = size, subkey, of
        # of words for each row more than so many are below this but once in more tables than there are atoms
        likely = size + _SPARE * size**0.5 + _SPARE**2
        self._most = np.uint64(2**64 * likely / of) if of > _MANY * likely else None
        self._words: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        self._labels: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        self._values: Floats | None = None
        self._waiting: list[tuple[NDArray[np.uint64], NDArray[np.uint64], Floats]] = []

    def fresh(self) -> Self:
        return type(self)(self._size, self._subkey, self._of)

    def add(self, tile: Floats, rows: Rows) -> None:
        words = rows.words(self._subkey)
        most = self._most if isinstance(rows, RowRange) else None  # of a person with many rows all have one word
        if len(self._words) == self._size:
            most = self._words[-1]  # full: most rows come too late
        if most is not None:
            early = np.flatnonzero(words <= most)
            self._waiting.append((words[early], rows.labels()[early], tile[:, early]))
        else:
            self._waiting.append((words, rows.labels(), tile.copy()))
        if sum(len(part[0]) for part in self._waiting) > self._size // 2:
            self._join()

    def merge(self, other: Self) -> None:
        # what many workers have seen is looked through once, when somebody asks
        self._waiting += other._waiting
        if other._values is not None:
            self._waiting.append((other._words, other._labels, other._values))

    def _join(self) -> None:
        """Put the rows that wait in their places; not each time, because it moves the whole sample."""
        if self._waiting:
            words, labels, values = zip(*self._early(), strict=True)
            self._waiting = []
            self._keep(np.concatenate(words), np.concatenate(labels), np.concatenate(values, axis=1))

    def _early(self) -> list[tuple[NDArray[np.uint64], NDArray[np.uint64], Floats]]:
        """Return the rows that wait, without those that cannot be among the smallest words."""
        words = np.concatenate([part[0] for part in self._waiting])
        if len(words) <= 2 * self._size:
            return self._waiting
        last = np.partition(words, self._size - 1)[self._size - 1]
        return [
            (one[early], labels[early], values[:, early])
            for one, labels, values in self._waiting
            for early in (np.flatnonzero(one <= last),)
        ]

    def _keep(self, words: NDArray[np.uint64], labels: NDArray[np.uint64], values: Floats) -> None:
        if self._values is not None:
            words = np.concatenate([self._words, words])
            labels = np.concatenate([self._labels, labels])
            values = np.concatenate([self._values, values], axis=1)
        some = np.arange(len(words))
        if len(words) > self._size:
            some = np.flatnonzero(words <= np.partition(words, self._size - 1)[self._size - 1])
        order = some[np.lexsort((labels[some], words[some]))][: self._size]  # the rows themselves are moved once
        self._words, self._labels, self._values = words[order], labels[order], values[:, order]

    def values(self) -> Floats:
        """Return the sampled rows in the order of their words, shape (size, d)."""
        self._join()
        assert self._values is not None
        return np.ascontiguousarray(self._values.T)

    def labels(self) -> NDArray[np.uint64]:
        """Return the row labels of the sampled rows, in the same order."""
        self._join()
        return self._labels


class Gathered(Summary):
    """All rows, for methods that need the whole table at once; merging is a disjoint union."""

    learnt: ClassVar[tuple[str, ...]] = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[tuple[int, Floats]] = []

    def fresh(self) -> Self:
        return type(self)()

    def add(self, tile: Floats, rows: Rows) -> None:
        start: Any = getattr(rows, "start", len(self._parts))
        self._parts.append((start, tile.copy()))

    def merge(self, other: Self) -> None:
        self._parts += other._parts

    def values(self) -> Floats:
        """Return the table in row order, shape (columns, rows)."""
        return np.concatenate([part for _, part in sorted(self._parts, key=lambda item: item[0])], axis=1)


class Together(Summary):
    """Several summaries filled in one pass."""

    learnt: ClassVar[tuple[str, ...]] = ("parts",)

    def __init__(self, parts: list[Summary]) -> None:
        self.parts = parts

    def fresh(self) -> Self:
        return type(self)([part.fresh() for part in self.parts])

    @property
    def block_rows(self) -> int:
        return min((part.block_rows for part in self.parts), default=BLOCK_ROWS)

    def add(self, tile: Floats, rows: Rows) -> None:
        for part in self.parts:
            part.add(tile, rows)

    def merge(self, other: Self) -> None:
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            mine.merge(theirs)


class Concluded(Together):
    """Several summaries filled in one pass, and what is made of them once and travels with them.

    What is not the same on every machine is made where all rows have been merged; whoever runs the rounds again is
    sent the result.

    Parameters
    ----------
    parts : list of Summary
    work : callable
        The filled parts -> plain values.
    """

    learnt: ClassVar[tuple[str, ...]] = ("parts", "found")

    def __init__(self, parts: list[Summary], work: Callable[[list[Summary]], Any]) -> None:
        super().__init__(parts)
        self._work = work
        self.found: Any = None

    def fresh(self) -> Self:
        return type(self)([part.fresh() for part in self.parts], self._work)

    def conclude(self) -> None:
        if self.found is None:
            self.found = self._work(self.parts)
