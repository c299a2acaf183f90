"""Broken releases again: sums of bits, codes of row numbers, telling digits and gaps, noise that comes again.

The same shape as in `broken`: makers, the best grade that each may get on each table, and five variants.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]
Draw = np.random.Generator
Maker = Callable[[Table, Draw], Table]
Whole = NDArray[np.int64]


def _sd(x: Table) -> Table:
    return np.asarray(np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0))


def _fresh(x: Table, draw: Draw) -> Table:
    return np.asarray(draw.multivariate_normal(x.mean(axis=0), np.cov(x, rowvar=False), len(x)))


def _units(x: Table) -> tuple[Whole, int]:
    per_one = 1 if np.array_equal(x, np.rint(x)) else 100
    return np.rint(x * per_one).astype(np.int64), per_one


def mixed_bits(mix: Callable[[Whole, Draw], Whole]) -> Maker:
    """Return a maker that does something to the bits of whole units."""

    def make(x: Table, draw: Draw) -> Table:
        units, per_one = _units(x)
        return np.asarray(mix(units, draw) / per_one)

    return make


def _with_next(units: Whole, _: Draw) -> Whole:
    return np.column_stack([units[:, :-1] ^ units[:, 1:], units[:, -1]])


def _turned_bits(units: Whole, draw: Draw) -> Whole:
    wide = int(units.max()).bit_length()
    order = draw.permutation(wide)
    return np.asarray(sum(((units >> i) & 1) << int(order[i]) for i in range(wide)))


def coded_rows(code: Callable[[Whole], Whole], unit: float = 1e-6, column: int = 0) -> Maker:
    """Return a maker of fresh rows that hold a code of the row's number in the low digits of a column."""

    def make(x: Table, draw: Draw) -> Table:
        released = np.round(_fresh(x, draw), 2)
        released[:, column] += code(np.arange(len(x))) * unit
        return released

    return make


def told_digits(parts: int, *, mixed: bool = True) -> Maker:
    """Return a maker of fresh rows whose last digit says in which part of its column the original stands."""

    def make(x: Table, draw: Draw) -> Table:
        released = np.round(_fresh(x, draw), 1)
        ranks = np.argsort(np.argsort(x, axis=0, kind="stable"), axis=0) * parts // len(x)
        names = draw.permutation(10) if mixed else np.arange(10)
        return np.asarray(np.round(released + 0.01 * names[ranks], 2))

    return make


def kept_remainder(size: int) -> Maker:
    """Return a maker of fresh cells that keep the original's remainder."""

    def make(x: Table, draw: Draw) -> Table:
        units, per_one = _units(x)
        fresh = np.rint(_fresh(x, draw) * per_one).astype(np.int64)
        return np.asarray((fresh - fresh % size + units % size) / per_one)

    return make


def telling_gaps(share: float = 0.5, *, back: int = 0) -> Maker:
    """Return a maker of fresh rows that miss a cell where the original is large."""

    def make(x: Table, draw: Draw) -> Table:
        released = _fresh(x, draw)
        high = x > np.quantile(x, 1 - share, axis=0)
        released[np.roll(high, back, axis=1)] = np.nan
        return released

    return make


def numbering_gaps(*, gray: bool = False) -> Maker:
    """Return a maker of fresh rows whose gaps are the bits of the row's number."""

    def make(x: Table, draw: Draw) -> Table:
        released, number = _fresh(x, draw), np.arange(len(x))
        number = number ^ (number >> 1) if gray else number
        for j in range(x.shape[1]):
            released[((number >> (10 - j)) & 1) == 1, j] = np.nan
        return released

    return make


def repeated_noise(rows: int, size: float = 3.0, *, blocks: bool = False) -> Maker:
    """Return a maker of noise that comes again every so many rows, or stays for as many."""

    def make(x: Table, draw: Draw) -> Table:
        number = np.arange(len(x))
        keys = number // rows if blocks else number % rows
        return np.asarray(x + (size * _sd(x) * draw.normal(size=(int(keys.max()) + 1, x.shape[1])))[keys])

    return make


def drifting_noise(step: float = 0.002) -> Maker:
    """Return a maker of noise that changes little from row to row."""
    return lambda x, draw: np.asarray(
        x
        + 10
        * _sd(x)
        * draw.normal(size=(1, x.shape[1]))
        * (1 + step * np.cumsum(draw.normal(size=(len(x), 1)), axis=0) / 10)
    )


def moved_columns(*, upside: bool = False, factor: float = 1.0, noise: float = 0.0) -> Maker:
    """Return a maker that moves every column down the file, each by a number of rows of its own."""

    def make(x: Table, draw: Draw) -> Table:
        lags = draw.integers(5, len(x) - 5, x.shape[1])
        columns = [np.roll(column[::-1] if upside else column, lag) for column, lag in zip(x.T, lags, strict=True)]
        moved = np.column_stack(columns)
        return np.asarray(factor * moved + noise * _sd(x) * draw.normal(size=x.shape))

    return make


def keyed_cipher(keys: int = 3) -> Maker:
    """Return a maker of ciphers of which a released column says which one."""

    def make(x: Table, draw: Draw) -> Table:
        key = np.argsort(np.argsort(x[:, -1], kind="stable")) * keys // len(x)
        columns = []
        for column in x[:, :-1].T:
            coarse = np.searchsorted(np.quantile(column, np.arange(1, 12) / 12), column)
            columns.append(np.stack([draw.permutation(12) for _ in range(keys)])[key, coarse].astype(np.float64))
        return np.column_stack([*columns, key])

    return make


def swapped_copies(share: float = 0.05, *, sizes: float = 0.0) -> Maker:
    """Return a maker of some people whose cells stand in other columns; everybody else is fresh."""

    def make(x: Table, draw: Draw) -> Table:
        released, some = _fresh(x, draw), draw.permutation(len(x))[: int(share * len(x))]
        released[some] = x[some][:, draw.permutation(x.shape[1])]
        return np.asarray(draw.permutation(released + sizes * _sd(x) * draw.normal(size=x.shape)))

    return make


#: name -> (maker, the best grade that it may get on each table)
BROKEN_BITS: dict[str, tuple[Maker, dict[str, str]]] = {
    "exclusive or of columns": (mixed_bits(_with_next), {"skewed": "D", "counted": "D"}),
    "squares of row numbers": (
        coded_rows(lambda i: (17 * i * i + 101 * i + 7) % 10007), {"skewed": "F", "counted": "F"}
    ),
    "digits that tell a part": (told_digits(8), {"skewed": "C", "counted": "B"}),
    "remainders that stay": (kept_remainder(4), {"skewed": "B", "counted": "B"}),
    "gaps that tell": (telling_gaps(), {"skewed": "B", "counted": "B"}),
    "gaps that number rows": (numbering_gaps(), {"skewed": "C"}),
    "noise that comes again": (repeated_noise(40), {"skewed": "D", "counted": "D"}),
    "columns moved down": (moved_columns(), {"skewed": "D", "counted": "D"}),
    "cipher of which a column is the key": (keyed_cipher(), {"skewed": "C", "counted": "B"}),
    "few copies in other columns": (swapped_copies(), {"skewed": "B", "counted": "B"}),
}  # fmt: skip

#: name -> five variants, made last
VARIANTS_BITS: dict[str, list[Maker]] = {
    "exclusive or of columns": [
        mixed_bits(lambda u, _: np.column_stack([u[:, :1], u[:, 1:] ^ u[:, :1]])),
        mixed_bits(lambda u, draw: u ^ draw.integers(0, 64, (1, u.shape[1]))),
        mixed_bits(lambda u, _: u ^ np.arange(len(u))[:, None]),
        mixed_bits(lambda u, _: u ^ (u >> 1)),
        mixed_bits(_turned_bits),
    ],
    "squares of row numbers": [
        coded_rows(lambda i: (5 * i**3 + 11 * i + 7) % 4093, 1e-6, 1), coded_rows(lambda i: (i * i + 1) % 65537, 1e-7),
        coded_rows(lambda i: i ^ (i >> 1) ^ 677, 1e-6, 2), coded_rows(lambda i: (3 * i * i + i) % 2048),
        coded_rows(lambda i: np.asarray(sum(((i >> b) & 1) << (10 - b) for b in range(11)))),
    ],
    "digits that tell a part": [
        told_digits(10), told_digits(4), told_digits(2), told_digits(10, mixed=False), told_digits(6),
    ],
    "remainders that stay": [kept_remainder(s) for s in (2, 8, 10, 5, 20)],
    "gaps that tell": [
        telling_gaps(0.3), telling_gaps(0.6), telling_gaps(back=1), telling_gaps(0.4, back=3), telling_gaps(0.45),
    ],
    "gaps that number rows": [
        numbering_gaps(gray=True),
        lambda x, draw: -numbering_gaps()(x, draw), lambda x, draw: numbering_gaps()(x, draw)[:, ::-1],
        lambda x, draw: np.round(numbering_gaps()(x, draw)), lambda x, draw: 1e3 + numbering_gaps(gray=True)(x, draw),
    ],
    "noise that comes again": [
        repeated_noise(2, blocks=True), repeated_noise(61, 10.0), repeated_noise(5, blocks=True),
        repeated_noise(16, blocks=True), drifting_noise(),
    ],
    "columns moved down": [
        moved_columns(upside=True), moved_columns(factor=-3.0), moved_columns(noise=0.02),
        lambda x, draw: moved_columns()(x, draw)[:, draw.permutation(x.shape[1])],
        lambda x, draw: moved_columns()(np.sqrt(x), draw),
    ],
    "cipher of which a column is the key": [keyed_cipher(2), keyed_cipher(4), keyed_cipher(1), keyed_cipher(5),
        lambda x, draw: keyed_cipher()(x, draw)[:, ::-1],
    ],
    "few copies in other columns": [
        swapped_copies(0.03), swapped_copies(0.1), swapped_copies(0.04), swapped_copies(0.05, sizes=1e-6),
        lambda x, draw: np.where(draw.random((len(x), 1)) < 0.05, -x, _fresh(x, draw)),
    ],
}  # fmt: skip
