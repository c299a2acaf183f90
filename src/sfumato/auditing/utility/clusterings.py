"""The clusterings that a utility audit compares: k-means from given and from free starts, Ward's tree, Chameleon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans

from sfumato._arrays import Floats, Integers
from sfumato.cluster import Chameleon
from sfumato.cluster.weighted_kmeans import weighted_kmeans

Labels = Integers

# Enough for Lloyd to settle on tables without any structure (about 300 rounds on 15,000 normal rows, k = 8).
MOST_ROUNDS = 1000
# In sklearn's unit: squared shift of the centres over the mean variance of the columns.
FREE_TOLERANCE = 1e-7


@dataclass(frozen=True)
class Effort:
    """How hard k-means is tried; for previews.

    Attributes
    ----------
    named_starts : int
        Starts of the named clustering.
    free_starts : int
        Starts of every free run, on the release and on the original alike.
    start_rounds : int
        Rounds of Lloyd for each start, before the best is continued to the end.
    start_rows : int
        Rows on which the starts are tried; the best is continued on all measured rows.
    named_rounds, shared_rounds, free_rounds : int
        Most rounds on all measured rows.
    repetitions : int
        Free runs with different seeds.
    """

    named_starts: int
    free_starts: int
    start_rounds: int
    start_rows: int
    named_rounds: int
    shared_rounds: int
    free_rounds: int
    repetitions: int


@dataclass(frozen=True)
class Found:
    """A k-means clustering.

    Attributes
    ----------
    labels : array of shape (n,)
    centres : array of shape (k, d)
    """

    labels: Labels
    centres: Floats


def kmeans_from(points: Floats, centres: Floats, *, rounds: int = MOST_ROUNDS, tolerance: float = 0.0) -> Found:
    """Run Lloyd's k-means from given centres.

    Parameters
    ----------
    points : array of shape (n, d)
    centres : array of shape (k, d)
    rounds : int
        Most rounds.
    tolerance : float
        0 ends when no label changes.

    Examples
    --------
    >>> kmeans_from(np.array([[0.0], [1.0], [9.0], [10.0]]), np.array([[0.0], [1.0]])).centres.ravel().tolist()
    [0.5, 9.5]
    """
    middle = np.asarray(points.mean(axis=0))
    columns = np.ascontiguousarray((points - middle).T)
    limit = tolerance * float(columns.var(axis=1).mean())
    run = weighted_kmeans(columns, np.ones(len(points)), centres - middle, rounds=rounds, tolerance=limit)
    return Found(run.labels, run.centres + middle)


def named_kmeans(points: Floats, k: int, effort: Effort, seed: int) -> Found:
    """Return the best of many k-means++ starts, continued until no label changes.

    Parameters
    ----------
    points : array of shape (n, d)
        In an order drawn at random: starts are tried on the first rows.
    """
    return kmeans_from(points, _best_start(points, k, effort, effort.named_starts, seed), rounds=effort.named_rounds)


def free_kmeans(points: Floats, k: int, effort: Effort, seed: int) -> Found:
    """Run k-means the way a miner does: the best of several k-means++ starts.

    Parameters
    ----------
    points, k, effort, seed
        See `named_kmeans`.
    """
    start = _best_start(points, k, effort, effort.free_starts, seed)
    return kmeans_from(points, start, rounds=effort.free_rounds, tolerance=FREE_TOLERANCE)


def _best_start(points: Floats, k: int, effort: Effort, starts: int, seed: int) -> Floats:
    few = points[: effort.start_rows]
    tried = KMeans(k, n_init=starts, max_iter=effort.start_rounds, random_state=seed).fit(few)
    centres: Floats = tried.cluster_centers_
    if effort.free_rounds == MOST_ROUNDS:
        return centres
    # rounds on all rows are rare then: they begin where those on few rows ended
    return kmeans_from(few, centres, tolerance=FREE_TOLERANCE).centres


def ward_labels(points: Floats, clusters: Sequence[int]) -> dict[int, Labels]:
    """Cut one Ward tree at every number of clusters.

    Parameters
    ----------
    points : array of shape (n, d)
    clusters : sequence of int
        From 1 to n each; n is at least 2.

    Returns
    -------
    dict
        Number of clusters -> labels of shape (n,).

    Examples
    --------
    >>> ward_labels(np.array([[0.0], [1.0], [5.0], [5.5]]), [2, 3])
    {2: array([0, 0, 1, 1]), 3: array([0, 1, 2, 2])}
    """
    # distances, not rows: linkage takes a square symmetric table of rows for a distance matrix and warns
    merges = linkage(pdist(points), method="ward")[:, :2].astype(np.int64)
    return {k: _cut(merges, len(points), k) for k in clusters}


def _cut(merges: Integers, n_rows: int, k: int) -> Labels:
    # not fcluster: with merges at equal heights it returns fewer clusters than asked for
    top = np.arange(2 * n_rows - 1)
    for index in range(n_rows - k - 1, -1, -1):
        top[merges[index]] = top[n_rows + index]
    _, first, labels = np.unique(top[:n_rows], return_index=True, return_inverse=True)
    # numbered by their first rows
    return np.argsort(np.argsort(first))[labels].astype(np.int64)


def chameleon_labels(points: Floats, k: int, seed: int) -> Labels:
    """Return Chameleon's labels, shape (n,); `MissingComponentError` without METIS.

    Parameters
    ----------
    points : array of shape (n, d)
    """
    return np.asarray(Chameleon(k, random_state=seed).fit_predict(points), dtype=np.int64)
