"""The optima of k-means on a table, and how often a miner ends in each of them.

k-means has many optima, and which one a miner finds is a matter of luck. So luck is not tried a few times but counted:
many starts tell how often each optimum is reached and what it costs, and from that follows how likely it is the best of
twenty starts. Starts run on a weighted sample in which rows far out are certain to stand (a lightweight coreset of
Bachem, Lucic and Krause, 2018); whatever may be the best is carried to a fixed point on all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans, kmeans_plusplus

from sfumato._arrays import Floats, Integers
from sfumato.cluster.lattice_kmeans import other_labels

#: rows on which a start runs, and on which it is looked at
CORE, LOOK = 3_000, 20_000
#: a miner of twenty starts reaches none of the carried optima once in a thousand times
_REACHED = 0.3
_FEWEST, _MOST = 3, 20
_DOUBT = 0.003  # what few rounds and few rows may mistake of the cost of an optimum, as a share of it
_SAME = 0.01  # share of rows by which two runs of one optimum may differ
_ROUNDS, _FEW_ROUNDS = 300, 4
# In scikit-learn's unit: squared shift of the centres over the mean variance of the columns.
_NEAR, _FIXED = 1e-5, 1e-7
#: what scikit-learn leaves of the cost when it stops, as a share of it: optima nearer than that are taken by chance
_STOPPED = 3e-5
_MINERS = 500


@dataclass(frozen=True)
class Optima:
    """What k-means finds on a table.

    Attributes
    ----------
    labels : tuple of arrays of shape (n,)
        Of each optimum, the cheapest first.
    centres : tuple of arrays of shape (k, d)
    costs : array of shape (optima,)
    hits : array of shape (pools, optima)
        How many starts of each pool end in each.
    starts : int
        Starts of each pool; those that end elsewhere cost more.
    """

    labels: tuple[NDArray[np.int64], ...]
    centres: tuple[Floats, ...]
    costs: Floats
    hits: Integers
    starts: int


def chances_of_rows(points: Floats, size: int = CORE) -> Floats | None:
    """Return how likely each row stands in a sample of about so many rows; rows far out are certain to.

    Parameters
    ----------
    points : array of shape (n, d)
    size : int
        Rows to draw; None is returned for a table that has no more, which is taken whole.

    Examples
    --------
    >>> points = np.zeros((1000, 1))
    >>> points[7] = 50.0
    >>> chance = chances_of_rows(points, 100)
    >>> float(chance[7]), round(float(chance[0]), 3)
    (1.0, 0.05)
    """
    n = len(points)
    if n <= size:
        return None
    away = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    total = float(away.sum())
    return np.asarray(np.minimum(1.0, size * (0.5 / n + 0.5 * (away / total if total > 0 else 1.0 / n))))


def find_optima(points: Floats, k: int, starts: int, seeds: Sequence[int], *, like: Floats | None = None) -> Optima:
    """Run k-means from many starts, and return where they end.

    Parameters
    ----------
    points : array of shape (n, d)
    k : int
    starts : int
        Starts of each pool.
    seeds : sequence of int
        One for each pool of starts.
    like : array of shape (n, e), optional
        The table whose rows far out are sampled: a release is sampled as its original, so that both have the same
        luck. None: the points.
    """
    model = points if like is None else like
    chance = chances_of_rows(model, CORE)
    seen = _Seen.of(points, chances_of_rows(model, LOOK), seeds[0])
    met: list[_Run] = []
    for pool, seed in enumerate(seeds):
        for number in np.random.default_rng(seed).integers(2**31, size=starts).tolist():
            run = seen.continued(_start(points, k, chance, number), _ROUNDS if chance is None else _FEW_ROUNDS)
            _note(met, run, pool, len(seeds))
    if chance is None:
        return _sorted(met, starts)
    met.sort(key=lambda one: one.cost)
    carried: list[_Run] = []
    reached = np.zeros(len(seeds))
    every = _Seen(points, None)
    for place, one in enumerate(met[:_MOST]):
        likely = reached.min() < _REACHED * starts or one.cost <= (1.0 + _DOUBT) * met[0].cost
        if place >= _FEWEST and not likely:
            break
        run = every.continued(one.centres, _ROUNDS)
        for pool, count in enumerate(one.hits.tolist()):
            _note(carried, run, pool, len(seeds), count)
        reached += one.hits
    return _sorted(carried, starts)


def _sorted(runs: list[_Run], starts: int) -> Optima:
    runs.sort(key=lambda one: one.cost)
    return Optima(
        tuple(one.labels for one in runs),
        tuple(one.centres for one in runs),
        np.array([one.cost for one in runs]),
        np.array([one.hits for one in runs]).T,
        starts,
    )


def _start(points: Floats, k: int, chance: Floats | None, seed: int) -> Floats:
    """Return where k-means ends that starts at random on a sample of the rows, or its start if all rows are few."""
    draw = np.random.default_rng(seed)
    if chance is None:
        found, _ = kmeans_plusplus(points, k, random_state=seed)
        return np.asarray(found)
    rows = np.flatnonzero(draw.random(len(points)) < chance)
    run = KMeans(k, n_init=1, max_iter=_ROUNDS, tol=_NEAR, random_state=seed)
    return np.asarray(run.fit(points[rows], sample_weight=1.0 / chance[rows]).cluster_centers_)


@dataclass(frozen=True)
class _Seen:
    """Rows on which runs go on, and what each stands for."""

    points: Floats
    weights: Floats | None

    @classmethod
    def of(cls, points: Floats, chance: Floats | None, seed: int) -> _Seen:
        if chance is None:
            return cls(points, None)
        rows = np.flatnonzero(np.random.default_rng([seed, 1]).random(len(points)) < chance)
        return cls(points[rows], 1.0 / chance[rows])

    def continued(self, centres: Floats, rounds: int) -> KMeans:
        run = KMeans(len(centres), init=centres, n_init=1, max_iter=rounds, tol=_FIXED)
        return run.fit(self.points, sample_weight=self.weights)


@dataclass
class _Run:
    """Where runs of k-means have ended."""

    cost: float
    labels: NDArray[np.int64]
    centres: Floats
    hits: Integers


def _note(met: list[_Run], run: KMeans, pool: int, pools: int, count: int = 1) -> None:
    """Count a run for the optimum that it has reached, or for a new one."""
    cost, labels = float(run.inertia_), run.labels_.astype(np.int64)
    for one in met:
        if abs(cost - one.cost) <= 1e-3 * max(cost, one.cost) and other_labels(one.labels, labels) <= _SAME:
            one.hits[pool] += count
            if cost < one.cost:
                one.cost, one.labels, one.centres = cost, labels, run.cluster_centers_
            return
    hits = np.zeros(pools, dtype=np.int64)
    hits[pool] = count
    met.append(_Run(cost, labels, run.cluster_centers_, hits))


def best_of(hits: Integers, costs: Floats, starts: int, tries: int, draw: np.random.Generator) -> Floats:
    """Return how likely each optimum is what a miner takes for the best of some tries.

    A miner is simulated many times: tries are drawn from the starts, each stopped a little before its end.

    Parameters
    ----------
    hits : array of shape (optima,)
        Starts that end in each.
    costs : array of shape (optima,)
    starts : int
        All starts; those that are not in `hits` cost more.
    tries : int

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> best_of(np.array([5, 45]), np.array([1.0, 2.0]), 50, 20, draw).round(1)
    array([0.9, 0.1])
    """
    ends = np.concatenate([np.repeat(np.arange(len(hits)), hits), np.full(max(0, starts - int(hits.sum())), -1)])
    found = ends[draw.integers(len(ends), size=(_MINERS, tries))]
    seen = np.where(found < 0, np.inf, costs[found] * (1.0 + _STOPPED * draw.exponential(size=found.shape)))
    taken = found[np.arange(_MINERS), seen.argmin(axis=1)]
    counts = np.bincount(taken[taken >= 0], minlength=len(hits))
    total = counts.sum()
    return np.asarray(counts / total if total else np.eye(len(hits))[0])
