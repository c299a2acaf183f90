"""Exact smallest and largest distances in a table without a matrix of all distances.

Bounds that cost one pass (a ball around the mean, a box around a cluster) leave few pairs to measure.
In the worst case all pairs are measured, block by block: time grows as n squared, memory does not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from sfumato.metrics.nearest import tree_of

# Cells of one block of distances: 4 MB.
BLOCK_CELLS = 1 << 19
# Bounds are sums of rounded numbers; pairs this close to a bound are measured.
SLACK = 1e-12
SWEEPS = 4
SEED_ROWS = 64
QUERY_ROWS = 1024


def largest_distance(points: NDArray[np.float64]) -> float:
    """Return the diameter of a set of points: the largest Euclidean distance of two of them.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        At least one point.

    Returns
    -------
    float
        0 for a single point.

    Examples
    --------
    >>> largest_distance(np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 4.0]]))
    5.0
    """
    centred = points - points.mean(axis=0)
    radius = np.sqrt(np.sum(np.square(centred), axis=1))
    order = np.argsort(-radius, kind="stable")
    centred, radius = centred[order], radius[order]
    best = _diameter_from_sweeps(centred)
    start = 0
    # Two points are never farther apart than the sum of their distances from the mean.
    while start < radius.size and 2 * radius[start] * (1 + SLACK) > best:
        reach = best * (1 - SLACK) - radius[start]
        stop = int(np.searchsorted(-radius, -reach, side="left"))
        if stop <= start:
            break
        height = max(1, BLOCK_CELLS // (stop - start))
        block = cdist(centred[start : start + height], centred[start:stop])
        best = max(best, float(block.max()))
        start += height
    return best


def _diameter_from_sweeps(points: NDArray[np.float64]) -> float:
    # From a point to its farthest, and on: a lower bound that is close to the diameter.
    best, position = 0.0, 0
    for _ in range(SWEEPS):
        distances = cdist(points[position : position + 1], points)[0]
        position = int(distances.argmax())
        if distances[position] <= best:
            break
        best = float(distances[position])
    return best


def smallest_distance_between_groups(points: NDArray[np.float64], codes: NDArray[np.intp]) -> float:
    """Return the smallest Euclidean distance of two points that belong to different groups.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The points.
    codes : ndarray of shape (n,)
        Group of each point, 0..k-1 with at least two groups, none empty.

    Returns
    -------
    float
        0 when a point occurs in two groups.

    Examples
    --------
    >>> smallest_distance_between_groups(np.array([[0.0], [1.0], [5.0], [9.0]]), np.array([0, 0, 1, 1]))
    4.0
    """
    # Groups from large to small, each a run of rows: the tree is built on the larger side of every pair.
    sizes = np.bincount(codes)
    rank = np.empty(sizes.size, dtype=np.intp)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
    order = np.argsort(rank[codes], kind="stable")
    rows, group = points[order], rank[codes][order]
    starts = np.searchsorted(group, np.arange(sizes.size))
    low, high = np.minimum.reduceat(rows, starts, axis=0), np.maximum.reduceat(rows, starts, axis=0)
    best = _separation_from_sample(rows, group)
    for own in range(sizes.size - 1):
        if best == 0:
            break
        # Boxes first, then rows against the box: most of the table is too far away to matter.
        gap = np.maximum(0.0, np.maximum(low[own] - high[own + 1 :], low[own + 1 :] - high[own]))
        near_groups = own + 1 + np.flatnonzero(np.sqrt(np.sum(gap * gap, axis=1)) < best * (1 + SLACK))
        if near_groups.size == 0:
            continue
        others = rows[starts[own + 1] :][np.isin(group[starts[own + 1] :], near_groups)]
        best = _nearest_to_group(rows[starts[own] : starts[own + 1]], others, low[own], high[own], best)
    return best


def _separation_from_sample(rows: NDArray[np.float64], group: NDArray[np.intp]) -> float:
    best = np.inf
    sample = np.unique(np.linspace(0, group.size - 1, SEED_ROWS).astype(np.intp))
    for position in sample:
        distances = cdist(rows[position : position + 1], rows)[0]
        best = min(best, float(distances[group != group[position]].min()))
    return best


def _nearest_to_group(
    members: NDArray[np.float64],
    others: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    best: float,
) -> float:
    outside = others - np.clip(others, low, high)
    to_box = np.sqrt(np.sum(outside * outside, axis=1))
    order = np.argsort(to_box, kind="stable")
    others, to_box = others[order], to_box[order]
    count = int(np.searchsorted(to_box, best * (1 + SLACK)))
    if members.shape[0] * count <= BLOCK_CELLS:
        return min(best, float(cdist(others[:count], members).min())) if count else best
    tree = tree_of(members)
    for start in range(0, count, QUERY_ROWS):
        # The bound shrinks as we go, and ends the search once the boxes are farther away than it.
        if to_box[start] > best * (1 + SLACK):
            break
        distances = tree.query(others[start : start + QUERY_ROWS], distance_upper_bound=best)[0]
        best = min(best, float(distances.min()))
    return best
