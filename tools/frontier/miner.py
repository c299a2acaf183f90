"""What a miner finds: k-means on the original and on the release, with shared and with free starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering, KMeans

from sfumato.cluster import lloyd_kmeans
from sfumato.metrics import misclassification_rate

__all__ = ["MOST_ROWS", "NAMED", "OTHERS", "Miner", "rescaled", "shared_starts"]

Floats = NDArray[np.float64]

NAMED = tuple(range(2, 9))
OTHERS = tuple(range(9, 13))
MOST_ROWS = 100_000  # rows that the free miner clusters, the same ones of both tables
_WARD_ROWS = 2_000


def rescaled(values: Floats, like: Floats, scaling: str) -> Floats:
    """Return a table scaled by the statistics of another one (or of itself)."""
    if scaling == "std":
        unit, centre = like.std(axis=0), like.mean(axis=0)
    else:
        unit, centre = np.ptp(like, axis=0), like.min(axis=0)
    return (values - centre) / np.where(unit > 0, unit, 1.0)


def shared_starts(original: Floats, released: Floats, centres: Sequence[Floats]) -> list[float]:
    """Return the misclassification of k-means from the same centres, for each clustering, in the owner's scaling."""
    rates = []
    before, after = rescaled(original, original, "std"), rescaled(released, original, "std")
    for named in centres:
        start = rescaled(named, original, "std")
        rates.append(misclassification_rate(lloyd_kmeans(before, start).labels, lloyd_kmeans(after, start).labels))
    return rates


@dataclass
class Miner:
    """Someone who clusters a table with starts of their own: `n_init` starts, several seeds.

    Every run on the original is a reference once; the floor is how much two of them disagree, and the excess of a
    release is how much more its runs disagree with them.
    """

    original: Floats
    seeds: int
    n_init: int = 20
    most_rows: int = MOST_ROWS

    def __post_init__(self) -> None:
        chosen = np.random.default_rng(0).permutation(len(self.original))[: self.most_rows]
        self.rows = np.sort(chosen)
        self._references: dict[tuple[str, int], list[NDArray[np.int64]]] = {}

    def _runs(self, points: Floats, k: int, first: int) -> list[NDArray[np.int64]]:
        return [
            KMeans(k, n_init=self.n_init, random_state=first + seed).fit(points).labels_ for seed in range(self.seeds)
        ]

    def _reference(self, scaling: str, k: int) -> list[NDArray[np.int64]]:
        if (scaling, k) not in self._references:
            points = rescaled(self.original, self.original, scaling)[self.rows]
            self._references[scaling, k] = self._runs(points, k, 0)
        return self._references[scaling, k]

    def floor(self, scaling: str, k: int) -> float:
        """Return the mean disagreement of two runs on the original."""
        runs = self._reference(scaling, k)
        pairs = [misclassification_rate(a, b) for i, a in enumerate(runs) for b in runs[:i]]
        return float(np.mean(pairs))

    def excess(
        self, released: Floats, ks: Sequence[int], scaling: str, *, own: bool, signed: bool = False
    ) -> list[float]:
        """Return max(0, release - floor) for each k.

        Parameters
        ----------
        released : array of shape (n, d)
        ks : sequence of int
        scaling : "std" or "range"
        own : bool
            Whether the miner scales the release by its own statistics, or by the owner's.
        signed : bool
            Whether a release that does better than a re-run counts below zero, so that chance cancels out.
        """
        points = rescaled(released, released if own else self.original, scaling)[self.rows]
        found = []
        for k in ks:
            runs = self._runs(points, k, 1000)
            rate = np.mean([misclassification_rate(a, b) for a in self._reference(scaling, k) for b in runs])
            excess = float(rate) - self.floor(scaling, k)
            found.append(excess if signed else max(0.0, excess))
        return found

    def excess_of_other_columns(self, released: Floats, ks: Sequence[int]) -> list[float]:
        """Return the excess for a release whose columns are not the original ones, clustered as it is."""
        found = []
        for k in ks:
            runs = self._runs(released[self.rows], k, 1000)
            rate = np.mean([misclassification_rate(a, b) for a in self._reference("std", k) for b in runs])
            found.append(max(0.0, float(rate) - self.floor("std", k)))
        return found

    def ward(self, released: Floats, ks: Sequence[int]) -> float:
        """Return the mean misclassification of Ward's clusters on a sample."""
        rows = self.rows[:_WARD_ROWS]
        before = rescaled(self.original, self.original, "std")[rows]
        after = rescaled(released, self.original, "std")[rows]
        rates = [
            misclassification_rate(
                AgglomerativeClustering(k).fit_predict(before), AgglomerativeClustering(k).fit_predict(after)
            )
            for k in ks
        ]
        return float(np.mean(rates))
