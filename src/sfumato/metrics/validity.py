"""Internal validity of a clustering: how compact the clusters are and how far apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from sfumato.metrics._inputs import as_codes_for, as_table
from sfumato.metrics.extremes import largest_distance, smallest_distance_between_groups

if TYPE_CHECKING:
    from collections.abc import Iterator

# Centroids closer than this share of the table's radius differ by rounding only.
COINCIDENCE = 1e-12
BLOCK_CELLS = 1 << 19


def dunn_index(table: Any, labels: Any) -> float:
    """Return Dunn's index: the smallest distance between two clusters over the largest diameter of one.

    Distances between clusters are those of their closest rows, diameters those of their farthest rows.
    It depends on units: pass the min-max normalised original, as the chaotic-distortion paper does.
    Exact, with memory proportional to the table. When all clusters are single points (repeated or
    not) the index is infinite; when two clusters share a point it is 0.

    Parameters
    ----------
    table : array_like or dataframe of shape (n, d)
        The clustered rows.
    labels : array_like of shape (n,)
        Cluster of each row; at least two clusters.

    Returns
    -------
    float
        A ratio in [0, inf]; above 1 no cluster is wider than the gaps.

    Examples
    --------
    The gap is 4, the wider cluster measures 2:

    >>> dunn_index([[0], [1], [5], [7]], ["a", "a", "b", "b"])
    2.0
    """
    points = as_table(table, "table")
    codes, n_clusters = as_codes_for(points, labels)
    separation = smallest_distance_between_groups(points, codes)
    if separation == 0:
        return 0.0
    order = np.argsort(codes, kind="stable")
    runs = np.split(points[order], np.cumsum(np.bincount(codes, minlength=n_clusters))[:-1])
    # Equal rows may differ from their mean by rounding: their diameter is 0 all the same.
    diameter = max(largest_distance(run) if np.ptp(run, axis=0).any() else 0.0 for run in runs)
    return separation / diameter if diameter > 0 else math.inf


def davies_bouldin_index(table: Any, labels: Any) -> float:
    """Return the Davies-Bouldin index: how much the most similar clusters overlap, on average.

    The similarity of two clusters is the sum of their mean distances to their centroids over the
    distance of the centroids; each cluster counts with its most similar other. Pairs with coincident
    centroids are skipped (`coincident_centroids` counts them); when all coincide nothing is
    separated and the index is infinite.

    Parameters
    ----------
    table : array_like or dataframe of shape (n, d)
        The clustered rows.
    labels : array_like of shape (n,)
        Cluster of each row; at least two clusters.

    Returns
    -------
    float
        A ratio in [0, inf]; smaller is better separated.

    Examples
    --------
    Mean distances 1 and 2 from the centroids, which are 6 apart:

    >>> davies_bouldin_index([[0], [2], [5], [9]], [0, 0, 1, 1])
    0.5
    """
    # scikit-learn's score is 0 (the best) when all centroids coincide or units are tiny, and takes a
    # rounding difference of two centroids for a distance; otherwise the two agree, see the tests.
    points = as_table(table, "table")
    codes, n_clusters = as_codes_for(points, labels)
    centres, tolerance = _centroids(points, codes, n_clusters)
    members = points - points.mean(axis=0) - centres[codes]
    to_own = np.sqrt(np.sum(np.square(members), axis=1))
    scatter = np.bincount(codes, weights=to_own, minlength=n_clusters) / np.bincount(codes, minlength=n_clusters)
    total, any_apart = 0.0, False
    for rows, apart in _blocks_of_distances(centres):
        usable = apart > tolerance
        similarity = np.where(usable, (scatter[rows, None] + scatter) / np.where(usable, apart, 1.0), 0.0)
        total += float(similarity.max(axis=1).sum())
        any_apart = any_apart or bool(usable.any())
    return total / n_clusters if any_apart else math.inf


def coincident_centroids(table: Any, labels: Any) -> int:
    """Return how many pairs of clusters have the same centroid, which Davies-Bouldin has to skip.

    Parameters
    ----------
    table : array_like or dataframe of shape (n, d)
        The clustered rows.
    labels : array_like of shape (n,)
        Cluster of each row; at least two clusters.

    Returns
    -------
    int
        Pairs whose centroids differ by no more than rounding.

    Examples
    --------
    Two rings around the same point:

    >>> coincident_centroids([[-1], [1], [-5], [5]], [0, 0, 1, 1])
    1
    """
    points = as_table(table, "table")
    codes, n_clusters = as_codes_for(points, labels)
    centres, tolerance = _centroids(points, codes, n_clusters)
    close = sum(int(np.count_nonzero(apart <= tolerance)) for _, apart in _blocks_of_distances(centres))
    return (close - n_clusters) // 2


def _centroids(
    points: NDArray[np.float64], codes: NDArray[np.intp], n_clusters: int
) -> tuple[NDArray[np.float64], float]:
    # Around the mean of the table, so that a large offset does not cost the digits that separate centroids.
    centred = points - points.mean(axis=0)
    sizes = np.bincount(codes, minlength=n_clusters)
    sums = [np.bincount(codes, weights=column, minlength=n_clusters) for column in centred.T]
    radius = float(np.sqrt(np.sum(np.square(centred), axis=1)).max())
    return np.column_stack(sums) / sizes[:, None], COINCIDENCE * radius


def _blocks_of_distances(centres: NDArray[np.float64]) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    # Thousands of small groups are clusters too: their k x k distances are never held at once.
    height = max(1, BLOCK_CELLS // centres.shape[0])
    for start in range(0, centres.shape[0], height):
        rows = slice(start, start + height)
        yield rows, cdist(centres[rows], centres)
