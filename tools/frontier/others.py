"""Clusterers that are not k-means, on a release and on the original: what they find otherwise, beyond their floor.

The floor is what noise of one per cent of a standard deviation and other seeds change.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from sfumato.cluster.by_name import find_labels
from sfumato.metrics import misclassification_rate

__all__ = ["OTHER_CLUSTERERS", "Others"]

Floats = NDArray[np.float64]

OTHER_CLUSTERERS = ("gaussian mixture 4", "ward 5", "hdbscan")
_NOISE = 0.01
_REPEATS, _REPEATS_ON_RELEASES = 4, 2
_ROWS = 5_000  # as many as are released: a tree or a density of fewer rows is another one


class Others:
    """Other clusterers on rows of one table, in the owner's standard deviations.

    Several people run a clusterer on the original, with seeds of their own and noise of one per cent, and the floor is
    how much two of them disagree. The excess of a release is how much more those who run it there disagree with them.

    Parameters
    ----------
    original : array of shape (n, d)
        In standard deviations.
    """

    def __init__(self, original: Floats) -> None:
        self._rows = np.random.default_rng(1).permutation(len(original))[:_ROWS]
        self._original = original[self._rows]
        self._known: dict[str, list[NDArray[np.int64]]] = {}

    def reference(self, name: str) -> tuple[list[NDArray[np.int64]], float]:
        """Return the labels of the runs on the original, the first without noise, and the floor."""
        if name not in self._known:
            self._known[name] = _runs(name, self._original, range(_REPEATS))
        runs = self._known[name]
        pairs = [misclassification_rate(a, b) for i, a in enumerate(runs) for b in runs[:i]]
        return runs, float(np.mean(pairs))

    def clusters(self, name: str) -> int:
        """Return how many clusters are found in the original."""
        labels = self.reference(name)[0][0]
        return len(np.unique(labels[labels >= 0]))

    def excess(self, name: str, released: Floats) -> float:
        """Return the share of rows in another cluster, less the floor; released in the owner's standard deviations."""
        runs, floor = self.reference(name)
        after = _runs(name, released[self._rows], range(100, 100 + _REPEATS_ON_RELEASES))
        return float(np.mean([misclassification_rate(a, b) for a in runs for b in after])) - floor


def _runs(name: str, rows: Floats, seeds: range) -> list[NDArray[np.int64]]:
    """Return the labels of several runs: the first on the rows as they are, the others with a little noise."""
    found = [_labels(name, rows, seeds[0])]
    for seed in seeds[1:]:
        noise = np.random.default_rng(seed).normal(scale=_NOISE, size=rows.shape)
        found.append(_labels(name, rows + noise, seed))
    return found


def _labels(name: str, rows: Floats, seed: int) -> NDArray[np.int64]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return find_labels(name, rows, seed, len(rows))
