"""k-means whose result has the same bits on every machine, at the speed of BLAS.

Rows and centres stand on a lattice (`core.lattice`), so distances and sums are exact. Starts are k-means++ with
words from a key. Starts run on a part of the rows; the chosen one is polished on all of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.core.lattice import exact_product
from sfumato.core.variates import uniform

__all__ = ["best_of_tries", "lattice_lloyd", "likely_centres", "plus_plus"]

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

_ROUNDS = 300
_BLOCK = 1 << 14


def _nearest(steps: Floats, centres: Floats) -> tuple[Integers, Floats]:
    """Return the nearest centre of every row (ties to the lowest) and |c|^2 - 2 x.c, exact."""
    labels = np.empty(steps.shape[1], dtype=np.intp)
    cost = np.empty(steps.shape[1])
    norms = (centres * centres).sum(axis=1)
    doubled = -2.0 * centres
    for start in range(0, steps.shape[1], _BLOCK):
        scores = exact_product(doubled, steps[:, start : start + _BLOCK])
        scores += norms[:, None]
        least, nearest = cost[start : start + _BLOCK], labels[start : start + _BLOCK]
        least[:], nearest[:] = scores[0], 0
        for index in range(1, len(scores)):  # numpy's own argmin along the first axis is many times slower
            nearest[scores[index] < least] = index
            np.minimum(least, scores[index], out=least)
    return labels, cost


def lattice_lloyd(steps: Floats, centres: Floats, *, rounds: int = _ROUNDS) -> tuple[Floats, Integers, float]:
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
    k = len(centres)
    labels, cost = _nearest(steps, centres)
    for _ in range(rounds):
        counts = np.bincount(labels, minlength=k)
        # sums of whole numbers below 2^53 are exact in any order
        sums = np.zeros((k, len(steps)))
        for start in range(0, len(labels), _BLOCK):
            members = (labels[start : start + _BLOCK] == np.arange(k)[:, None]).astype(np.float64)
            sums += members @ steps[:, start : start + _BLOCK].T
        filled = counts > 0
        moved = np.where(filled[:, None], np.rint(sums / np.maximum(counts, 1)[:, None]), centres)
        if (moved == centres).all():
            break
        centres = moved
        before = labels
        labels, cost = _nearest(steps, centres)
        if (labels == before).all():
            break
    inertia = float(_whole(cost) + sum(_whole(column * column) for column in steps))
    return centres, labels, inertia


def _whole(values: Floats) -> int:
    """Return the sum of whole numbers below 2^53, exactly."""
    high = np.floor(values / 2.0**26)
    low = values - high * 2.0**26
    return (int(high.astype(np.int64).sum()) << 26) + int(low.astype(np.int64).sum())


def plus_plus(steps: Floats, k: int, draws: Floats) -> Floats:
    """Return k starting centres: each next one a row drawn in proportion to its squared distance, best of three.

    Parameters
    ----------
    steps : array of shape (d, n)
    k : int
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
        totals = [_whole(row) for row in closer]
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


def likely_centres(steps: Floats, k: int, words: NDArray[np.uint64], *, starts: int, part: int = 1 << 14) -> Floats:
    """Return the centres that a miner with twenty starts most probably finds.

    k-means often has several optima of nearly the same cost. The very best one may be so rare that nobody else finds
    it; the one that is most often the best of twenty starts is what two people can agree on.

    Parameters
    ----------
    steps : array of shape (d, n)
        Rows on the lattice, in random order.
    k : int
    words : array of shape (3 k starts,)
        Random words.
    starts : int
    part : int
        Rows that the starts see; the chosen one goes on with all rows.

    Examples
    --------
    >>> rows = np.repeat([[0.0, 50.0, 90.0]], 4, axis=1) + np.tile([0.0, 1.0], 6)
    >>> sorted(likely_centres(rows, 3, np.arange(90, dtype=np.uint64) << np.uint64(57), starts=10).ravel().tolist())
    [0.0, 50.0, 90.0]
    """
    draws = uniform(words).reshape(starts, 3 * k)
    few = np.ascontiguousarray(steps[:, :part])
    found: list[tuple[float, int, Floats]] = []
    for index in range(starts):
        centres, _, inertia = lattice_lloyd(few, plus_plus(few, k, draws[index]))
        found.append((inertia, index, centres))
    found.sort(key=lambda item: item[:2])
    chances = best_of_tries([item[0] for item in found])
    if steps.shape[1] <= part:
        return found[max(range(starts), key=lambda index: (chances[index], -index))][2]
    # more rows tell near optima apart: the likely ones go on with more of them, and the best with all
    more = np.ascontiguousarray(steps[:, : 4 * part])
    likely = sorted(range(starts), key=lambda index: (-chances[index], index))[:8]
    polished = [lattice_lloyd(more, found[index][2], rounds=50) for index in likely if chances[index] > 0]
    best = min(range(len(polished)), key=lambda index: (polished[index][2], index))
    return lattice_lloyd(steps, polished[best][0])[0]


def best_of_tries(costs: list[float], *, tries: int = 20) -> list[float]:
    """Return how likely each start's optimum is the best of some tries; copies of one optimum count for the first.

    Parameters
    ----------
    costs : list of float
        Costs of single starts, sorted; costs within 1e-5 of one another are one optimum.
    tries : int

    Examples
    --------
    >>> [round(chance, 2) for chance in best_of_tries([1.0, 1.01, 1.01, 1.5], tries=2)]
    [0.44, 0.5, 0.0, 0.06]
    """
    chances = [0.0] * len(costs)
    start = 0
    while start < len(costs):
        stop = start
        while stop < len(costs) and costs[stop] <= costs[start] * (1 + 1e-5):
            stop += 1
        # chance that all tries are at least as bad as this optimum, less the chance that all are worse
        chances[start] = ((len(costs) - start) ** tries - (len(costs) - stop) ** tries) / len(costs) ** tries
        start = stop
    return chances
