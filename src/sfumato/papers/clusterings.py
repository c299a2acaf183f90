"""The clusterings that the experiments compare."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from sfumato.cluster import Chameleon

# Every cluster of the synthetic layouts holds more than a tenth of the rows. Crumbs below a twentieth are noise, and
# first pieces of 1.5 % of the rows are small enough.
CHAMELEON: dict[str, Any] = {"piece_share": 0.015, "min_share": 0.05}


def kmeans_labels(table: NDArray[np.float64], n_clusters: int, seed: int = 0) -> NDArray[np.int64]:
    """Return k-means labels: k-means++ starts, the best of ten.

    Parameters
    ----------
    table : array of shape (n, d)
    """
    found = KMeans(n_clusters, n_init=10, random_state=seed).fit(table)
    return np.asarray(found.labels_, dtype=np.int64)


def chameleon_labels(
    table: NDArray[np.float64], n_clusters: int, *, n_init: int = 5, knn: int = 10
) -> NDArray[np.int64]:
    """Return Chameleon's labels.

    Parameters
    ----------
    table : array of shape (n, d)
    n_init : int
        Most runs; two that agree settle it.
    knn : int
        Neighbours of each point.
    """
    return np.asarray(Chameleon(n_clusters, n_init=n_init, knn=knn, **CHAMELEON).fit_predict(table), dtype=np.int64)


def min_max(table: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the table scaled to [0, 1] by column, the minima and the ranges.

    Examples
    --------
    >>> min_max(np.array([[1.0], [3.0], [5.0]]))[0].ravel().tolist()
    [0.0, 0.5, 1.0]
    """
    low = table.min(axis=0)
    width = np.ptp(table, axis=0)
    return (table - low) / np.where(width > 0, width, 1.0), low, width
