"""Leans a release towards the named clusterings where others cost nearly as little.

k-means takes the cheapest clustering that it finds. Where the original has two of nearly one cost, the noise on the
means of atoms decides which of them is cheaper in the release, and a miner may find the other one. What a clustering
costs can be foreseen: the guard is tried on some rows, as they will be drawn, and k-means is asked about them. If atoms
move towards their centres in the named clustering, and away from those that they have in a rival, the first becomes
cheaper and the second dearer. So the means of atoms are moved as little as makes every named clustering cheaper than
all rivals that were found, by a margin.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.cluster.lattice_kmeans import Run, other_labels, plus_plus
from sfumato.cluster.lattice_rounds import lattice_lloyd
from sfumato.core.fast import compiled_kernels
from sfumato.core.linear import cholesky, fixed_order_sum, lattice_bits, product_in_order, sum_in_order, to_steps
from sfumato.core.plans import Plan, Task, share_plans
from sfumato.core.sharing import one_blas_thread
from sfumato.core.stream import Streams
from sfumato.core.variates import normal, uniform
from sfumato.perturb.guard.atoms import Atoms
from sfumato.perturb.guard.named import Named
from sfumato.perturb.guard.placing import pushed_inside, released_regions
from sfumato.perturb.guard.regions import Regions
from sfumato.perturb.guard.rounds import guarded

FEWEST_ROWS, LOOKED_ROWS = 200, 8192  # of a table that leans, and that are tried
MORE_NOISE = 1.5  # on the sums of atoms that lean: what leaning tells of the others is made up for by that
_MARGIN = 0.01  # share of its cost by which a named clustering should be cheaper than a rival
_NEAR = 1.02  # times the cost of the named clustering, up to which another is a rival
_RIVAL = 0.02  # labels that differ
_MOST_RIVALS = 6
_TURNS, _MORE_TURNS = 3, 12  # and where that pays: on smaller tables what is tried is not what will be drawn
_MORE = (4096, 65_536)  # rows between which it does; on larger ones three turns come near enough for their time
_STARTS, _AGAIN, _LATER = 12, 5, 2  # of the first turn, of a draw's first turn, and of others, which know most rivals
_ROOM = 0.5  # share of the way to the walls that atoms may take in one turn
_SWEEPS, _MET = 30, 0.05  # at most, and what may be left of a demand
_ALIKE, _STRETCH = 0.03, (0.95, 1.05)  # deviations of columns that may stay apart, and factors of columns in one turn


class _Demand(NamedTuple):
    """A clustering that should be dearer than the named one: what is wanting, and which ways of atoms make it so."""

    lack: float
    ways: Floats


class _Asked(NamedTuple):
    """A named clustering: its place, and by what columns are multiplied where it was named in another scaling."""

    place: int
    factors: Floats


class Leaning:
    """Foresees which clusterings of a release are cheapest, and moves atoms so that the named ones are.

    Parameters
    ----------
    atoms : Atoms
    regions : Regions
        Of the named centres.
    of : array of shape (m,)
        The atoms of some rows of the table.
    scatter : list of arrays of shape (d, d) or (d,)
        Covariance of every atom, or the variances alone.
    streams : Streams
        Where the starts of k-means come from.
    """

    def __init__(self, atoms: Atoms, regions: Regions, of: Integers, scatter: list[Floats], streams: Streams) -> None:
        self._atoms, self._plain, self._streams, self._of = atoms, regions, streams, of
        self._counts = np.bincount(of, minlength=len(atoms)).astype(np.float64)
        # drawn anew: nothing is looked at here but what the release keeps anyway
        self._away = _drawn(of, scatter, streams)
        self._deviations = _deviations(atoms.means[of].T + self._away)
        self._asked = _asked(atoms.named)
        self._rivals: dict[int, list[Floats]] = {one.place: [] for one in self._asked}
        self._turns = _MORE_TURNS if _MORE[0] < int(atoms.counts.sum()) <= _MORE[1] else _TURNS

    def shifts(self, noise: Floats, spread: float, variances: Floats, draw: int) -> Floats:
        """Return how far the mean of each atom should move, shape (a, d).

        Parameters
        ----------
        noise : array of shape (a, d)
            How far the means are moved anyway.
        spread : float
            Share of the deviation inside atoms that is kept.
        variances : array of shape (a, d)
            Of the columns inside each atom.
        draw : int
            Which draw it is.
        """
        atoms = self._atoms
        start = atoms.means + noise
        targets, every = start, np.arange(len(atoms))
        scatter = self._counts * sum_in_order(variances) * spread * spread
        for turn in range(self._turns):
            regions = released_regions(atoms, targets, self._plain)
            targets = pushed_inside(targets, np.zeros(len(atoms), dtype=bool), self._plain, regions)
            proposed = targets[self._of].T + spread * self._away
            tried = guarded(regions, targets, atoms.counts, scatter, proposed, self._of)
            demands = self._demands(tried, f"{draw} {turn}", _LATER if turn else _AGAIN if draw else _STARTS)
            if all(one.lack <= 0.0 for one in demands):
                break
            ways = _least(demands, self._counts)
            near = regions.nearness(targets)
            room = regions.reach(np.ascontiguousarray(targets.T), np.ascontiguousarray(ways.T), every, near)
            targets = self._levelled(targets + ways * np.minimum(1.0, _ROOM * room)[:, None], tried)
        return targets - start

    def _levelled(self, targets: Floats, tried: Floats) -> Floats:
        """Return targets with columns stretched or shrunk a little, so that all keep the same share of their deviation.

        Whoever standardises the release would undo it where columns differ.
        """
        kept = np.divide(_deviations(tried), self._deviations, out=np.ones(len(tried)), where=self._deviations > 0)
        usual = np.sort(kept)[len(kept) // 2]
        wanted = np.divide(usual, kept, out=np.ones(len(kept)), where=kept > 0)
        # differences that noise makes stay, up to a limit: they hide who adds how much to a column
        factors = np.clip(wanted / np.clip(wanted, 1.0 - _ALIKE, 1.0 + _ALIKE), *_STRETCH)
        middle = sum_in_order(targets.T * self._counts) / sum_in_order(self._counts)
        levelled: Floats = middle + (targets - middle) * factors
        return levelled

    def _demands(self, tried: Floats, name: str, starts: int) -> list[_Demand]:
        """Return what is wanted of the atoms so that no clustering is cheaper than a named one."""
        with one_blas_thread():
            found = share_plans([self._of_rivals(one, tried, name, starts) for one in self._asked])
        return [demand for demands in found for demand in demands]

    def _of_rivals(self, asked: _Asked, tried: Floats, name: str, starts: int) -> Plan[list[_Demand]]:
        index, atoms, of = asked.place, self._atoms, self._of
        k, own = atoms.named.sizes[index], atoms.labels[of, index]
        ((steps, bits, centres, cost),) = yield [Task(float(k), partial(_as_named, tried, asked.factors, own, k))]
        draws = uniform(self._streams.scalars("leaning", f"{index} {name}", 3 * k * starts)).reshape(starts, 3 * k)
        known = [centres, *(to_steps(one, bits) for one in self._rivals[index])]
        begun = [Task(float(k), partial(_begun, steps, k, draw)) for draw in draws]
        runs = yield [*begun, *(Task(float(k), partial(lattice_lloyd, steps, one)) for one in known)]
        runs.sort(key=lambda run: run[2])
        different, demands = [own], []
        rivals: list[Floats] = []
        for theirs, labels, least in runs:
            if least > cost * _NEAR or len(rivals) == _MOST_RIVALS:
                break
            if any(other_labels(one, labels) <= _RIVAL for one in different):
                continue
            different.append(labels)
            rivals.append(theirs * 2.0**-bits)
            ways = centres[atoms.labels[:, index]] - atoms.means_of(theirs[labels].T, of)
            ways = np.where(self._counts[:, None] > 0, ways, 0.0) * asked.factors
            # rivals that are dear enough stay in mind: what others demand must not make them cheap
            demands.append(_Demand((cost * (1 + _MARGIN) - least) * 4.0**-bits, ways * 2.0**-bits))
        self._rivals[index] = (rivals + self._rivals[index])[: 2 * _MOST_RIVALS]
        return demands


def _begun(steps: Floats, k: int, draw: Floats) -> Run:
    return lattice_lloyd(steps, plus_plus(steps, k, draw))


def _drawn(of: Integers, scatter: list[Floats], streams: Streams) -> Floats:
    """Return normal deviations of rows with the covariances of their atoms, shape (d, rows)."""
    d = len(scatter[0])
    drawn = normal(streams.scalars("leaning", "rows", d * len(of))).reshape(d, len(of))
    away = np.zeros_like(drawn)
    for atom in np.unique(of):
        here = np.flatnonzero(of == atom)
        if scatter[atom].ndim == 1:
            away[:, here] = np.sqrt(scatter[atom])[:, None] * drawn[:, here]
            continue
        away[:, here] = product_in_order(cholesky(scatter[atom]), drawn[:, here])
    return away


def _asked(named: Named) -> list[_Asked]:
    """Return the clusterings that are k-means, in the scaling of the space or in another."""
    found = []
    plain = np.ones(named.stacked.shape[1])
    for index, counted in enumerate(named.counted):
        weights = named.weights[index] if named.weights else None
        given = named.clusters[index] if named.clusters else None
        if counted:
            found.append(_Asked(index, plain))
        elif weights is not None and weights.ndim == 1 and given is None:
            found.append(_Asked(index, np.sqrt(weights)))
    return found


def _as_named(tried: Floats, factors: Floats, labels: Integers, k: int) -> tuple[Floats, int, Floats, float]:
    """Return rows on a lattice, its bits, the centres of their clusters there, and what the clusters cost."""
    rows = tried * factors[:, None]
    bits = lattice_bits(float(np.abs(rows).max(initial=0.0)))
    steps = np.ascontiguousarray(to_steps(rows, bits))
    counts = np.maximum(np.bincount(labels, minlength=k), 1)
    # whole numbers below 2^53: exact
    sums = np.stack([np.bincount(labels, weights=row, minlength=k) for row in steps], axis=1)
    squares = float(fixed_order_sum((steps * steps).ravel()))
    cost = squares - float(fixed_order_sum((sums * sums / counts[:, None]).ravel()))
    return steps, bits, np.rint(sums / counts[:, None]), cost


def _deviations(rows: Floats) -> Floats:
    """Return the standard deviation of each column."""
    away = rows - (sum_in_order(rows) / rows.shape[1])[:, None]
    deviations: Floats = np.sqrt(sum_in_order(away * away) / rows.shape[1])
    return deviations


def _least(demands: list[_Demand], counts: Floats) -> Floats:
    """Return small ways of the atoms that together meet all demands, as far as they do not contradict one another.

    One demand after the other is met by the shortest ways that meet it, again and again.
    """
    ways, weights = np.zeros_like(demands[0].ways), 2.0 * counts[:, None]
    sizes = [float(fixed_order_sum((weights * one.ways * one.ways).ravel())) for one in demands]
    fast, products = compiled_kernels(len(demands) * ways.size), np.empty(ways.size)
    for _ in range(_SWEEPS):
        met = True
        for one, size in zip(demands, sizes, strict=True):
            if fast is not None:
                wanting = fast.meet_demand(one.ways, weights, ways, one.lack, size, _MET * abs(one.lack), products)
                met &= not wanting
                continue
            lack = one.lack - float(fixed_order_sum((weights * one.ways * ways).ravel()))
            if lack > _MET * abs(one.lack) and size > 0:
                ways += (lack / size) * one.ways
                met = False
        if met:
            break
    return ways
