"""The centres that two people agree on: k-means has many optima, and most of them nobody finds twice.

Many starts run for a few rounds on a part of the rows, the better ones go on with more rows, the chosen one with all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from sfumato._arrays import Floats
from sfumato.cluster.lattice_kmeans import lattice_lloyd, plus_plus
from sfumato.core.variates import uniform

Run = tuple[Floats, NDArray[np.intp], float]  # centres, labels, cost

_PART = 1 << 14  # rows that the starts see of a large table; the better starts go on with four times as many
_FIRST_ROUNDS, _MORE_ROUNDS = 6, 15  # after a few it is clear which starts are worth going on with
_FEWEST = 6


def likely_centres(steps: Floats, k: int, words: NDArray[np.uint64], *, starts: int, part: int = _PART) -> Floats:
    """Return centres that a miner with twenty starts most probably finds, or something near to them.

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

    Examples
    --------
    >>> rows = np.repeat([[0.0, 50.0, 90.0]], 4, axis=1) + np.tile([0.0, 1.0], 6)
    >>> sorted(likely_centres(rows, 3, np.arange(90, dtype=np.uint64) << np.uint64(57), starts=10).ravel().tolist())
    [0.0, 50.0, 90.0]
    """
    with threadpool_limits(limits=1, user_api="blas"):  # many small products: threads only wait for one another
        return _likely(steps, k, uniform(words).reshape(starts, 3 * k), part)


def _likely(steps: Floats, k: int, draws: Floats, part: int) -> Floats:
    starts = len(draws)
    more = np.ascontiguousarray(steps[:, : 4 * part])
    # rare rows far out decide which optimum is best, so a part of the rows is used only where all would take too long
    few = more if steps.shape[1] <= 4 * part else np.ascontiguousarray(steps[:, :part])
    begun = [lattice_lloyd(few, plus_plus(few, k, draw), rounds=_FIRST_ROUNDS) for draw in draws]
    begun.sort(key=lambda run: run[2])
    runs = [lattice_lloyd(more, centres, rounds=_MORE_ROUNDS) for centres, *_ in begun[: max(_FEWEST, starts // 4)]]
    return lattice_lloyd(steps, agreed(runs, starts))[0]


def agreed(runs: list[Run], starts: int) -> Floats:
    """Return the centres of the run whose labels differ least, on average, from what the best of twenty starts finds.

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
    >>> [agreed([rare, often], starts).item() for starts in (2, 90)], agreed([rare, *3 * [often]], 90).item()
    ([1.0, 1.0], 2.0)
    """
    runs = sorted(runs, key=lambda run: run[2])
    chances = best_of_tries([cost for *_, cost in runs] + [np.inf] * (starts - len(runs)))
    likely = [(run, chance) for run, chance in zip(runs, chances, strict=False) if chance > 0.0]
    expected = [sum(chance * other_labels(one[1], run[1]) for run, chance in likely) for one, _ in likely]
    return likely[expected.index(min(expected))][0][0]


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
    k = int(max(one.max(), other.max())) + 1
    table = np.bincount(one * k + other, minlength=k * k).reshape(k, k)
    return float(len(one) - table[linear_sum_assignment(-table)].sum()) / len(one)
