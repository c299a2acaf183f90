"""Which cluster is nearest when the graph does not say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


def nearest_cluster(positions: NDArray[np.float64], members: Mapping[int, NDArray[np.int64]], lonely: int) -> int:
    """Return the other cluster that holds the point nearest to any point of a cluster.

    Parameters
    ----------
    positions : ndarray of shape (v, d)
        Points.
    members : mapping of int to ndarray
        Points of every cluster, at least two clusters.
    lonely : int
        The cluster that looks for a neighbour.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [5.0], [6.5]])
    >>> nearest_cluster(points, {0: np.array([0, 1]), 1: np.array([2]), 2: np.array([3])}, 1)
    2
    """
    others = [index for index in members if index != lonely]
    theirs = np.concatenate([members[index] for index in others])
    owner = np.repeat(others, [len(members[index]) for index in others])
    distances, found = cKDTree(positions[theirs]).query(positions[members[lonely]])
    return int(owner[found[int(np.argmin(distances))]])
