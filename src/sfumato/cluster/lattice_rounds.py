"""Lloyd's rounds with the same bits on every machine: rows and centres stand on a lattice, so sums are exact.

Without numba the rounds go as in `core.fast.lloyd`: bounds tell which rows keep their centre, the others are measured.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.core.fast import compiled_kernels
from sfumato.core.linear import exact_product
from sfumato.core.passes import stop_if_asked

Integers = NDArray[np.integer[Any]]

_ROUNDS = 300
_FEW = 8  # rounds in which bounds save less than they cost
BLOCK = 1 << 14
_SLACK = 2.0**-8  # steps; the bounds are sums of at most some hundred doubles below 2^27, so they err by far less


def nearest_and_cost(steps: Floats, centres: Floats) -> tuple[Integers, Floats]:
    """Return the nearest centre of every row (ties to the lowest) and |c|^2 - 2 x.c, exact."""
    labels, cost, _ = _two_nearest(steps, centres, second=False)
    return labels, cost


def _two_nearest(steps: Floats, centres: Floats, *, second: bool = True) -> tuple[Integers, Floats, Floats]:
    """Return the nearest centre of every row (ties to the lowest), its |c|^2 - 2 x.c, and that of the next one."""
    small = np.min_scalar_type(len(centres))  # labels of one byte: masks and maxima run in vector registers
    labels: Integers = np.zeros(steps.shape[1], dtype=small)
    cost, others = np.empty(steps.shape[1]), np.full(steps.shape[1] if second else 0, np.inf)
    norms = (centres * centres).sum(axis=1)
    doubled = -2.0 * centres
    for start in range(0, steps.shape[1], BLOCK):
        scores = exact_product(doubled, steps[:, start : start + BLOCK])
        scores += norms[:, None]
        least, nearest = cost[start : start + BLOCK], labels[start : start + BLOCK]
        next_one = others[start : start + BLOCK]
        least[:] = scores[0]
        for index in range(1, len(scores)):  # numpy's own argmin along the first axis is many times slower
            score = scores[index]
            closer = np.multiply(score < least, small.type(index), dtype=small)
            np.maximum(nearest, closer, out=nearest)
            if second:
                np.minimum(next_one, np.maximum(least, score), out=next_one)
            np.minimum(least, score, out=least)
    return labels, cost, others


def lattice_lloyd(steps: Floats, centres: Floats, *, rounds: int = _ROUNDS) -> tuple[Floats, NDArray[np.intp], float]:
    """Run Lloyd's rounds until no label changes.

    Parameters
    ----------
    steps : array of shape (d, n)
        Rows on the lattice.
    centres : array of shape (k, d)
        Starting centres on the lattice.
    rounds : int
        Upper bound.

    Returns
    -------
    centres, labels, inertia
        The inertia in steps squared.

    Examples
    --------
    >>> centres, labels, inertia = lattice_lloyd(np.array([[0.0, 2.0, 18.0, 20.0]]), np.array([[0.0], [2.0]]))
    >>> centres.ravel().tolist(), labels.tolist(), inertia
    ([1.0, 19.0], [0, 0, 1, 1], 4.0)
    """
    stop_if_asked()
    fast = compiled_kernels(steps.size * len(centres))
    centres = centres.copy()
    counts, sums = np.zeros(len(centres)), np.zeros(centres.shape)
    if fast is None:
        labels, squares = _rounds(steps, centres, rounds, counts, sums)
    else:
        labels = np.zeros(steps.shape[1], dtype=np.intp)
        kernel = fast.few_lloyd_rounds if rounds <= _FEW else fast.lloyd_rounds
        high, low = kernel(steps, centres, rounds, labels, counts, sums)
        squares = (int(high) << 26) + int(low)
    return centres, labels.astype(np.intp, copy=False), float(squares + _cost(centres, counts, sums))


def _cost(centres: Floats, counts: Floats, sums: Floats) -> int:
    """Return the sum of |c|^2 - 2 x.c over all rows, exactly, from the counts and sums of the clusters."""
    whole, totals = centres.astype(np.int64), sums.astype(np.int64)
    norms = (whole * whole).sum(axis=1)
    high, low = totals >> 20, totals & ((1 << 20) - 1)  # products with parts of the sums fit into 64 bits
    products = (int((whole * high).sum()) << 20) + int((whole * low).sum())
    return sum(int(count) * int(norm) for count, norm in zip(counts, norms, strict=True)) - 2 * products


def _rounds(steps: Floats, centres: Floats, rounds: int, counts: Floats, sums: Floats) -> tuple[Integers, int]:
    """Run the rounds; return labels and the sum of all squares. Centres, counts and sums are written to."""
    labels, least, second = _two_nearest(steps, centres)
    squares = square_lengths(steps)
    near, far = np.sqrt(least + squares), np.sqrt(second + squares)
    _count(steps, labels, 1.0, counts, sums)
    for _ in range(rounds):
        filled = counts > 0
        moved = np.where(filled[:, None], np.rint(sums / np.maximum(counts, 1.0)[:, None]), centres)
        if (moved == centres).all():
            break
        stop_if_asked()
        ways, farther, alone = _ways(centres, moved)
        centres[:] = moved
        near += ways[labels]
        far -= farther[labels]
        open_rows = np.flatnonzero(near >= np.maximum(far, alone[labels]) - _SLACK)
        part = np.ascontiguousarray(steps[:, open_rows])
        now, least, second = _two_nearest(part, centres)
        near[open_rows] = np.sqrt(least + squares[open_rows])
        far[open_rows] = np.sqrt(second + squares[open_rows])
        changed = now != labels[open_rows]
        if not changed.any():
            break
        other = part[:, changed]
        _count(other, labels[open_rows[changed]], -1.0, counts, sums)
        _count(other, now[changed], 1.0, counts, sums)
        labels[open_rows] = now
    return labels, exact_sum(squares)


def _count(steps: Floats, labels: Integers, sign: float, counts: Floats, sums: Floats) -> None:
    """Add rows to the counts and sums of their clusters, or take them away: whole numbers, exact in any order."""
    counts += sign * np.bincount(labels, minlength=len(counts))
    numbers = np.arange(len(counts), dtype=labels.dtype)[:, None]
    for start in range(0, len(labels), BLOCK):
        members = (labels[start : start + BLOCK] == numbers).astype(np.float64)
        sums += sign * (members @ steps[:, start : start + BLOCK].T)


def _ways(centres: Floats, moved: Floats) -> tuple[Floats, Floats, Floats]:
    """Return how far centres move, how far the farthest other moves, and half the way to the nearest other."""
    ways: Floats = np.sqrt(((moved - centres) ** 2).sum(axis=1))
    apart = np.sqrt(((moved[:, None, :] - moved[None, :, :]) ** 2).sum(axis=2))
    own = np.eye(len(centres), dtype=bool)
    farther = np.where(own, 0.0, ways[None, :]).max(axis=1)
    return ways, farther, np.where(own, np.inf, apart).min(axis=1) / 2.0


def square_lengths(steps: Floats) -> Floats:
    """Return the squared length of every row, exact."""
    squares: Floats = np.zeros(steps.shape[1])
    for column in steps:
        squares += column * column
    return squares


def exact_sum(values: Floats) -> int:
    """Return the sum of whole numbers below 2^53, exactly."""
    if float(np.abs(values).max(initial=0.0)) * len(values) < 2.0**62:
        return int(values.astype(np.int64).sum())
    high = np.floor(values / 2.0**26)
    low = values - high * 2.0**26
    return (int(high.astype(np.int64).sum()) << 26) + int(low.astype(np.int64).sum())
