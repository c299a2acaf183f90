"""Chameleon as a scikit-learn estimator."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state

from sfumato.cluster.chameleon.agglomerate import merge_pieces
from sfumato.cluster.chameleon.consensus import agreed_labels
from sfumato.cluster.chameleon.graph import neighbour_graph
from sfumato.cluster.chameleon.levels import absorb_small, labels_at, last_level
from sfumato.cluster.chameleon.metis import load_metis
from sfumato.cluster.chameleon.pieces import small_pieces
from sfumato.cluster.chameleon.points import distinct_points
from sfumato.cluster.fixed_order import checked_rows
from sfumato.cluster.validated import validated_rows
from sfumato.exceptions import ParameterError

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

# Rows of a first piece, at least; smaller pieces have no inside to compare with.
_LEAST_PIECE = 10
# Runs of neighbouring seeds must not share METIS seeds.
_SEED_STRIDE = 1009
_SEEDS = 2**31 - 2


class Chameleon(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Chameleon: hierarchical clustering that adapts to the shape and density of the clusters.

    Equal rows are joined, every point is linked to its nearest neighbours, METIS cuts the graph into many small
    pieces, and pieces merge while they are as closely connected with each other as they are within. Small crumbs
    of noise do not count as clusters and are given to their strongest neighbours in the end.

    Needs the package `pymetis` (`pip install sfumato[chameleon]`). The same rows in the same order and the same
    seed give the same labels on one platform (METIS draws C's random numbers, which differ between platforms).
    Moving, turning or rescaling the data as a whole changes the graph by rounding at most.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, at most the number of distinct rows. Default: 2.
    knn : int
        Neighbours that each point is linked to. Default: 10.
    alpha : float
        Exponent of relative closeness; above 1 it counts more than relative interconnectivity. Default: 2.0.
    min_share : float
        Share of the rows that a cluster needs to count as one while the level is chosen; never more than half
        of an even share. Default: 0.015.
    piece_share : float
        Share of the rows in a first piece. Default: 0.004.
    n_init : int
        Most runs with different METIS seeds. Two runs that agree settle the matter; without agreement the run
        closest to all others is taken. Default: 5.
    random_state : int, RandomState or None
        Seed of METIS.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each row, 0 to n_clusters - 1, numbered by their first rows.
    n_features_in_ : int
        Number of columns seen in `fit`.

    Examples
    --------
    >>> X = np.concatenate([np.arange(20.0), 100.0 + np.arange(20.0)]).reshape(-1, 1)
    >>> np.bincount(Chameleon(n_clusters=2, knn=3).fit_predict(X))
    array([20, 20])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        knn: int = 10,
        alpha: float = 2.0,
        min_share: float = 0.015,
        piece_share: float = 0.004,
        n_init: int = 5,
        random_state: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.knn = knn
        self.alpha = alpha
        self.min_share = min_share
        self.piece_share = piece_share
        self.n_init = n_init
        self.random_state = random_state

    def _check_parameters(self) -> None:
        for name in ("n_clusters", "knn", "n_init"):
            value = getattr(self, name)
            if not (isinstance(value, int | np.integer) and value >= 1):
                raise ParameterError(f"{name} must be a whole number of at least 1, got {value!r}")
        if not (math.isfinite(self.alpha) and self.alpha >= 0.0):
            raise ParameterError(f"alpha must be a finite number of at least 0, got {self.alpha!r}")
        for name in ("min_share", "piece_share"):
            value = getattr(self, name)
            if not 0.0 <= value < 1.0:
                raise ParameterError(f"{name} must lie in [0, 1), got {value!r}")

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002  # scikit-learn's signature
        """Find the clusters.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows; columns should be on comparable scales.
        y : ignored
            Present for scikit-learn's sake. Default: None.

        Examples
        --------
        >>> Chameleon(n_clusters=2).fit([[0.0], [0.1], [5.0], [5.1]]).labels_
        array([0, 0, 1, 1])
        """
        self._check_parameters()
        rows = checked_rows(validated_rows(self, X))
        load_metis()
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31 - 1)
        self.labels_ = self._labels(rows, int(seed))
        return self

    def _labels(self, rows: NDArray[np.float64], seed: int) -> NDArray[np.int64]:
        k, n = int(self.n_clusters), len(rows)
        points = distinct_points(rows)
        if k > len(points.positions):
            raise ParameterError(
                f"n_clusters={k} needs at least {k} distinct rows, found {len(points.positions)} (n_samples = {n})",
                hint="ask for fewer clusters",
            )
        if k == 1:
            return np.zeros(n, dtype=np.int64)
        graph = neighbour_graph(points, int(self.knn))
        # Few rows per cluster ask for smaller pieces: each cluster should start as several.
        limit = max(1.0, min(max(_LEAST_PIECE, self.piece_share * n), n / (4.0 * k)))
        smallest = n * min(self.min_share, 0.5 / k)

        def run(number: int) -> NDArray[np.int64]:
            own = (seed * _SEED_STRIDE + number) % _SEEDS
            pieces = small_pieces(graph, limit, k, own)
            merges = merge_pieces(graph, points.positions, pieces, down_to=k, alpha=self.alpha, seed=own)
            masses = np.bincount(pieces, weights=graph.masses).astype(np.int64)
            found = labels_at(pieces, merges, last_level(masses, merges, k, smallest))
            return absorb_small(graph, points.positions, found, k)[points.of_row]

        labels = agreed_labels(run, int(self.n_init))
        first = np.unique(labels, return_index=True)[1]
        rank = np.empty(k, dtype=np.int64)
        rank[np.argsort(first)] = np.arange(k)
        return rank[labels]
