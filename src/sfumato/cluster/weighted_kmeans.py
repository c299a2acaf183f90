"""k-means of weighted rows, as a miner runs it: k-means++ starts and Lloyd's rounds, the same bits on every machine.

Rows need not stand on a lattice, so sums have a fixed order: rows from the first to the last, columns likewise. BLAS
chooses the nearest centre only where no other is nearly as near.
"""

from __future__ import annotations

from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.core.fast import compiled_kernels

_NEAR = 1e-9  # scores nearer than this share of the largest are computed in the fixed order


class WeightedRun(NamedTuple):
    """Where a run of k-means has ended.

    Attributes
    ----------
    centres : array of shape (k, d)
    labels : array of shape (n,), int64
        The nearest of these centres, ties to the lowest.
    cost : float
        Weighted sum of squared distances.
    """

    centres: Floats
    labels: NDArray[np.int64]
    cost: float


def weighted_starts(columns: Floats, weights: Floats, k: int, generator: np.random.Generator) -> Floats:
    """Return k starting centres by k-means++, each the best of two and a few candidates, as in scikit-learn.

    Parameters
    ----------
    columns : array of shape (d, n)
    weights : array of shape (n,)
    k : int

    Examples
    --------
    >>> columns = np.array([[0.0, 1.0, 100.0]])
    >>> sorted(weighted_starts(columns, np.ones(3), 2, np.random.default_rng(0)).ravel().tolist())[1]
    100.0
    """
    trials = 2 + int(log(k))
    draws = generator.random(1 + trials * (k - 1))
    chosen = np.empty(k, dtype=np.int64)
    fast = compiled_kernels(columns.size)
    if fast is not None:
        fast.weighted_starts(columns, weights, draws, trials, chosen)
        return np.ascontiguousarray(columns[:, chosen].T)
    n = len(weights)
    cumulated = np.cumsum(weights)  # one row after the other: a fixed order
    chosen[0] = min(int(np.searchsorted(cumulated, draws[0] * cumulated[-1], side="right")), n - 1)
    nearest = _squares_to(columns, chosen[:1])[0]
    for j in range(1, k):
        np.cumsum(weights * nearest, out=cumulated)
        wanted = draws[1 + (j - 1) * trials : 1 + j * trials] * cumulated[-1]
        rows = np.minimum(np.searchsorted(cumulated, wanted, side="right"), n - 1)
        closer = np.minimum(_squares_to(columns, rows), nearest)
        costs = np.cumsum(weights * closer, axis=1)[:, -1]
        best = int(np.argmin(costs))
        chosen[j], nearest = rows[best], closer[best]
    return np.ascontiguousarray(columns[:, chosen].T)


def _squares_to(columns: Floats, rows: NDArray[np.int64]) -> Floats:
    out = np.zeros((len(rows), columns.shape[1]))
    for column in columns:
        away = column - column[rows][:, None]
        away *= away
        out += away
    return out


def weighted_kmeans(
    columns: Floats, weights: Floats, centres: Floats, *, rounds: int, tolerance: float = 0.0
) -> WeightedRun:
    """Run Lloyd's rounds from given centres.

    A cluster without rows keeps its centre.

    Parameters
    ----------
    columns : array of shape (d, n)
    weights : array of shape (n,)
    centres : array of shape (k, d)
    rounds : int
        Most times that the centres move.
    tolerance : float
        Stop when the squared moves of all centres together are at most so much; 0 stops when no label changes.

    Examples
    --------
    >>> columns = np.array([[0.0, 1.0, 9.0, 10.0]])
    >>> found = weighted_kmeans(columns, np.ones(4), np.array([[0.0], [1.0]]), rounds=9)
    >>> found.centres.ravel().tolist(), found.labels.tolist(), found.cost
    ([0.5, 9.5], [0, 0, 1, 1], 1.0)
    """
    centres = np.array(centres, dtype=np.float64)
    fast = compiled_kernels(columns.size * len(centres))
    if fast is not None:
        labels = np.empty(columns.shape[1], dtype=np.int64)
        cost = fast.weighted_rounds(columns, weights, centres, rounds, tolerance, labels)
        return WeightedRun(centres, labels, float(cost))
    k = len(centres)
    longest = float(np.abs(columns).max(initial=0.0))
    weighted = weights * columns
    labels = _nearest(columns, centres, longest)
    for _ in range(rounds):
        counts = np.bincount(labels, weights=weights, minlength=k)  # one row after the other, too
        sums = np.stack([np.bincount(labels, weights=column, minlength=k) for column in weighted], axis=1)
        moved = np.where(counts[:, None] > 0, sums / np.where(counts > 0, counts, 1.0)[:, None], centres)
        away = (moved - centres).ravel()
        centres, before = moved, labels
        labels = _nearest(columns, centres, longest)
        if np.array_equal(before, labels) or float(np.cumsum(away * away)[-1]) <= tolerance:
            break
    squares = np.zeros(len(labels))
    for column, own in zip(columns, centres.T, strict=True):
        away = column - own[labels]
        away *= away
        squares += away
    return WeightedRun(centres, labels, float(np.cumsum(weights * squares)[-1]))


def _nearest(columns: Floats, centres: Floats, longest: float) -> NDArray[np.int64]:
    """Return the nearest centre of every row by |c|^2 - 2 x.c, ties to the lowest."""
    norms = np.zeros(len(centres))
    for line in centres.T:
        norms += line * line
    doubled = -2.0 * centres
    scores = doubled @ columns
    scores += norms[:, None]
    labels = np.zeros(columns.shape[1], dtype=np.int64)
    least, second = scores[0].copy(), np.full(columns.shape[1], np.inf)
    for index in range(1, len(scores)):  # numpy's own argmin along the first axis is many times slower
        score = scores[index]
        labels[score < least] = index
        np.minimum(second, np.maximum(least, score), out=second)
        np.minimum(least, score, out=least)
    largest = float(np.abs(centres).max())
    close = np.flatnonzero(second - least <= _NEAR * len(columns) * largest * max(longest, largest))
    if len(close):
        exact = np.repeat(norms[:, None], len(close), axis=1)
        for pull, column in zip(doubled.T, columns, strict=True):
            exact += pull[:, None] * column[close]
        labels[close] = exact.argmin(axis=0)
    return labels
