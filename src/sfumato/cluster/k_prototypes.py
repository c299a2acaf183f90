"""k-prototypes (Huang 1998): k-means for numbers and categories together.

A row is as far from a prototype as its numbers are in squared distance, and `gamma` for every category that differs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats, Integers
from sfumato.exceptions import ParameterError

_ROUNDS = 100


class Prototypes(NamedTuple):
    """What `k_prototypes` found.

    Attributes
    ----------
    labels : array of shape (n,)
        Nearest prototype of every row.
    means : array of shape (k, numbers)
    modes : array of shape (k, categories)
        The most frequent value of each category in each cluster; of several the smallest.
    cost : float
        Sum of the rows' distances to their prototypes.
    """

    labels: Integers
    means: Floats
    modes: Floats
    cost: float


def k_prototypes(
    numbers: Floats, categories: Floats, k: int, *, gamma: float | None = None, n_init: int = 5, seed: int = 0
) -> Prototypes:
    """Cluster rows of numbers and categories; the same seed gives the same clusters.

    Parameters
    ----------
    numbers : array of shape (n, p)
        Scaled as they shall count.
    categories : array of shape (n, q)
        A number for each value.
    k : int
        How many clusters; at most as many as rows.
    gamma : float, optional
        What a category that differs counts. None (default) is half of the numbers' mean standard deviation, as Huang
        proposes, or 1 without numbers.
    n_init : int
        Starts; the result of least cost is taken. Default: 5.
    seed : int
        Chooses the starts. Default: 0.

    Examples
    --------
    >>> numbers = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> found = k_prototypes(numbers, np.array([[1.0], [1.0], [2.0], [2.0]]), 2)
    >>> found.labels[[0, 2]].tolist() == found.labels[[1, 3]].tolist(), len(set(found.labels.tolist()))
    (True, 2)
    """
    n = len(numbers)
    if not 1 <= k <= n or n_init < 1:
        raise ParameterError(f"k must lie between 1 and {n} rows and n_init be at least 1, got {k} and {n_init}")
    if gamma is None:
        gamma = float(numbers.std(axis=0).mean() / 2) if numbers.shape[1] else 1.0
    rows = _Rows(numbers, categories, gamma)
    generator = np.random.default_rng([seed, 21])
    found = [rows.settle(rows.starts(k, generator)) for _ in range(n_init)]
    return min(found, key=lambda one: one.cost)


class _Rows:
    """The rows, with an indicator of every value: mismatches are a product."""

    def __init__(self, numbers: Floats, categories: Floats, gamma: float) -> None:
        self._numbers, self._categories, self._gamma = numbers, categories, gamma
        self._squares = (numbers**2).sum(axis=1)
        self._levels = [np.unique(column) for column in categories.T]
        parts = [column[:, None] == levels for column, levels in zip(categories.T, self._levels, strict=True)]
        self._flags = np.concatenate([np.zeros((len(numbers), 0)), *parts], axis=1).astype(np.float64)

    def distances(self, means: Floats, modes: Floats) -> Floats:
        """Return the distance of every row to every prototype, shape (n, k)."""
        parts = [column[:, None] == levels for column, levels in zip(modes.T, self._levels, strict=True)]
        flags = np.concatenate([np.zeros((len(modes), 0)), *parts], axis=1).astype(np.float64)
        apart = self._squares[:, None] - 2 * self._numbers @ means.T + (means**2).sum(axis=1)
        unlike = self._categories.shape[1] - self._flags @ flags.T
        return np.asarray(np.maximum(apart, 0.0) + self._gamma * unlike, dtype=np.float64)

    def starts(self, k: int, generator: np.random.Generator) -> Integers:
        """Return rows to start from: each drawn with a chance that grows with its distance to those before it."""
        chosen = [int(generator.integers(len(self._numbers)))]
        nearest = np.full(len(self._numbers), np.inf)
        for _ in range(1, k):
            last = chosen[-1:]
            nearest = np.minimum(nearest, self.distances(self._numbers[last], self._categories[last])[:, 0])
            total = np.cumsum(nearest)
            drawn = np.searchsorted(total, generator.random() * total[-1], side="right")
            chosen.append(int(min(drawn, len(nearest) - 1)))
        return np.array(chosen, dtype=np.int64)

    def settle(self, starts: Integers) -> Prototypes:
        """Return the clusters that some rows lead to."""
        means, modes = self._numbers[starts], self._categories[starts]
        labels = np.full(len(self._numbers), -1, dtype=np.int64)
        for _ in range(_ROUNDS):
            apart = self.distances(means, modes)
            nearest = apart.argmin(axis=1)
            if np.array_equal(nearest, labels):
                break
            labels = nearest
            means, modes = self._centres(labels, means, modes)
        apart = self.distances(means, modes)
        labels = apart.argmin(axis=1)
        return Prototypes(labels, means, modes, float(apart[np.arange(len(labels)), labels].sum()))

    def _centres(self, labels: NDArray[np.int64], means: Floats, modes: Floats) -> tuple[Floats, Floats]:
        """Return the means and modes of the clusters; a cluster without rows keeps its own."""
        k = len(means)
        inside = np.zeros((k, len(labels)))
        inside[labels, np.arange(len(labels))] = 1.0
        counts = inside.sum(axis=1)
        full = counts > 0
        new_means, new_modes = means.copy(), modes.copy()
        new_means[full] = (inside @ self._numbers)[full] / counts[full, None]
        votes, first = inside @ self._flags, 0
        for j, levels in enumerate(self._levels):
            new_modes[full, j] = levels[votes[:, first : first + len(levels)].argmax(axis=1)][full]
            first += len(levels)
        return new_means, new_modes
