"""What a miner of some tries may expect to find on a release, and to find again on the original.

Two pools of starts stand for two miners, so that nobody is held against a clustering of the own luck: what the first
finds on the original is held against what the second finds on the release, and on the original, and vice versa.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from sfumato._arrays import Floats, Integers
from sfumato.auditing.utility.optima import Optima, best_of
from sfumato.auditing.utility.result import Estimate

_AGAIN = 40  # pools that are drawn again from the starts, for intervals
_WIDTH = 1.96 * 2.0**0.5  # another seed has luck of its own, too
_RARE = 1e-3
INTERVAL = "where 95 of 100 audits with another seed lie, from starts that are drawn again"


@dataclass(frozen=True)
class Expected:
    """What is found, on average over the luck of the miners.

    Attributes
    ----------
    release, floor : tuple of Estimate
        Misclassification, variation of information and adjusted Rand index of the release, and of a second run on the
        original; all against a first run on the original.
    difference : Estimate
        Misclassification of the release less the floor.
    """

    release: tuple[Estimate, Estimate, Estimate]
    floor: tuple[Estimate, Estimate, Estimate]
    difference: Estimate


def expect(before: Optima, after: Optima, tries: int) -> Expected:
    """Return what a miner may expect.

    Parameters
    ----------
    before, after : Optima
        Of the original and of the release, with two pools of the same starts.
    tries : int
        Starts of one miner.
    """
    figures = _Figures(before, after)
    told = figures.of(_taken(before, before.ends, tries), _taken(after, after.ends, tries))
    again = []
    for seed in range(1, _AGAIN + 1):
        drawn = [_taken(found, _drawn(found.ends, seed), tries) for found in (before, after)]
        again.append([values[0] for values in figures.of(*drawn)])
    lost, floor = ([float(value) for value in values] for values in told)
    spread = np.std(again, axis=0, ddof=1).tolist()
    apart = float(np.std([one[0] - one[1] for one in again], ddof=1))
    return Expected(
        (_around(lost[0], spread[0], 0.0), Estimate(lost[1], None, None), Estimate(lost[2], None, None)),
        (_around(floor[0], spread[1], 0.0), Estimate(floor[1], None, None), Estimate(floor[2], None, None)),
        _around(0.0 if abs(lost[0] - floor[0]) < 1e-12 else lost[0] - floor[0], apart, -1.0),
    )


def _around(mean: float, spread: float, lowest: float) -> Estimate:
    return Estimate(mean, max(lowest, mean - _WIDTH * spread), min(1.0, mean + _WIDTH * spread))


def likeliest(found: Optima, tries: int) -> int:
    """Return the optimum that a miner finds most often.

    Parameters
    ----------
    found : Optima
    tries : int
    """
    return int(chances_of(found, tries).argmax())


def chances_of(found: Optima, tries: int) -> Floats:
    """Return how likely a miner takes each optimum, over all pools of starts.

    Parameters
    ----------
    found : Optima
    tries : int
    """
    return np.asarray(_taken(found, found.ends, tries).mean(axis=0))


def _taken(found: Optima, ends: Integers, tries: int) -> Floats:
    """Return for each pool how likely a miner takes each place."""
    return np.array([best_of(pool, len(found.labels), tries) for pool in ends])


def _drawn(ends: Integers, seed: int) -> Integers:
    """Return pools that are drawn again from the same starts, the cheapest first."""
    stream = np.random.default_rng([seed, 29])  # the same for both tables: their starts belong together
    return np.stack([pool[np.sort(stream.integers(len(pool), size=len(pool)))] for pool in ends])


class _Figures:
    """Agreement of every optimum with every other, computed where it is asked for."""

    def __init__(self, before: Optima, after: Optima) -> None:
        self._before, self._after = before, after
        self._known: dict[tuple[bool, int, int], Floats] = {}

    def of(self, before: Floats, after: Floats) -> tuple[Floats, Floats]:
        """Return the expected figures of the release and of the floor."""
        release = 0.5 * (self._mean(before[0], after[1], True) + self._mean(before[1], after[0], True))
        return release, self._mean(before[0], before[1], False)

    def _mean(self, first: Floats, second: Floats, released: bool) -> Floats:
        total, weight = np.zeros(3), 0.0
        for i in np.flatnonzero(first > _RARE).tolist():
            for j in np.flatnonzero(second > _RARE).tolist():
                chance = float(first[i] * second[j])
                total += chance * self._pair(i, j, released)
                weight += chance
        return np.asarray(total / weight)

    def _pair(self, i: int, j: int, released: bool) -> Floats:
        # two runs on the original are the same pair in either order
        asked = (released, i, j) if released else (released, min(i, j), max(i, j))
        if asked not in self._known:
            other = (self._after if released else self._before).labels[asked[2]]
            self._known[asked] = compare(self._before.labels[asked[1]], other)
        return self._known[asked]


def compare(one: NDArray[np.int64], other: NDArray[np.int64]) -> Floats:
    """Return misclassification, variation of information in bits, and adjusted Rand index of two clusterings.

    The same figures as in `sfumato.metrics`, from one table of counts.

    Parameters
    ----------
    one, other : arrays of shape (n,)
        Labels 0, 1, ...

    Examples
    --------
    >>> compare(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])).tolist()
    [0.0, 0.0, 1.0]
    """
    n, k = len(one), int(max(one.max(), other.max())) + 1
    table = np.bincount(one * k + other, minlength=k * k).reshape(k, k).astype(np.float64)
    stay = table[linear_sum_assignment(-table)].sum()
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    filled = table > 0
    expected = np.outer(rows, columns)[filled]
    bits = -float((table[filled] * np.log2(table[filled] ** 2 / expected)).sum()) / n
    both, first, second = (float((counts * (counts - 1.0)).sum() / 2.0) for counts in (table, rows, columns))
    mean = first * second / max(1.0, n * (n - 1.0) / 2.0)
    most = (first + second) / 2.0
    rand = 1.0 if most == mean else (both - mean) / (most - mean)
    return np.array([(n - stay) / n, max(0.0, bits), rand])
