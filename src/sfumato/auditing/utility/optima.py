"""The optima of k-means on a table, and how often a miner ends in each of them.

k-means has many optima, and which one a miner finds is a matter of luck. So luck is not tried a few times but counted:
many starts tell how often each optimum is reached and what it costs, and from that follows how likely it is the best of
twenty starts. Starts run on a weighted sample in which rows far out are certain to stand (a lightweight coreset of
Bachem, Lucic and Krause, 2018); whatever may be the best is carried to a fixed point on all rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats, Integers
from sfumato.cluster.lattice_kmeans import other_labels
from sfumato.cluster.weighted_kmeans import WeightedRun, weighted_kmeans, weighted_starts
from sfumato.core.passes import stop_if_asked
from sfumato.core.plans import Plan, Task, share_plans

#: rows on which a start runs, and on which it is looked at
CORE, LOOK = 3_000, 20_000
#: a miner of twenty starts reaches none of the carried optima once in a thousand times
_REACHED = 0.3
_FEWEST, _MOST = 3, 20
_DOUBT = 0.005  # what few rows may mistake of the cost of an optimum, as a share of it
_ROUGH, _LOOKED = 0.02, 60  # what few rounds may, too, and how many runs go on after them
_SAME = 0.01  # share of rows by which two runs of one optimum may differ
_NEARLY = 0.02  # after few rounds
_ROUNDS, _FEW_ROUNDS = 300, 4
# In scikit-learn's unit: squared shift of the centres over the mean variance of the columns.
_NEAR, _FIXED = 1e-5, 1e-7
#: what scikit-learn leaves of the cost when it stops, as a share of it: optima nearer than that are taken by chance
_STOPPED = 3e-5
_MINERS = 500
_TOGETHER = 5  # starts that are one task


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
    plan = optima_plan(Table(points), k, starts, seeds, like=None if like is None else Table(like))
    return share_plans([plan])[0]


class Table:
    """A table that is clustered many times: what all numbers of clusters need of it is made once.

    Parameters
    ----------
    points : array of shape (n, d)
    """

    def __init__(self, points: Floats) -> None:
        self.points = points

    @cached_property
    def digest(self) -> bytes:
        """What tells it from other tables."""
        told = hashlib.blake2b(repr(self.points.shape).encode())
        told.update(np.ascontiguousarray(self.points).data)
        return told.digest()

    @cached_property
    def every(self) -> _Seen:
        """All rows."""
        return _Seen.of(self.points)

    @cached_property
    def core(self) -> Floats | None:
        """How likely each row stands in a sample on which a start runs."""
        return chances_of_rows(self.points, CORE)

    @cached_property
    def look(self) -> Floats | None:
        """How likely each row stands in the sample on which starts are looked at."""
        return chances_of_rows(self.points, LOOK)


def optima_plan(table: Table, k: int, starts: int, seeds: Sequence[int], *, like: Table | None = None) -> Plan[Optima]:
    """Do the same as a plan: some starts are a task, and every optimum that is carried to all rows.

    Parameters
    ----------
    table, k, starts, seeds, like
        See `find_optima`.
    """
    model, every = like or table, table.every
    chance = model.core
    seen = every.part(model.look, seeds[0])
    numbers = [np.random.default_rng(seed).integers(2**31, size=starts).tolist() for seed in seeds]
    parts = [
        (pool, some[at : at + _TOGETHER]) for pool, some in enumerate(numbers) for at in range(0, starts, _TOGETHER)
    ]
    size = float(seen.columns.size * k * _TOGETHER)
    ended = yield [Task(size, partial(_run_starts, every, seen, k, chance, some)) for _, some in parts]
    met: list[_Run] = []
    for (pool, _), runs in zip(parts, ended, strict=True):
        for run in runs:
            _note(met, run, pool, len(seeds), apart=_SAME if chance is None else _NEARLY)
    if chance is not None:
        met = _worth(met, starts)
        size = 10.0 * seen.columns.size * k
        ended = yield [Task(size, partial(seen.continued, one.centres, _ROUNDS)) for one in met]
        met = _to_carry(_noted_again(met, ended), starts, len(seeds))
        del seen
        size = 10.0 * every.columns.size * k
        ended = yield [Task(size, partial(every.continued, one.centres, _ROUNDS)) for one in met]
        met = _noted_again(met, ended)
    met.sort(key=lambda one: one.cost)
    return Optima(
        tuple(one.labels.astype(np.int64) for one in met),
        tuple(one.centres + every.middle for one in met),
        np.array([one.cost for one in met]),
        np.array([one.hits for one in met]).T,
        starts,
    )


def _worth(met: list[_Run], starts: int) -> list[_Run]:
    """Return the runs that a miner may take for the best, of which few rounds tell the cost only roughly."""
    met = sorted(met, key=lambda one: one.cost)
    reached = np.cumsum([one.hits.sum() for one in met]) / (starts * len(met[0].hits))
    needed = int(np.searchsorted(reached, _REACHED)) + 1
    return [one for place, one in enumerate(met) if place < needed or one.cost <= (1.0 + _ROUGH) * met[0].cost][
        :_LOOKED
    ]


def _noted_again(met: list[_Run], ended: Sequence[WeightedRun]) -> list[_Run]:
    """Return the optima that runs have reached which went on, with the hits of all of them."""
    found: list[_Run] = []
    for one, run in zip(met, ended, strict=True):
        for pool, count in enumerate(one.hits.tolist()):
            _note(found, run, pool, len(one.hits), count)
    return found


def _to_carry(met: list[_Run], starts: int, pools: int) -> list[_Run]:
    """Return the runs that may be the best on all rows, the cheapest first."""
    met = sorted(met, key=lambda one: one.cost)
    chosen: list[_Run] = []
    reached = np.zeros(pools)
    for place, one in enumerate(met[:_MOST]):
        likely = reached.min() < _REACHED * starts or one.cost <= (1.0 + _DOUBT) * met[0].cost
        if place >= _FEWEST and not likely:
            break
        chosen.append(one)
        reached += one.hits
    return chosen


def _run_starts(every: _Seen, seen: _Seen, k: int, chance: Floats | None, numbers: list[int]) -> list[WeightedRun]:
    """Start k-means several times, and go on with each on the rows that are seen."""
    runs = []
    for number in numbers:
        stop_if_asked()
        centres = _start(every, k, chance, number)
        run = seen.continued(centres, _ROUNDS if chance is None else _FEW_ROUNDS)
        runs.append(run._replace(labels=run.labels.astype(np.min_scalar_type(k))))  # many wait: small labels
    return runs


def _start(every: _Seen, k: int, chance: Floats | None, seed: int) -> Floats:
    """Return where k-means ends that starts at random on a sample of the rows, or its start if all rows are few."""
    draw = np.random.default_rng(seed)
    if chance is None:
        return weighted_starts(every.columns, every.weights, k, draw)
    some = every.drawn(chance, draw)
    centres = weighted_starts(some.columns, some.weights, k, draw)
    return weighted_kmeans(
        some.columns, some.weights, centres, rounds=_ROUNDS, tolerance=_NEAR * every.variance
    ).centres


@dataclass(frozen=True)
class _Seen:
    """Rows on which runs go on, columns first and around their mean, and what each stands for."""

    columns: Floats
    weights: Floats
    middle: Floats
    variance: float

    @classmethod
    def of(cls, points: Floats) -> _Seen:
        middle = np.asarray(points.mean(axis=0))
        columns = np.ascontiguousarray((points - middle).T)
        return cls(columns, np.ones(len(points)), middle, float(np.mean(columns.var(axis=1))))

    def part(self, chance: Floats | None, seed: int) -> _Seen:
        return self if chance is None else self.drawn(chance, np.random.default_rng([seed, 1]))

    def drawn(self, chance: Floats, draw: np.random.Generator) -> _Seen:
        rows = np.flatnonzero(draw.random(len(chance)) < chance)
        return _Seen(self.columns.take(rows, axis=1), 1.0 / chance[rows], self.middle, self.variance)

    def continued(self, centres: Floats, rounds: int) -> WeightedRun:
        return weighted_kmeans(self.columns, self.weights, centres, rounds=rounds, tolerance=_FIXED * self.variance)


@dataclass
class _Run:
    """Where runs of k-means have ended."""

    cost: float
    labels: NDArray[np.integer]
    centres: Floats
    hits: Integers


def _note(met: list[_Run], run: WeightedRun, pool: int, pools: int, count: int = 1, *, apart: float = _SAME) -> None:
    """Count a run for the optimum that it has reached, or for a new one."""
    for one in met:
        alike = abs(run.cost - one.cost) <= apart / 10 * max(run.cost, one.cost)
        if alike and other_labels(one.labels, run.labels) <= apart:
            one.hits[pool] += count
            if run.cost < one.cost:
                one.cost, one.labels, one.centres = run.cost, run.labels, run.centres
            return
    hits = np.zeros(pools, dtype=np.int64)
    hits[pool] = count
    met.append(_Run(run.cost, run.labels, run.centres, hits))


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
    return best_of_thrown(hits, costs, starts, thrown(draw, max(starts, int(hits.sum())), tries))


def thrown(draw: np.random.Generator, starts: int, tries: int) -> tuple[Integers, Floats]:
    """Return the dice of many miners: which of the starts each tries, and how long before its end each try stops.

    Parameters
    ----------
    starts, tries
        See `best_of`.
    """
    return draw.integers(starts, size=(_MINERS, tries)), draw.exponential(size=(_MINERS, tries))


def best_of_thrown(hits: Integers, costs: Floats, starts: int, dice: tuple[Integers, Floats]) -> Floats:
    """Do what `best_of` does with dice that are thrown already.

    Parameters
    ----------
    hits, costs, starts
        See `best_of`.
    dice : tuple of two arrays
        See `thrown`.
    """
    ends = np.concatenate([np.repeat(np.arange(len(hits)), hits), np.full(max(0, starts - int(hits.sum())), -1)])
    found = ends[dice[0]]
    seen = np.where(found < 0, np.inf, costs[found] * (1.0 + _STOPPED * dice[1]))
    taken = found[np.arange(_MINERS), seen.argmin(axis=1)]
    counts = np.bincount(taken[taken >= 0], minlength=len(hits))
    total = counts.sum()
    return np.asarray(counts / total if total else np.eye(len(hits))[0])
