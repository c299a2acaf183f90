"""k-means whose result has the same bits on every machine, at the speed of BLAS, and the centres two people agree on.

Rows and centres stand on a lattice (`core.lattice`), so distances and sums are exact. Starts are k-means++ with words
from a key.

k-means has many optima, and most of them nobody finds twice. So many starts run for a few rounds on a part of the
rows, the better ones go on with more rows, the chosen one with all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from sfumato._arrays import Floats
from sfumato.cluster.lattice_rounds import exact_sum, lattice_lloyd, square_lengths
from sfumato.core.fast import compiled_kernels
from sfumato.core.linear import exact_product
from sfumato.core.plans import Plan, Task, share_plans
from sfumato.core.sharing import one_blas_thread
from sfumato.core.variates import uniform

Run = tuple[Floats, NDArray[np.integer], float]  # centres, labels, cost

_PART = 1 << 14  # rows that the starts see of a large table; the better starts go on with four times as many
_FIRST_ROUNDS, FEW_ROUNDS = 6, 15  # after a few it is clear which starts are worth going on with
_FEWEST = 6


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
    squares = square_lengths(steps)
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


def _distances(steps: Floats, squares: Floats, rows: list[int]) -> Floats:
    """Return squared distances to some of the rows, exact."""
    scores = exact_product(np.ascontiguousarray(steps[:, rows].T) * -2.0, steps)
    scores += squares
    scores += squares[rows][:, None]
    return scores


def likely_centres(
    steps: Floats, k: int, words: NDArray[np.uint64], *, starts: int, part: int = _PART
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
    return likely_centres_of([Asked(steps, k, words, starts, part=part)])[0]


class Asked(NamedTuple):
    """One clustering that is asked for; see `likely_centres`."""

    steps: Floats
    k: int
    words: NDArray[np.uint64]
    starts: int
    rounds: int = FEW_ROUNDS
    part: int = _PART
    all_end: bool = False  # whether all starts go on, not only the better ones: which of them end where tells chances


def likely_centres_of(asked: Sequence[Asked]) -> list[tuple[Floats, float]]:
    """Return the likely centres of several clusterings, and the doubts: all starts of all of them side by side.

    Parameters
    ----------
    asked : sequence of Asked
        What `likely_centres` takes.
    """
    few, more = _parts(asked, 1), _parts(asked, 4)
    with one_blas_thread():  # many small products: threads only wait for one another
        return share_plans([_likely(*one) for one in zip(asked, few, more, strict=True)])


def _likely(asked: Asked, few: Floats, more: Floats) -> Plan[tuple[Floats, float]]:
    """Run all starts for a few rounds on some rows, the better ones on more rows, and one of those on all rows."""
    if asked.steps.shape[1] <= 4 * asked.part:
        few = more  # rare rows far out decide which optimum is best: a part of the rows only where all would take long
    draws = uniform(asked.words).reshape(asked.starts, 3 * asked.k)
    begun = yield [Task(_size(few, asked), partial(_first_run, few, asked.k, draw)) for draw in draws]
    begun.sort(key=lambda run: run[1])
    kept = len(begun) if asked.all_end else max(_FEWEST, asked.starts // 4)
    better = [centres for centres, _ in begun[:kept]]
    ended = yield [Task(_size(more, asked), partial(_better_run, more, asked.rounds, one)) for one in better]
    centres, doubt = agreed(ended, asked.starts)
    (last,) = yield [Task(_size(asked.steps, asked), partial(lattice_lloyd, asked.steps, centres))]
    return last[0], doubt


def _size(steps: Floats, asked: Asked) -> float:
    """Return how long a run takes, about."""
    return float(steps.size * asked.k)


def _parts(asked: Sequence[Asked], times: int) -> list[Floats]:
    """Return the first rows of each, so many parts of them; clusterings of the same rows share them."""
    made: dict[tuple[int, int], Floats] = {}
    out = []
    for one in asked:
        name = id(one.steps), times * one.part
        if name not in made:
            made[name] = np.ascontiguousarray(one.steps[:, : times * one.part])
        out.append(made[name])
    return out


def _first_run(steps: Floats, k: int, draw: Floats) -> tuple[Floats, float]:
    centres, _, cost = lattice_lloyd(steps, plus_plus(steps, k, draw), rounds=_FIRST_ROUNDS)
    return centres, cost


def _better_run(steps: Floats, rounds: int, start: Floats) -> Run:
    centres, labels, cost = lattice_lloyd(steps, start, rounds=rounds)
    return centres, labels.astype(np.min_scalar_type(len(start))), cost  # many wait for one another: small labels


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
    fast = compiled_kernels(0)
    if fast is not None:
        same, table = fast.same_labels(one.astype(np.intp, copy=False), other.astype(np.intp, copy=False))
        if same < 0:
            same = table[linear_sum_assignment(-table)].sum()
        return float(len(one) - same) / len(one)
    k = int(max(one.max(), other.max())) + 1
    table = np.bincount(one.astype(np.intp) * k + other, minlength=k * k).reshape(k, k)
    return float(len(one) - table[linear_sum_assignment(-table)].sum()) / len(one)
