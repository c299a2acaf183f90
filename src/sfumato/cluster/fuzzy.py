"""Fuzzy c-means as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sfumato.cluster.fuzzy_iteration import fuzzy_centres, fuzzy_memberships
from sfumato.cluster.nearest import nearest_centre
from sfumato.cluster.validated import validated_rows

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, NDArray


class FuzzyCMeans(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Fuzzy c-means: every row belongs to every cluster, to a degree.

    Deterministic, and with `fuzziness=2` the same bits on every machine: no BLAS, no library functions beyond
    the square root, sums in a fixed order. Rows are worked in blocks, memory beyond the input stays small.

    Parameters
    ----------
    n_clusters : int
        Number of clusters. Default: 2.
    fuzziness : float
        The exponent m > 1; other values than 2 use `numpy.power`, whose last bits may vary between machines.
        Default: 2.0.
    max_iter : int
        Most rounds to make. Default: 300.
    tol : float
        Stop when no coordinate of a centre moved by more than `tol` times the root mean variance of the columns.
        Default: 1e-06.
    init : array-like of shape (n_clusters, d), 'random' or None
        Starting centres. None halves the widest part of the data at its mean until there are enough parts;
        'random' draws rows.
    random_state : int, RandomState or None
        Used with `init='random'` only.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Centres.
    labels_ : ndarray of shape (n,)
        The cluster that each row belongs to most. Ties go to the lowest index.
    n_iter_ : int
        Rounds made.
    n_features_in_ : int
        Number of columns seen in `fit`.

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0]]
    >>> model = FuzzyCMeans(n_clusters=2).fit(X)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.memberships([[0.0, 0.5], [4.5, 4.5]]).round(2)
    array([[1. , 0. ],
           [0.5, 0.5]])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        fuzziness: float = 2.0,
        max_iter: int = 300,
        tol: float = 1e-6,
        init: ArrayLike | str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.fuzziness = fuzziness
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002  # scikit-learn's signature
        """Find the centres.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows.
        y : ignored
            Present for scikit-learn's sake. Default: None.

        Examples
        --------
        >>> FuzzyCMeans(n_clusters=1).fit([[1.0], [3.0]]).cluster_centers_
        array([[2.]])
        """
        rows = validated_rows(self, X)
        found = fuzzy_centres(
            rows,
            self.n_clusters,
            fuzziness=self.fuzziness,
            max_iter=self.max_iter,
            tol=self.tol,
            init=self.init,
            random_state=check_random_state(self.random_state),
        )
        if not found.converged:
            warnings.warn(
                f"the centres still moved after max_iter={self.max_iter} rounds; raise max_iter or tol={self.tol:g}",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.cluster_centers_ = found.centres
        self.n_iter_ = found.n_iter
        self.labels_ = nearest_centre(rows, found.centres)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the cluster that each row belongs to most.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n,)

        Examples
        --------
        >>> FuzzyCMeans(n_clusters=2).fit([[0.0], [1.0], [8.0], [9.0]]).predict([[2.0], [7.0]])
        array([0, 1])
        """
        check_is_fitted(self)
        rows = validated_rows(self, X, reset=False)
        return nearest_centre(rows, self.cluster_centers_)

    def memberships(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return how much each row belongs to each cluster.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, n_clusters)
            Each row adds up to one.

        Examples
        --------
        >>> FuzzyCMeans(n_clusters=2).fit([[0.0], [0.0], [9.0]]).memberships([[0.0]])
        array([[1., 0.]])
        """
        check_is_fitted(self)
        rows = validated_rows(self, X, reset=False)
        return fuzzy_memberships(rows, self.cluster_centers_, fuzziness=self.fuzziness)
