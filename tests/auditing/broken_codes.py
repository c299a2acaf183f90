"""Broken releases once more: digits one by one, groups that hang on places, noise in waves, cells left here and there.

The same shape as in `broken`: makers, the best grade that each may get on each table, and five variants.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tests.auditing.broken import Draw, Maker, Table, by_cluster, digits, jitter, turn

Whole = NDArray[np.int64]
Recode = Callable[[Whole, Draw], Whole]


def _sd(x: Table) -> Table:
    return np.asarray(np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0))


def _z(x: Table) -> Table:
    return np.asarray((x - x.mean(axis=0)) / _sd(x))


def _fresh(x: Table, draw: Draw) -> Table:
    return jitter(0.0, 0.0, shuffled=False)(x, draw)


def _parts(x: Table, steps: int) -> Whole:
    return np.rint((x - x.min(axis=0)) / np.maximum(np.ptp(x, axis=0), 1e-9) * (steps - 1)).astype(np.int64)


def _backwards(codes: Whole, _: Draw) -> Whole:
    return np.asarray(codes % 10 * 1000 + codes // 10 % 10 * 100 + codes // 100 % 10 * 10 + codes // 1000)


def _enciphered(codes: Whole, draw: Draw) -> Whole:
    return np.asarray(sum(draw.permutation(10)[codes // 10**place % 10] * 10**place for place in range(4)))


def _masked(codes: Whole, draw: Draw) -> Whole:
    return np.asarray(codes // 10 ^ draw.integers(0, 1024, (1, codes.shape[1])))


def _as_they_are(codes: Whole, _: Draw) -> Whole:
    return codes


def _shuffled(make: Maker) -> Maker:
    return lambda x, draw: draw.permutation(make(x, draw))


def written(recode: Recode) -> Maker:
    """Return a maker of noise that holds the original, recoded, in the digits 3 to 6 after the point."""

    def make(x: Table, draw: Draw) -> Table:
        return np.asarray(np.round(_fresh(x, draw), 2) + recode(_parts(x, 10_000), draw) * 1e-6)

    return make


def numbered(recode: Recode, column: int = 0) -> Maker:
    """Return a maker of noise that holds the row's number, recoded, in the digits 3 to 6 of one column."""

    def make(x: Table, draw: Draw) -> Table:
        released = np.round(_fresh(x, draw), 2)
        released[:, column] += recode(np.arange(len(x))[:, None], draw)[:, 0] * 1e-6
        return released

    return make


def turned_by(key: Callable[[int], Whole], *, noise: float = 0.0) -> Maker:
    """Return a maker that turns rows with the same key by a rotation of their own, about their middle."""

    def make(x: Table, draw: Draw) -> Table:
        keys, released = key(len(x)), _z(x)
        for one in np.unique(keys):
            inside = keys == one
            middle = released[inside].mean(axis=0)
            released[inside] = (released[inside] - middle) @ turn(x.shape[1], draw) + middle
        return released + noise * draw.normal(size=x.shape)

    return make


def waves(form: Callable[[Table], Table], size: float = 4.0) -> Maker:
    """Return a maker of noise that goes round, in every column at a speed of its own, from row to row."""

    def make(x: Table, draw: Draw) -> Table:
        turns = (np.arange(len(x))[:, None] * draw.uniform(0.02, 0.48, x.shape[1]) + draw.random(x.shape[1])) % 1.0
        return np.asarray(x + size * _sd(x) * form(turns))

    return make


def some_cells(share: float = 0.05, left: float = 0.6, *, far: bool = False, shuffled: bool = True) -> Maker:
    """Return a maker of fresh rows, some of which keep part of their cells."""

    def make(x: Table, draw: Draw) -> Table:
        released = _fresh(x, draw)
        ranks = (_z(x) ** 2).sum(axis=1) if far else draw.random(len(x))
        some = np.argsort(-ranks)[: int(share * len(x))]
        stays = draw.random((len(some), x.shape[1])) < left
        released[some] = np.where(stays, x[some], released[some])
        return draw.permutation(released) if shuffled else released

    return make


def row_powers(low: float = 0.5, high: float = 2.0, *, factor: float = 0.0) -> Maker:
    """Return a maker that raises the cells of each row to a power of its own."""

    def make(x: Table, draw: Draw) -> Table:
        return np.asarray(x ** draw.uniform(low, high, (len(x), 1)) * np.exp(factor * draw.normal(size=x.shape)))

    return make


#: name -> (maker, the best grade that it may get on each table)
BROKEN_CODES: dict[str, tuple[Maker, dict[str, str]]] = {
    "digits written backwards": (written(_backwards), {"skewed": "D", "counted": "C"}),
    "original in digits, shuffled": (_shuffled(written(_as_they_are)), {"skewed": "F"}),
    "row number written backwards": (numbered(_backwards), {"skewed": "F", "counted": "F"}),
    "rotation of every so many rows": (turned_by(lambda n: np.arange(n) % 4), {"skewed": "D", "counted": "D"}),
    "noise in waves": (waves(lambda t: np.sin(2 * np.pi * t)), {"skewed": "D", "counted": "D"}),
    "some cells of some people": (some_cells(), {"skewed": "B"}),
    "rows to a power of their own": (row_powers(), {"skewed": "C", "counted": "C"}),
}

#: name -> five variants, made last
VARIANTS_CODES: dict[str, list[Maker]] = {
    "digits written backwards": [
        written(_enciphered), written(_masked), written(lambda codes, draw: _backwards(_enciphered(codes, draw), draw)),
        written(lambda codes, _: codes // 100 * 100 + np.roll(codes % 100, 1, axis=1)),
        written(lambda codes, _: 9999 - np.roll(_backwards(codes, _), 2, axis=1)),
    ],
    "original in digits, shuffled": [
        _shuffled(written(lambda codes, _: 9999 - codes)), _shuffled(digits(8, 10, 2)), _shuffled(digits(4, 5)),
        _shuffled(written(lambda codes, _: np.roll(codes, 1, axis=1))),
        _shuffled(written(lambda codes, _: codes // 100 * 100)),
    ],
    "row number written backwards": [
        numbered(_enciphered), numbered(_backwards, 2), numbered(lambda i, _: i % 100 * 100 + i // 100),
        numbered(lambda i, draw: _backwards(_enciphered(i, draw), draw)),
        numbered(lambda i, draw: 9999 - _enciphered(i, draw), 1),
    ],
    "rotation of every so many rows": [
        turned_by(lambda n: np.arange(n) // 200), turned_by(lambda n: np.arange(n) % 3, noise=0.01),
        turned_by(lambda n: np.arange(n) * 5 // n), turned_by(lambda n: np.arange(n) % 2),
        lambda x, draw: by_cluster(4)(x, draw)[:, ::-1],
    ],
    "noise in waves": [
        waves(lambda t: t - 0.5), waves(lambda t: np.abs(t - 0.5)), waves(lambda t: np.sin(2 * np.pi * t) ** 3, 10.0),
        waves(lambda t: (t - 0.5) ** 2, 20.0), waves(lambda t: np.where(t < 0.4, 1.0, -1.0)),
    ],
    "some cells of some people": [
        some_cells(0.1, 0.6), some_cells(0.05, 0.75), some_cells(0.04, 0.7, far=True), some_cells(0.15, 0.5),
        some_cells(0.08, 0.6, shuffled=False),
    ],
    "rows to a power of their own": [
        row_powers(0.1, 1.0), row_powers(1.0, 3.0), row_powers(-2.0, -0.5), row_powers(0.9, 1.1),
        row_powers(factor=1e-3),
    ],
}  # fmt: skip
