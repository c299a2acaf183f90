"""k-means whose result has the same bits on every machine, at the speed of BLAS, and the centres two people agree on.

Rows and centres stand on a lattice (`core.lattice`), so distances and sums are exact. Starts are k-means++ with words
from a key.

k-means has many optima, and most of them nobody finds twice. So many starts run for a few rounds on a part of the
rows, the better ones go on with more rows, the chosen one with all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from sfumato._arrays import Floats
from sfumato.core.fast import compiled_kernels
from sfumato.core.linear import exact_product
from sfumato.core.passes import stop_if_asked
from sfumato.core.variates import uniform

Integers = NDArray[np.integer[Any]]

_ROUNDS = 300
BLOCK = 1 << 14
Run = tuple[Floats, NDArray[np.intp], float]  # centres, labels, cost

_PART = 1 << 14  # rows that the starts see of a large table; the better starts go on with four times as many
_FIRST_ROUNDS, FEW_ROUNDS = 6, 15  # after a few it is clear which starts are worth going on with
_FEWEST = 6


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
    stop_if_asked()
    fast = compiled_kernels(steps.size * len(centres))
    if fast is None:
        centres, labels, cost = _rounds(steps, centres, rounds)
        total = exact_sum(cost) + sum(exact_sum(column * column) for column in steps)
    else:
        centres, labels, cost = centres.copy(), np.zeros(steps.shape[1], dtype=np.intp), np.empty(steps.shape[1])
        fast.lloyd_rounds(steps, centres, rounds, labels, cost)
        total = sum((int(high) << 26) + int(low) for high, low in (fast.exact_parts(cost), fast.squares_parts(steps)))
    return centres, labels.astype(np.intp, copy=False), float(total)


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
        stop_if_asked()
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
    fast = compiled_kernels(0)
    if fast is not None:
        rows = np.empty(k, dtype=np.intp)
        fast.start_rows(steps, draws, rows)
        return np.ascontiguousarray(steps[:, rows].T)
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


def likely_centres(
    steps: Floats, k: int, words: NDArray[np.uint64], *, starts: int, part: int = _PART, rounds: int = FEW_ROUNDS
) -> tuple[Floats, float]:
    """Return centres that a miner with twenty starts most probably finds, or something near to them, and the doubt.

    k-means often has several optima of nearly the same cost. The very best one may be so rare that nobody else finds
    it. Each optimum has a chance to be the best of twenty starts; the one is chosen whose labels differ least, on
    average, from those that such a miner finds.

    Parameters
    ----------
    steps : array of shape (d, n)
        Rows on the lattice, in random order.
    words : array of shape (3 k starts,)
        Random words.
    part : int
        Rows that the starts see of a table of more than four times as many; of a smaller one they see all. The better
        starts see four times as many, and the chosen one goes on with all rows.
    rounds : int
        Most rounds of the better starts.

    Returns
    -------
    centres : array of shape (k, d)
    doubt : float
        Share of the labels that such a miner gives otherwise, on average.

    Examples
    --------
    >>> rows = np.repeat([[0.0, 50.0, 90.0]], 4, axis=1) + np.tile([0.0, 1.0], 6)
    >>> centres, doubt = likely_centres(rows, 3, np.arange(90, dtype=np.uint64) << np.uint64(57), starts=10)
    >>> sorted(centres.ravel().tolist()), doubt
    ([0.0, 50.0, 90.0], 0.0)
    """
    with threadpool_limits(limits=1, user_api="blas"):  # many small products: threads only wait for one another
        return _likely(steps, k, uniform(words).reshape(starts, 3 * k), part, rounds)


def _likely(steps: Floats, k: int, draws: Floats, part: int, rounds: int) -> tuple[Floats, float]:
    starts = len(draws)
    more = np.ascontiguousarray(steps[:, : 4 * part])
    # rare rows far out decide which optimum is best, so a part of the rows is used only where all would take too long
    few = more if steps.shape[1] <= 4 * part else np.ascontiguousarray(steps[:, :part])
    begun = [lattice_lloyd(few, plus_plus(few, k, draw), rounds=_FIRST_ROUNDS) for draw in draws]
    begun.sort(key=lambda run: run[2])
    runs = [lattice_lloyd(more, centres, rounds=rounds) for centres, *_ in begun[: max(_FEWEST, starts // 4)]]
    centres, doubt = agreed(runs, starts)
    return lattice_lloyd(steps, centres)[0], doubt


def agreed(runs: list[Run], starts: int) -> tuple[Floats, float]:
    """Return the centres of the run whose labels differ least, on average, from what the best of twenty starts finds.

    Returned with them: the share of labels that differs.

    Parameters
    ----------
    runs : list of (centres, labels, cost)
        The better ones of all starts.
    starts : int
        How many starts there were in all.

    Examples
    --------
    >>> one, two = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    >>> rare, often = (np.array([[1.0]]), one, 5.0), (np.array([[2.0]]), two, 6.0)
    >>> [agreed([rare, often], starts)[0].item() for starts in (2, 90)], agreed([rare, *3 * [often]], 90)[0].item()
    ([1.0, 1.0], 2.0)
    """
    runs = sorted(runs, key=lambda run: run[2])
    chances = best_of_tries([cost for *_, cost in runs] + [np.inf] * (starts - len(runs)))
    likely = [(run, chance) for run, chance in zip(runs, chances, strict=False) if chance > 0.0]
    apart = np.zeros((len(likely), len(likely)))
    for i, (one, _) in enumerate(likely):
        for j, (other, _) in enumerate(likely[:i]):
            apart[i, j] = apart[j, i] = other_labels(one[1], other[1])
    expected = [sum(chance * float(away) for away, (_, chance) in zip(row, likely, strict=True)) for row in apart]
    least = min(expected)
    return likely[expected.index(least)][0][0], least


def best_of_tries(costs: list[float], *, tries: int = 20) -> list[float]:
    """Return how likely each start's optimum is the best of some tries; copies of one optimum count for the first.

    Parameters
    ----------
    costs : list of float
        Costs of single starts, sorted; costs within 1e-5 of one another are one optimum.

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


def other_labels(one: NDArray[np.integer], other: NDArray[np.integer]) -> float:
    """Return the share of rows that have another label, whatever the clusters are called.

    Parameters
    ----------
    one, other : arrays of shape (n,)
        Labels 0, 1, ...

    Examples
    --------
    >>> other_labels(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 1]))
    0.25
    """
    fast = compiled_kernels(0) if one.dtype == other.dtype == np.intp else None
    if fast is not None:
        same, table = fast.same_labels(one, other)
        if same < 0:
            same = table[linear_sum_assignment(-table)].sum()
        return float(len(one) - same) / len(one)
    k = int(max(one.max(), other.max())) + 1
    table = np.bincount(one * k + other, minlength=k * k).reshape(k, k)
    return float(len(one) - table[linear_sum_assignment(-table)].sum()) / len(one)
