"""k-means whose result has the same bits on every machine, at the speed of BLAS.

Rows and centres stand on a lattice (`core.lattice`), so distances and sums are exact. Starts are k-means++ with
words from a key.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.core.fast import compiled_kernels
from sfumato.core.lattice import exact_product

Integers = NDArray[np.integer[Any]]

_ROUNDS = 300
BLOCK = 1 << 14


def nearest_and_cost(steps: Floats, centres: Floats) -> tuple[Integers, Floats]:
    """Return the nearest centre of every row (ties to the lowest) and |c|^2 - 2 x.c, exact."""
    small = np.min_scalar_type(len(centres))  # labels of one byte: masks and maxima run in vector registers
    labels: Integers = np.zeros(steps.shape[1], dtype=small)
    cost = np.empty(steps.shape[1])
    norms = (centres * centres).sum(axis=1)
    doubled = -2.0 * centres
    for start in range(0, steps.shape[1], BLOCK):
        scores = exact_product(doubled, steps[:, start : start + BLOCK])
        scores += norms[:, None]
        least, nearest = cost[start : start + BLOCK], labels[start : start + BLOCK]
        least[:] = scores[0]
        for index in range(1, len(scores)):  # numpy's own argmin along the first axis is many times slower
            closer = np.multiply(scores[index] < least, small.type(index), dtype=small)
            np.maximum(nearest, closer, out=nearest)
            np.minimum(least, scores[index], out=least)
    return labels, cost


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
    fast = compiled_kernels(steps.size * len(centres))
    if fast is None:
        centres, labels, cost = _rounds(steps, centres, rounds)
    else:
        centres, labels, cost = centres.copy(), np.zeros(steps.shape[1], dtype=np.intp), np.empty(steps.shape[1])
        fast.lloyd_rounds(steps, centres, rounds, labels, cost)
    inertia = float(exact_sum(cost) + sum(exact_sum(column * column) for column in steps))
    return centres, labels.astype(np.intp, copy=False), inertia


def _rounds(steps: Floats, centres: Floats, rounds: int) -> tuple[Floats, Integers, Floats]:
    k = len(centres)
    labels, cost = nearest_and_cost(steps, centres)
    numbers = np.arange(k, dtype=labels.dtype)[:, None]
    for _ in range(rounds):
        counts = np.bincount(labels, minlength=k)
        # sums of whole numbers below 2^53 are exact in any order
        sums = np.zeros((k, len(steps)))
        for start in range(0, len(labels), BLOCK):
            members = (labels[start : start + BLOCK] == numbers).astype(np.float64)
            sums += members @ steps[:, start : start + BLOCK].T
        filled = counts > 0
        moved = np.where(filled[:, None], np.rint(sums / np.maximum(counts, 1)[:, None]), centres)
        if (moved == centres).all():
            break
        centres = moved
        before = labels
        labels, cost = nearest_and_cost(steps, centres)
        if (labels == before).all():
            break
    return centres, labels, cost


def exact_sum(values: Floats) -> int:
    """Return the sum of whole numbers below 2^53, exactly."""
    if float(np.abs(values).max(initial=0.0)) * len(values) < 2.0**62:
        return int(values.astype(np.int64).sum())
    high = np.floor(values / 2.0**26)
    low = values - high * 2.0**26
    return (int(high.astype(np.int64).sum()) << 26) + int(low.astype(np.int64).sum())


def plus_plus(steps: Floats, k: int, draws: Floats) -> Floats:
    """Return k starting centres: each next one a row drawn in proportion to its squared distance, best of three.

    Parameters
    ----------
    steps : array of shape (d, n)
    draws : array of shape (3 k,)
        Uniform numbers.

    Examples
    --------
    >>> plus_plus(np.array([[0.0, 1.0, 100.0]]), 2, np.full(6, 0.5)).ravel().tolist()
    [1.0, 100.0]
    """
    n = steps.shape[1]
    chosen = [min(int(draws[0] * n), n - 1)]
    squares = _squares(steps)
    nearest = _distances(steps, squares, chosen)[0]
    for j in range(1, k):
        cumulated = np.cumsum(nearest)  # one row after the other: a fixed order
        targets = draws[3 * j : 3 * j + 3] * cumulated[-1]
        candidates = np.minimum(np.searchsorted(cumulated, targets, side="right"), n - 1)
        closer = np.minimum(_distances(steps, squares, [int(c) for c in candidates]), nearest)
        totals = [exact_sum(row) for row in closer]
        best = totals.index(min(totals))
        chosen.append(int(candidates[best]))
        nearest = closer[best]
    return np.ascontiguousarray(steps[:, chosen].T)


def _squares(steps: Floats) -> Floats:
    squares: Floats = np.zeros(steps.shape[1])
    for column in steps:
        squares += column * column
    return squares


def _distances(steps: Floats, squares: Floats, rows: list[int]) -> Floats:
    """Return squared distances to some of the rows, exact."""
    scores = exact_product(np.ascontiguousarray(steps[:, rows].T) * -2.0, steps)
    scores += squares
    scores += squares[rows][:, None]
    return scores
