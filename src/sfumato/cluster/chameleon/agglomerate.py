"""Merging clusters by relative interconnectivity and relative closeness."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sfumato.cluster.chameleon.graph import subgraph
from sfumato.cluster.chameleon.metis import cut_graph
from sfumato.cluster.chameleon.separation import nearest_cluster

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.cluster.chameleon.graph import Graph

_IMBALANCE = 0.25
_TRIES = 2


class Cut(NamedTuple):
    """Edges between two sets of vertices."""

    weight: int
    """Sum of their weights."""
    edges: int
    """How many there are."""

    @property
    def mean(self) -> float:
        """Mean weight of an edge, 0 when there is none."""
        return self.weight / self.edges if self.edges else 0.0


class Merge(NamedTuple):
    """Two clusters became one; pieces are 0 .. p-1, the t-th merge makes cluster p + t."""

    first: int
    second: int


def internal_cut(graph: Graph, members: NDArray[np.int64], seed: int) -> Cut:
    """Return the edges that a balanced bisection of a cluster cuts: how well the cluster holds together.

    Parameters
    ----------
    graph : Graph
        The whole graph.
    members : ndarray of shape (s,)
        Vertices of the cluster, ascending.
    seed : int
        Seed of METIS.

    Examples
    --------
    >>> from sfumato.cluster.chameleon.graph import Graph
    >>> pair = Graph(np.array([0, 1, 2]), np.array([1, 0]), np.array([8, 8]), np.ones(2, dtype=int))
    >>> internal_cut(pair, np.array([0, 1]), seed=0)
    Cut(weight=8, edges=1)
    """
    if len(members) < 2:
        return Cut(0, 0)
    inner = subgraph(graph, members)
    if len(inner.neighbours) == 0:
        return Cut(0, 0)
    half = np.arange(2) if len(members) == 2 else cut_graph(inner, 2, imbalance=_IMBALANCE, tries=_TRIES, seed=seed)
    # Each edge is stored twice; the copy that leaves half 0 counts.
    crossing = (half[inner.sources] == 0) & (half[inner.neighbours] == 1)
    return Cut(int(inner.weights[crossing].sum()), int(crossing.sum()))


def cross_cuts(graph: Graph, labels: NDArray[np.int64]) -> dict[tuple[int, int], Cut]:
    """Return the edges between every two clusters that share any.

    Parameters
    ----------
    graph : Graph
        The graph.
    labels : ndarray of shape (v,)
        A cluster for every vertex, numbered from 0.

    Returns
    -------
    dict
        (lower label, higher label) to `Cut`.

    Examples
    --------
    >>> from sfumato.cluster.chameleon.graph import Graph
    >>> line = Graph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]), np.array([7, 7, 9, 9]), np.ones(3, dtype=int))
    >>> cross_cuts(line, np.array([0, 1, 1]))
    {(0, 1): Cut(weight=7, edges=1)}
    """
    first, second = labels[graph.sources], labels[graph.neighbours]
    crossing = first < second
    size = int(labels.max()) + 1
    pairs, where = np.unique(first[crossing] * size + second[crossing], return_inverse=True)
    weights = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(weights, where.reshape(-1), graph.weights[crossing])
    counts = np.bincount(where.reshape(-1), minlength=len(pairs))
    return {
        (int(pair) // size, int(pair) % size): Cut(int(weight), int(count))
        for pair, weight, count in zip(pairs, weights, counts, strict=True)
    }


def merge_score(cross: Cut, inner: tuple[Cut, Cut], masses: tuple[int, int], alpha: float) -> float:
    """Return relative interconnectivity times relative closeness to the power alpha.

    Relative interconnectivity is the weight between both clusters over the mean of their internal cuts;
    relative closeness is the mean edge between them over the mean edges of their internal cuts, weighted by size.

    Parameters
    ----------
    cross : Cut
        Edges between the clusters.
    inner : pair of Cut
        Their internal cuts.
    masses : pair of int
        Their rows.
    alpha : float
        Above 1 closeness counts more, below 1 interconnectivity.

    Returns
    -------
    float
        Infinite when both are single points, which have no inside.

    Examples
    --------
    >>> merge_score(Cut(8, 4), (Cut(12, 2), Cut(4, 2)), (10, 10), 2.0)
    0.25
    """
    cohesion = (inner[0].weight + inner[1].weight) / 2.0
    typical = (masses[0] * inner[0].mean + masses[1] * inner[1].mean) / (masses[0] + masses[1])
    if cohesion == 0.0 or typical == 0.0:
        return math.inf
    closeness: float = (cross.mean / typical) ** alpha
    return cross.weight / cohesion * closeness


def merge_pieces(
    graph: Graph, positions: NDArray[np.float64], pieces: NDArray[np.int64], *, down_to: int, alpha: float, seed: int
) -> list[Merge]:
    """Merge the best pair again and again until `down_to` clusters are left.

    When no two clusters share an edge, the smallest joins the nearest.

    Parameters
    ----------
    graph : Graph
        The graph.
    positions : ndarray of shape (v, d)
        Its points.
    pieces : ndarray of shape (v,)
        First clusters, numbered from 0.
    down_to : int
        Clusters to leave.
    alpha : float
        See `merge_score`.
    seed : int
        Seed of METIS.

    Examples
    --------
    >>> from sfumato.cluster.chameleon.graph import Graph
    >>> line = Graph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]), np.array([7, 7, 9, 9]), np.ones(3, dtype=int))
    >>> merge_pieces(line, np.array([[0.0], [2.0], [3.0]]), np.arange(3), down_to=2, alpha=2.0, seed=0)
    [Merge(first=0, second=1)]
    """
    count = int(pieces.max()) + 1
    order = np.argsort(pieces, kind="stable")
    split = np.split(order, np.cumsum(np.bincount(pieces))[:-1])
    members: dict[int, NDArray[np.int64]] = dict(enumerate(split))
    masses = {index: int(graph.masses[rows].sum()) for index, rows in members.items()}
    inner = {index: internal_cut(graph, rows, seed) for index, rows in members.items()}
    cross: dict[int, dict[int, Cut]] = {index: {} for index in members}
    heap: list[tuple[float, int, int]] = []

    def offer(first: int, second: int, cut: Cut) -> None:
        score = merge_score(cut, (inner[first], inner[second]), (masses[first], masses[second]), alpha)
        heapq.heappush(heap, (-score, first, second))

    for (first, second), cut in cross_cuts(graph, pieces).items():
        cross[first][second] = cross[second][first] = cut
        offer(first, second, cut)
    merges: list[Merge] = []
    while len(members) > down_to:
        while heap and not (heap[0][1] in members and heap[0][2] in members):
            heapq.heappop(heap)
        if heap:
            _, first, second = heapq.heappop(heap)
        else:
            first = min(members, key=lambda index: (masses[index], index))
            second = nearest_cluster(positions, members, first)
        made = count + len(merges)
        merges.append(Merge(first, second))
        members[made] = np.sort(np.concatenate([members.pop(first), members.pop(second)]))
        masses[made] = masses[first] + masses[second]
        joined: dict[int, Cut] = {}
        for old in (first, second):
            for other, cut in cross.pop(old).items():
                if other not in (first, second):
                    known = joined.get(other, Cut(0, 0))
                    joined[other] = Cut(known.weight + cut.weight, known.edges + cut.edges)
        cross[made] = joined
        # The inside of a cluster without neighbours is never asked for.
        inner[made] = internal_cut(graph, members[made], seed) if joined else Cut(0, 0)
        for other, cut in joined.items():
            for old in (first, second):
                cross[other].pop(old, None)
            cross[other][made] = cut
            offer(other, made, cut)
    return merges
