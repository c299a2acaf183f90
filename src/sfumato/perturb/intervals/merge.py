"""Merging neighbouring intervals into clusters: phase 1 of 1-d clustering.

Lengths are in interval widths, counted from the column's minimum, so that counts and sums stay integers and
the outcome does not depend on how the table was read.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.secret import Hidden


@dataclass(frozen=True, repr=False)
class Clusters(Hidden):
    """Neighbouring clusters on a line, from left to right.

    Attributes
    ----------
    first, last : arrays of shape (m,)
        First and last interval of each cluster.
    counts : array of shape (m,)
        Values in each.
    whole, parts : arrays of shape (m,)
        Sums of the values' intervals, and of their places inside in units of 2^-30.
    """

    first: Integers
    last: Integers
    counts: Integers
    whole: Integers
    parts: Integers

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def means(self) -> Floats:
        """Mean of each cluster."""
        return self.whole / self.counts + self.parts / 2.0**30 / self.counts

    def distances(self) -> Floats:
        """Ward's distance of each cluster to its right neighbour."""
        counts = self.counts.astype(np.float64)
        means = self.means
        gap = means[1:] - means[:-1]
        return counts[:-1] * counts[1:] / (counts[:-1] + counts[1:]) * (gap * gap)

    def joined(self, with_next: Flags) -> Clusters:
        """Return the clusters with every marked pair of neighbours merged; runs of marks chain."""
        apart = np.flatnonzero(~with_next)
        starts, ends = np.zeros(len(apart) + 1, dtype=np.int64), np.empty(len(apart) + 1, dtype=np.int64)
        starts[1:] = apart + 1
        ends[:-1], ends[-1] = apart, len(self) - 1
        return Clusters(
            self.first[starts],
            self.last[ends],
            np.add.reduceat(self.counts, starts),
            np.add.reduceat(self.whole, starts),
            np.add.reduceat(self.parts, starts),
        )


def occupied_intervals(counts: Integers, place_sums: Integers) -> Clusters:
    """Return the first clusters: the intervals that hold a value.

    Parameters
    ----------
    counts, place_sums : arrays of shape (intervals,)
    """
    index = np.flatnonzero(counts).astype(np.int64)
    return Clusters(index, index, counts[index], index * counts[index], place_sums[index])


def merge_intervals(clusters: Clusters, n_clusters: int, final_merge: str) -> Clusters:
    """Merge neighbours down to a number of clusters.

    Rounds merge every pair whose distance is below the median, until fewer than twice the wanted number are
    left; then the closest pairs merge one by one. A round that merges nothing (equal distances) goes on to that
    last step, so the loop always ends.

    Parameters
    ----------
    final_merge : "greedy" or "static"
        Whether the last step updates distances or sorts them once.

    Examples
    --------
    >>> even = occupied_intervals(np.array([1, 1, 1, 1]), np.array([0, 0, 0, 0]))
    >>> len(merge_intervals(even, 2, "greedy"))
    2
    """
    while len(clusters) >= 2 * n_clusters and len(clusters) > 1:
        distances = clusters.distances()
        close = distances < _median(distances)
        if not close.any():
            break
        clusters = clusters.joined(close)
    if len(clusters) <= n_clusters:
        return clusters
    return _merge_greedily(clusters, n_clusters) if final_merge == "greedy" else _merge_sorted(clusters, n_clusters)


def _median(values: Floats) -> float:
    # np.median, without its checks, which cost more than the work on columns of few clusters
    middle = len(values) // 2
    if len(values) % 2:
        return float(np.partition(values, middle)[middle])
    low, high = np.partition(values, (middle - 1, middle))[middle - 1 : middle + 1]
    return float((low + high) / 2.0)


def _merge_sorted(clusters: Clusters, n_clusters: int) -> Clusters:
    order = np.argsort(clusters.distances(), kind="stable")
    close = np.zeros(len(clusters) - 1, dtype=np.bool_)
    close[order[: len(clusters) - n_clusters]] = True
    return clusters.joined(close)


def _merge_greedily(clusters: Clusters, n_clusters: int) -> Clusters:
    size = len(clusters)
    counts = clusters.counts.tolist()
    whole, parts = clusters.whole.tolist(), clusters.parts.tolist()
    right = list(range(1, size + 1))
    left = list(range(-1, size - 1))
    version = [0] * size

    def distance(a: int, b: int) -> float:
        gap = (whole[a] / counts[a] + parts[a] / 2.0**30 / counts[a]) - (
            whole[b] / counts[b] + parts[b] / 2.0**30 / counts[b]
        )
        return float(counts[a] * counts[b] / (counts[a] + counts[b]) * (gap * gap))

    heap = [(distance(a, a + 1), a, a + 1, 0, 0) for a in range(size - 1)]
    heapify(heap)
    joined = np.zeros(size - 1, dtype=np.bool_)
    left_over = size
    while left_over > n_clusters:
        _, a, b, version_a, version_b = heappop(heap)
        if (version_a, version_b) != (version[a], version[b]):
            continue  # an older distance of a cluster that has grown since
        joined[b - 1] = True
        counts[a] += counts[b]
        whole[a] += whole[b]
        parts[a] += parts[b]
        version[a] += 1
        version[b] = -1
        right[a] = right[b]
        if right[a] < size:
            left[right[a]] = a
            heappush(heap, (distance(a, right[a]), a, right[a], version[a], version[right[a]]))
        if left[a] >= 0:
            heappush(heap, (distance(left[a], a), left[a], a, version[left[a]], version[a]))
        left_over -= 1
    return clusters.joined(joined)
