"""Broken releases again: sums in a modulus, steps of generators, ciphers and turns in random order.

The same shape as in `broken`: makers, the best grade that each may get on each table, and five variants.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tests.auditing.broken import by_cluster, cipher, normal_scores, turn
from tests.auditing.broken_bits import coded_rows

Table = NDArray[np.float64]
Draw = np.random.Generator
Maker = Callable[[Table, Draw], Table]
Whole = NDArray[np.int64]


def _sd(x: Table) -> Table:
    return np.asarray(np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0))


def _z(x: Table) -> Table:
    return np.asarray((x - x.mean(axis=0)) / _sd(x))


def _fresh(x: Table, draw: Draw) -> Table:
    return np.asarray(draw.multivariate_normal(x.mean(axis=0), np.cov(x, rowvar=False), len(x)))


def _units(x: Table) -> Whole:
    return np.asarray(np.rint(x * (1 if np.array_equal(x, np.rint(x)) else 100)).astype(np.int64))


def _shuffled(make: Maker) -> Maker:
    return lambda x, draw: draw.permutation(make(x, draw))


def multiples(factor: int = 1237, modulus: int = 10_000, *, tweak: int = 0, behind: int = 0) -> Maker:
    """Return a maker of multiples of every cell in a modulus, behind noise, and moved by the row's number."""

    def make(x: Table, draw: Draw) -> Table:
        codes = (factor * _units(x) + tweak * np.arange(len(x))[:, None] + 17) % modulus
        return np.asarray(codes + behind * 100_000 * draw.integers(0, 500, x.shape), dtype=np.float64)

    return make


def sums(modulus: int, weights: tuple[int, ...] = (1, 1)) -> Maker:
    """Return a maker of fresh rows with sums of neighbouring columns, in a modulus, as their last digits."""

    def make(x: Table, draw: Draw) -> Table:
        units, size = _units(x), 10 ** len(str(modulus - 1))
        total = sum(weight * np.roll(units, -k, axis=1) for k, weight in enumerate(weights))
        noise = np.rint(_fresh(_units(x).astype(np.float64), draw)).astype(np.int64)
        return np.asarray(noise * size + total % modulus, dtype=np.float64)

    return make


def generated(factor: int, more: int, modulus: int, unit: float = 1e-6) -> Maker:
    """Return a maker of fresh rows that hold a generator's numbers, from row to row, in the low digits of a column."""

    def numbers(rows: Whole) -> Whole:
        every = [1]
        while len(every) < len(rows):
            every.append((factor * every[-1] + more) % modulus)
        return np.array(every)

    return coded_rows(numbers, unit)


def turned(noise: float = 0.0, *, kept: int | None = None, scores: bool = False, rounded: int | None = None) -> Maker:
    """Return a maker of a rotation, of all of the table or of its largest components, shuffled."""

    def make(x: Table, draw: Draw) -> Table:
        z = normal_scores(x) if scores else _z(x)
        if kept is not None:
            z = z @ np.linalg.eigh(np.cov(z, rowvar=False))[1][:, ::-1][:, :kept]
        released = z @ turn(z.shape[1], draw)
        released = released + noise * draw.normal(size=released.shape)
        return draw.permutation(released if rounded is None else np.round(released, rounded))

    return make


#: name -> (maker, the best grade that it may get on each table)
BROKEN_SUMS: dict[str, tuple[Maker, dict[str, str]]] = {
    "multiples in a modulus": (multiples(), {"skewed": "D", "counted": "D"}),
    "sums in a modulus": (sums(9_973), {"skewed": "C", "counted": "C"}),
    "row number in a generator": (generated(5, 0, 10_007), {"skewed": "F", "counted": "F"}),
    "shuffled cipher": (_shuffled(cipher()), {"counted": "D"}),
    "shuffled turn": (turned(0.05), {"skewed": "D", "counted": "D"}),
    "shuffled turns of clusters": (_shuffled(by_cluster()), {"skewed": "D"}),
}

#: name -> five variants, made last
VARIANTS_SUMS: dict[str, list[Maker]] = {
    "multiples in a modulus": [
        multiples(behind=1), multiples(7919, 9_973, behind=1), multiples(1, 10_007, tweak=7919),
        multiples(12_345, 1 << 16, tweak=33), multiples(-1, 65_537),
    ],
    "sums in a modulus": [
        sums(10_000, (3, 7)), sums(97, (1, 2, 3)), sums(1_024, (5, 1)), sums(9_973, (1, 1, 1, 1)), sums(997, (10, 1)),
    ],
    "row number in a generator": [
        generated(1_103_515_245, 12_345, 1 << 16, 1e-7), generated(16_807, 0, 1_000_003, 1e-8),
        generated(3, 0, 65_537, 1e-7), generated(4_093, 257, 9_973), generated(21, 7, 4_096),
    ],
    "shuffled cipher": [
        _shuffled(cipher(1.0)), _shuffled(cipher(permuted=True)), _shuffled(lambda x, draw: -cipher()(x, draw)),
        _shuffled(lambda x, draw: np.asarray(cipher()(x, draw) ** 2 + 5)), _shuffled(cipher(0.5, permuted=True)),
    ],
    "shuffled turn": [turned(), turned(0.1), turned(rounded=1), turned(scores=True), turned(0.02, kept=4)],
    "shuffled turns of clusters": [
        _shuffled(by_cluster(4)), _shuffled(by_cluster(12)), _shuffled(by_cluster(5, noise=0.01)),
        _shuffled(by_cluster(2)), _shuffled(by_cluster(6, noise=0.005)),
    ],
}  # fmt: skip
