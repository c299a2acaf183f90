"""Clusterers that are not k-means, on a release and on the original: what they find otherwise, beyond their floor.

The floor is what noise of one per cent of a standard deviation changes; of a mixture also its starts.
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
_ROWS = 5_000  # as many as are released: a tree or a density of fewer rows is another one


class Others:
    """Other clusterers on rows of one table, in the owner's standard deviations.

    Parameters
    ----------
    original : array of shape (n, d)
        In standard deviations.
    repeats : int
        Noisy copies for the floor.
    """

    def __init__(self, original: Floats, repeats: int = 4) -> None:
        self._rows = np.random.default_rng(1).permutation(len(original))[:_ROWS]
        self._original = original[self._rows]
        self._repeats = repeats
        self._known: dict[str, tuple[NDArray[np.int64], float]] = {}

    def reference(self, name: str) -> tuple[NDArray[np.int64], float]:
        """Return the labels of the original, and the floor."""
        if name not in self._known:
            labels = _labels(name, self._original, 0)
            rng = np.random.default_rng(2)
            shaken = [
                _labels(name, self._original + rng.normal(scale=_NOISE, size=self._original.shape), 1 + seed)
                for seed in range(self._repeats)
            ]
            self._known[name] = labels, float(np.mean([misclassification_rate(labels, one) for one in shaken]))
        return self._known[name]

    def clusters(self, name: str) -> int:
        """Return how many clusters are found in the original."""
        labels = self.reference(name)[0]
        return len(np.unique(labels[labels >= 0]))

    def excess(self, name: str, released: Floats) -> float:
        """Return the share of rows in another cluster, less the floor; released in the owner's standard deviations."""
        labels, floor = self.reference(name)
        return misclassification_rate(labels, _labels(name, released[self._rows], 0)) - floor


def _labels(name: str, rows: Floats, seed: int) -> NDArray[np.int64]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return find_labels(name, rows, seed, len(rows))
