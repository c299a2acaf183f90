"""Where k-means ends on a table, and how often a miner ends in each place.

k-means has many optima, and which one a miner finds is a matter of luck. So luck is not tried a few times but counted:
many starts tell how often each place is reached and what it costs, and from that follows how likely it is the best of
twenty starts. A start is what scikit-learn makes of one: on all rows, from k-means++, stopped when the centres hardly
move; where it stops is as much a part of luck as where it began.
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

_SAME = 0.002  # share of rows by which two runs that ended in one place may differ
_ROUNDS = 300
_STOP = 1e-4  # scikit-learn's: squared shift of the centres over the mean variance of the columns
_TOGETHER = 5  # starts that are one task


@dataclass(frozen=True)
class Optima:
    """What k-means finds on a table.

    Attributes
    ----------
    labels : tuple of arrays of shape (n,)
        Of each place where starts end, the cheapest first.
    centres : tuple of arrays of shape (k, d)
    costs : array of shape (places,)
    ends : array of shape (pools, starts)
        Where each start of a pool ends, the start that costs least first: ends that nearly cost the same are told apart
        by what each start came to, as a miner tells them apart.
    prices : array of shape (pools, starts)
        What each of these starts came to.
    """

    labels: tuple[NDArray[np.int64], ...]
    centres: tuple[Floats, ...]
    costs: Floats
    ends: Integers
    prices: Floats

    @property
    def starts(self) -> int:
        """Starts of each pool."""
        return int(self.ends.shape[1])

    @property
    def hits(self) -> Integers:
        """How many starts end in each place, over all pools."""
        return np.bincount(self.ends.ravel(), minlength=len(self.labels))


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
    def middle(self) -> Floats:
        """The mean of the rows."""
        return np.asarray(self.points.mean(axis=0))

    @cached_property
    def columns(self) -> Floats:
        """All rows around their mean, columns first."""
        return np.ascontiguousarray((self.points - self.middle).T)

    @cached_property
    def variance(self) -> float:
        """The mean variance of the columns."""
        return float(np.mean(self.columns.var(axis=1)))


def find_optima(points: Floats, k: int, starts: int, seeds: Sequence[int]) -> Optima:
    """Run k-means from many starts, and return where they end.

    Parameters
    ----------
    points : array of shape (n, d)
    k : int
    starts : int
        Starts of each pool.
    seeds : sequence of int
        One for each pool of starts; on a release the same as on its original, so that both have the same luck.
    """
    return share_plans([optima_plan(Table(points), k, starts, seeds)])[0]


def optima_plan(
    table: Table, k: int, starts: int, seeds: Sequence[int], *, begun: Optima | None = None
) -> Plan[Optima]:
    """Do the same as a plan, some starts of which are a task.

    Parameters
    ----------
    table, k, starts, seeds
        See `find_optima`.
    begun : Optima, optional
        Of fewer starts with the same seeds, which are not made again.
    """
    ready = 0 if begun is None else begun.starts
    numbers = [np.random.default_rng(seed).integers(2**31, size=starts)[ready:].tolist() for seed in seeds]
    parts = [
        (pool, some[at : at + _TOGETHER]) for pool, some in enumerate(numbers) for at in range(0, len(some), _TOGETHER)
    ]
    size = float(table.columns.size * k * _TOGETHER)
    ended = yield [Task(size, partial(_run_starts, table, k, some)) for _, some in parts]
    met: list[_Run] = [] if begun is None else _runs_of(begun, table.middle)
    for (pool, _), runs in zip(parts, ended, strict=True):
        for run in runs:
            _note(met, run, pool)
    met.sort(key=lambda one: one.cost)
    told = sorted((cost, place, pool) for place, one in enumerate(met) for pool, cost in one.met)
    return Optima(
        tuple(one.labels.astype(np.int64) for one in met),
        tuple(one.centres + table.middle for one in met),
        np.array([one.cost for one in met]),
        np.array([[place for _, place, of in told if of == pool] for pool in range(len(seeds))]),
        np.array([[cost for cost, _, of in told if of == pool] for pool in range(len(seeds))]),
    )


def _run_starts(table: Table, k: int, numbers: list[int]) -> list[WeightedRun]:
    """Start k-means several times on all rows, as a miner does."""
    runs, weights = [], np.ones(len(table.points))
    for number in numbers:
        stop_if_asked()
        centres = weighted_starts(table.columns, weights, k, np.random.default_rng(number))
        run = weighted_kmeans(table.columns, weights, centres, rounds=_ROUNDS, tolerance=_STOP * table.variance)
        runs.append(run._replace(labels=run.labels.astype(np.min_scalar_type(k))))  # many wait: small labels
    return runs


@dataclass
class _Run:
    """Where runs of k-means have ended: the cheapest of them, and pool and cost of each."""

    cost: float
    labels: NDArray[np.integer]
    centres: Floats
    met: list[tuple[int, float]]


def _runs_of(found: Optima, middle: Floats) -> list[_Run]:
    runs = [
        _Run(cost, labels, centres - middle, [])
        for cost, labels, centres in zip(found.costs.tolist(), found.labels, found.centres, strict=True)
    ]
    for pool, (places, costs) in enumerate(zip(found.ends.tolist(), found.prices.tolist(), strict=True)):
        for place, cost in zip(places, costs, strict=True):
            runs[place].met.append((pool, cost))
    return runs


def _note(met: list[_Run], run: WeightedRun, pool: int) -> None:
    """Count a run for the place where it has ended, or for a new one."""
    for one in met:
        alike = abs(run.cost - one.cost) <= _SAME / 10 * max(run.cost, one.cost)
        if alike and other_labels(one.labels, run.labels) <= _SAME:
            one.met.append((pool, run.cost))
            if run.cost < one.cost:
                one.cost, one.labels, one.centres = run.cost, run.labels, run.centres
            return
    met.append(_Run(run.cost, run.labels, run.centres, [(pool, run.cost)]))


def best_of(ends: Integers, places: int, tries: int) -> Floats:
    """Return how likely the best of some tries, drawn from the starts, ends in each place.

    Parameters
    ----------
    ends : array of shape (starts,)
        Where each start ends, the cheapest start first.
    places : int
    tries : int

    Examples
    --------
    >>> best_of(np.array([0] * 5 + [1] * 45), 2, 20).round(1)
    array([0.9, 0.1])
    """
    worse = 1.0 - np.arange(len(ends) + 1) / len(ends)
    chances: Floats = np.bincount(ends, worse[:-1] ** tries - worse[1:] ** tries, minlength=places)  # type: ignore[assignment]
    return chances
