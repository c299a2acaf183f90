"""Tries a release before it is chosen: a miner with starts of their own should find the named clusters in it.

Rows of small atoms must move, and now and then they move so that another clustering becomes a little cheaper than the
named one. Several draws are tried on small tables, and the one in which k-means agrees best is released. Which of a few
draws it is says no more than that number.
"""

from __future__ import annotations

from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from sfumato._arrays import Floats, Integers
from sfumato.cluster.lattice_kmeans import best_of_tries, other_labels, plus_plus
from sfumato.cluster.lattice_rounds import lattice_lloyd
from sfumato.core.stream import Streams
from sfumato.core.variates import uniform
from sfumato.perturb.guard.atoms import Atoms
from sfumato.perturb.guard.named import Named

Likely = list[tuple[NDArray[np.intp], float]]

GOOD = 0.004  # the first one with so little disagreement is taken
TRIED_ROWS = 4096  # larger tables have so few rows in small atoms that one draw is like another
SMALL_ROWS = 2048  # trials take no time there, and draws differ most
_FIRST_STARTS, _STARTS = 80, 24  # on the original, and on each release
_UNLIKELY = 1e-3
_SURE, _SURE_WEIGHT = 0.01, 3.0  # a clustering that everybody finds in the original should be found in the release, too
_RIVAL, _NEAR, _MOST_RIVALS = 0.03, 1.04, 8  # labels that differ, and costs in which clusterings are rivals
_MOST_ASKED, _RATIO = 9, 1.15  # clusterings; of more, those that differ by this factor in their number of clusters
_ALIKE = 1.01  # columns that shrank alike to this factor: standardising the release changes nothing


class Trial:
    """Asks k-means about releases of one table.

    Each clustering is asked from the named centres; those that are k-means also with starts of the miner's own, the
    best of twenty, in the owner's scaling and after standardising the release by its own deviations. What such a miner
    would not agree on in the original either is no fault of a release.

    Parameters
    ----------
    original : array of shape (d, n)
        Rows of the table, in the space.
    of : array of shape (n,)
        Their atoms.
    streams : Streams
        Where the starts come from.
    standardised : bool
        Whether the space is that of standard deviations, so that a miner may well use the release's own.
    """

    def __init__(self, atoms: Atoms, original: Floats, of: Integers, streams: Streams, *, standardised: bool) -> None:
        self._atoms, self._of, self._streams = atoms, of, streams
        self._deviations = _deviations(original) if standardised else None
        steps = self._steps(original)
        self._asked = _asked(atoms.named)
        self._rivals: list[list[Floats]] = [[] for _ in atoms.named.centres]
        self._before = {index: self._likely(index, steps, _FIRST_STARTS) for index in self._asked}
        self._floors = {index: _expected(runs, runs) for index, runs in self._before.items()}

    def disagreement(self, released: Floats) -> float:
        """Return the share of labels that k-means gives otherwise on a release, beyond what it gives otherwise anyway.

        Parameters
        ----------
        released : array of shape (d, n)
            The same rows of a release, in the space.
        """
        steps = self._steps(released)
        seen = [steps, *self._restandardised(released)]
        total = 0.0
        for index in self._asked:
            centres = self._atoms.named.centres[index]
            named = self._atoms.labels[self._of, index]
            wrong = other_labels(named, lattice_lloyd(steps, centres)[1])
            floor = self._floors[index]
            found = [_expected(self._before[index], self._likely(index, own, _STARTS)) for own in seen]
            wrong += sum(max(0.0, rate - floor) for rate in found) / len(found)
            total += wrong * (_SURE_WEIGHT if floor < _SURE else 1.0)
        return total / max(len(self._asked), 1)

    def _restandardised(self, released: Floats) -> list[Floats]:
        """Return the release in its own standard deviations, unless that comes to the same."""
        if self._deviations is None:
            return []
        now = _deviations(released)
        varies = (self._deviations > 0) & (now > 0)
        factors = np.divide(self._deviations, now, out=np.ones_like(now), where=varies)
        if factors[varies].max(initial=0.0) <= _ALIKE * factors[varies].min(initial=np.inf):
            return []
        return [self._steps(released * factors[:, None])]

    def _steps(self, inside: Floats) -> Floats:
        return np.ascontiguousarray(self._atoms.named.space.steps(inside))

    def _likely(self, index: int, steps: Floats, starts: int) -> Likely:
        """Return the labels that a miner with twenty starts of their own may find, with their chances."""
        if not self._atoms.named.counted[index]:
            return []
        k = len(self._atoms.named.centres[index])
        draws = uniform(self._streams.scalars("trial", str(index), 3 * k * starts)).reshape(starts, 3 * k)
        with threadpool_limits(limits=1, user_api="blas"):
            begun = [plus_plus(steps, k, draw) for draw in draws]
            # an optimum that few starts find is easily missed: ask for those of the original and of other draws, too
            runs = [lattice_lloyd(steps, centres) for centres in (*begun, *self._rivals[index])]
        runs.sort(key=lambda run: run[2])
        chances = best_of_tries([cost for *_, cost in runs])
        self._remember(index, runs)
        return [(labels, chance) for (_, labels, _), chance in zip(runs, chances, strict=True) if chance > _UNLIKELY]

    def _remember(self, index: int, runs: list[tuple[Floats, NDArray[np.intp], float]]) -> None:
        """Keep the cheapest clusterings that are not the named one: in another draw one of them may be the best."""
        different = [self._atoms.labels[self._of, index]]
        rivals: list[Floats] = []
        for centres, labels, cost in runs:
            if cost > runs[0][2] * _NEAR or len(rivals) == _MOST_RIVALS:
                break
            if all(other_labels(other, labels) > _RIVAL for other in different):
                different.append(labels)
                rivals.append(centres)
        self._rivals[index] = (rivals + self._rivals[index])[: 2 * _MOST_RIVALS]


def _asked(named: Named) -> list[int]:
    """Return the clusterings that k-means is asked about: its own, and of many every second or third."""
    modes = named.modes or (False,) * len(named.centres)
    elsewhere = [one is not None for one in named.weights] or [False] * len(named.centres)
    elsewhere = [other or one is not None for other, one in zip_longest(elsewhere, named.clusters)]
    # k-prototypes and other clusterers are none of its own, and other scalings are not those in which it is asked
    own = [index for index, of_modes in enumerate(modes) if not of_modes and not elsewhere[index]]
    if len(own) <= _MOST_ASKED:
        return own
    chosen, last = [], 0.0
    for index in own:
        if named.sizes[index] >= last * _RATIO:
            chosen.append(index)
            last = named.sizes[index]
    return chosen


def _deviations(rows: Floats) -> Floats:
    """Return the standard deviation of each column, summed in the order of the rows."""
    centred = rows - (np.cumsum(rows, axis=1)[:, -1] / rows.shape[1])[:, None]
    deviations: Floats = np.sqrt(np.cumsum(centred * centred, axis=1)[:, -1] / rows.shape[1])
    return deviations


def _expected(before: Likely, after: Likely) -> float:
    """Return how much two miners are expected to disagree."""
    return sum(other_labels(a, b) * p * q for a, p in before for b, q in after)
