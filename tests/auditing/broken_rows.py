"""More broken releases: noise that leaves some number of every row alone, rows that hang on their neighbours.

The same shape as in `broken`: makers, the best grade that each may get on each table, and five variants.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]
Draw = np.random.Generator
Maker = Callable[[Table, Draw], Table]


def _sd(x: Table) -> Table:
    return np.asarray(np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0))


def _z(x: Table) -> Table:
    return np.asarray((x - x.mean(axis=0)) / _sd(x))


def _fresh(x: Table, draw: Draw) -> Table:
    return np.asarray(draw.multivariate_normal(x.mean(axis=0), np.cov(x, rowvar=False), len(x)))


def cancelling(size: float = 5.0, *, parts: int = 1, scaled: bool = True) -> Maker:
    """Return a maker of large noise that is 0 in the sum over the columns, or over so many parts of them."""

    def make(x: Table, draw: Draw) -> Table:
        noise = size * draw.normal(size=x.shape)
        for part in np.array_split(np.arange(x.shape[1]), parts):
            noise[:, part] -= noise[:, part].mean(axis=1, keepdims=True)
        return _z(x) + noise if scaled else x + _sd(x).mean() * noise

    return make


def common_shift(columns: tuple[int, ...], size: float = 20.0, *, times: bool = False) -> Maker:
    """Return a maker that moves some columns of a row by the same amount, as dates of one person; others are fresh."""

    def make(x: Table, draw: Draw) -> Table:
        released, moved = _fresh(x, draw), size * draw.normal(size=len(x))
        for j in columns:
            released[:, j] = x[:, j] * np.exp(moved / size) if times else _z(x)[:, j] + moved
        return released

    return make


def turned_pairs(columns: int = 2) -> Maker:
    """Return a maker that turns each row by angles of its own, so many columns at a time: lengths stay."""

    def make(x: Table, draw: Draw) -> Table:
        released = _z(x)
        for begin in range(0, x.shape[1] - columns + 1, columns):
            part = released[:, begin : begin + columns]
            length = np.linalg.norm(part, axis=1, keepdims=True)
            way = draw.normal(size=part.shape)
            released[:, begin : begin + columns] = length * way / np.linalg.norm(way, axis=1, keepdims=True)
        return released

    return make


def balanced_factors(size: float = 2.0) -> Maker:
    """Return a maker that multiplies one column by what it divides the next by: their product stays."""

    def make(x: Table, draw: Draw) -> Table:
        released = x.copy()
        for j in range(0, x.shape[1] - 1, 2):
            factor = np.exp(size * draw.normal(size=len(x)))
            released[:, j] *= factor
            released[:, j + 1] /= factor
        return released

    return make


def products() -> Maker:
    """Return a maker of the products of neighbouring columns."""
    return lambda x, _: np.asarray(_z(x) * np.roll(_z(x), 1, axis=1))


def noisy_directions(share: float = 0.5, size: float = 10.0) -> Maker:
    """Return a maker of large noise in some random directions and none in the others."""

    def make(x: Table, draw: Draw) -> Table:
        d = x.shape[1]
        ways = np.linalg.qr(draw.normal(size=(d, d)))[0][:, : max(1, int(share * d))]
        return np.asarray(_z(x) + (size * draw.normal(size=(len(x), ways.shape[1]))) @ ways.T)

    return make


def moving_sums(rows: int = 2, *, noise: float = 0.0, around: bool = False) -> Maker:
    """Return a maker of means of a row and those before it, or around it."""

    def make(x: Table, draw: Draw) -> Table:
        first = -(rows // 2) if around else 0
        means = sum(np.roll(x, first + k, axis=0) for k in range(rows)) / rows
        return np.asarray(means + noise * _sd(x) * draw.normal(size=x.shape))

    return make


def row_steps(rows: int = 1) -> Maker:
    """Return a maker of differences to the row so many before."""
    return lambda x, _: np.asarray(x - np.roll(x, rows, axis=0))


def numbered_column(factor: int = 7919, modulus: int = 10007) -> Maker:
    """Return a maker of fresh rows, one column of which is the row's number in a congruence."""

    def make(x: Table, draw: Draw) -> Table:
        released = _fresh(x, draw)
        released[:, 0] = (factor * np.arange(len(x)) + 13) % modulus
        return released

    return make


def exact_columns(columns: int = 3, noise: float = 2.0) -> Maker:
    """Return a maker of large noise in all columns but some, which stay as they are; shuffled."""

    def make(x: Table, draw: Draw) -> Table:
        released = x + noise * _sd(x) * draw.normal(size=x.shape)
        released[:, :columns] = x[:, :columns]
        return draw.permutation(released)

    return make


def exchanged_blocks(width: int = 3) -> Maker:
    """Return a maker that gives people each other's values, so many columns at a time."""

    def make(x: Table, draw: Draw) -> Table:
        parts = [draw.permutation(x[:, begin : begin + width]) for begin in range(0, x.shape[1], width)]
        return np.column_stack(parts)

    return make


#: name -> (maker, the best grade that it may get on each table)
BROKEN_ROWS: dict[str, tuple[Maker, dict[str, str]]] = {
    "noise that cancels in the sum": (cancelling(), {"skewed": "C", "counted": "C"}),
    "one shift for a person's dates": (common_shift((0, 1)), {"skewed": "C", "counted": "B"}),
    "pairs turned row by row": (turned_pairs(), {"skewed": "C", "counted": "C"}),
    "factors that balance": (balanced_factors(), {"skewed": "C", "counted": "C"}),
    "noise in half of the directions": (noisy_directions(), {"skewed": "C", "counted": "C"}),
    "moving means": (moving_sums(), {"skewed": "D", "counted": "D"}),
    "row number in a column": (numbered_column(), {"skewed": "F", "counted": "F"}),
    "some columns untouched and shuffled": (exact_columns(), {"skewed": "C", "counted": "C"}),
}

#: name -> five variants, made last
VARIANTS_ROWS: dict[str, list[Maker]] = {
    "noise that cancels in the sum": [
        cancelling(50.0), cancelling(1.0), cancelling(parts=2), cancelling(scaled=False),
        cancelling(20.0, scaled=False),
    ],
    "one shift for a person's dates": [
        common_shift((1, 3)), common_shift((0, 1, 2)), common_shift((0, 2, 4), 100.0),
        common_shift((0, 1, 2), times=True), common_shift((2, 3, 4, 5)),
    ],
    "pairs turned row by row": [turned_pairs(3), turned_pairs(4), turned_pairs(6), products(), turned_pairs(5)],
    "factors that balance": [balanced_factors(s) for s in (0.5, 1.0, 4.0, 3.0, 1.5)],
    "noise in half of the directions": [
        noisy_directions(0.3), noisy_directions(0.7), noisy_directions(0.5, 100.0), noisy_directions(0.85),
        noisy_directions(0.2, 3.0),
    ],
    "moving means": [
        moving_sums(3), moving_sums(3, around=True), moving_sums(4, noise=1e-4), row_steps(), row_steps(3),
    ],
    "row number in a column": [
        numbered_column(1, 10007), numbered_column(613, 4001), numbered_column(65539, 1_000_003),
        numbered_column(-5, 99991), numbered_column(1103, 2048),
    ],
    "some columns untouched and shuffled": [
        exact_columns(4), exact_columns(3, 20.0), exchanged_blocks(), exchanged_blocks(4), exact_columns(5, 5.0),
    ],
}  # fmt: skip
