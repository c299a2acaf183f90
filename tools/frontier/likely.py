"""What two miners may find who take the best of twenty starts: how much they are expected to disagree.

A miner with twenty starts has luck or has not: where one start in twenty finds an optimum, one miner in three misses
it. To run a few such miners is to measure their luck. So many single starts are made, each has a chance to be the best
of twenty, and the disagreement of two miners is the mean over all pairs, by their chances.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from sfumato.cluster.lattice_kmeans import other_labels
from tools.frontier.miner import rescaled

__all__ = ["STARTS", "STARTS_ON_RELEASES", "TRIES", "LikelyMiner"]

Floats = NDArray[np.float64]
Likely = list[tuple[NDArray[np.int64], float]]

TRIES = 20
STARTS, STARTS_ON_RELEASES = 80, 40
_UNLIKELY = 2e-3


class LikelyMiner:
    """Someone who clusters a table with k-means and takes the best of twenty starts.

    The floor is how much two of them disagree on the original; the excess of a release is how much more one who has it
    disagrees with one who has the original.

    Parameters
    ----------
    original : array of shape (n, d)
    """

    def __init__(self, original: Floats) -> None:
        self._original = original
        self._known: dict[tuple[str, int], tuple[Likely, float]] = {}

    def excess(self, released: Floats, ks: Sequence[int], scaling: str, *, own: bool) -> list[float]:
        """Return the disagreement beyond the floor for each k; below zero where a release agrees better than a re-run.

        Parameters
        ----------
        released : array of shape (n, d)
        ks : sequence of int
        scaling : "std" or "range"
        own : bool
            Whether the miner scales the release by its own statistics, or by the original's.
        """
        points = rescaled(released, released if own else self._original, scaling)
        found = []
        for k in ks:
            before, floor = self._reference(scaling, k)
            found.append(_disagreement(before, _likely(points, k, STARTS, STARTS_ON_RELEASES)) - floor)
        return found

    def floor(self, scaling: str, k: int) -> float:
        """Return how much two miners of the original disagree."""
        return self._reference(scaling, k)[1]

    def _reference(self, scaling: str, k: int) -> tuple[Likely, float]:
        if (scaling, k) not in self._known:
            runs = _likely(rescaled(self._original, self._original, scaling), k, 0, STARTS)
            self._known[scaling, k] = runs, _disagreement(runs, runs)
        return self._known[scaling, k]


def _likely(points: Floats, k: int, first_seed: int, starts: int) -> Likely:
    """Return the labels that a miner may find, and their chances."""
    fits = [KMeans(k, n_init=1, random_state=first_seed + seed).fit(points) for seed in range(starts)]
    fits.sort(key=lambda fit: fit.inertia_)
    worse = [((starts - at) / starts) ** TRIES for at in range(starts + 1)]  # all tries are at least as bad
    chances = [worse[at] - worse[at + 1] for at in range(starts)]
    return [
        (fit.labels_.astype(np.int64), chance) for fit, chance in zip(fits, chances, strict=True) if chance > _UNLIKELY
    ]


def _disagreement(before: Likely, after: Likely) -> float:
    """Return how much two miners are expected to disagree."""
    chances = sum(p * q for _, p in before for _, q in after)
    return sum(p * q * other_labels(a, b) for a, p in before for b, q in after) / chances
