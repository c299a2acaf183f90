"""The graph of nearest neighbours, with integer weights so that sums are exact in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.cluster.chameleon.points import Points

# Trees lose to brute force in many dimensions.
_TREE_COLUMNS = 15
# Distances that agree to this share count as equal: rounding must not choose among tied neighbours.
_TIE = 1e-9
# Units of a weight of median size.
_UNITS = 1_000_000
# Added to the similarity so that the weight of a long link stays above zero.
_FLOOR = 1e-4


class Graph(NamedTuple):
    """An undirected graph in compressed rows; every edge is stored in both directions, neighbours ascending."""

    starts: NDArray[np.int64]
    """Where the neighbours of each vertex begin, shape (v + 1,)."""
    neighbours: NDArray[np.int64]
    """Neighbours, shape (2 e,)."""
    weights: NDArray[np.int64]
    """Edge weights, shape (2 e,); a million is a typical one."""
    masses: NDArray[np.int64]
    """Vertex weights: rows at each point, shape (v,)."""

    @property
    def sources(self) -> NDArray[np.int64]:
        """The vertex that each stored edge leaves, shape (2 e,)."""
        return np.repeat(np.arange(len(self.masses)), np.diff(self.starts))


def nearest_neighbours(positions: NDArray[np.float64], count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the nearest other points of every point and their distances, both of shape (p, count).

    Parameters
    ----------
    positions : ndarray of shape (p, d)
        Distinct points, more than `count` of them.
    count : int
        Neighbours of each point.

    Returns
    -------
    neighbours, distances : ndarray of shape (p, count)
        By growing distance.

    Examples
    --------
    >>> nearest_neighbours(np.array([[0.0], [1.0], [3.0]]), 1)[0].ravel()
    array([1, 0, 1])
    """
    if positions.shape[1] <= _TREE_COLUMNS:
        distances, found = cKDTree(positions).query(positions, k=count + 1)
    else:
        search = NearestNeighbors(n_neighbors=count + 1, algorithm="brute").fit(positions)
        found = search.kneighbors(positions, return_distance=False)
        # Brute force finds neighbours by matrix products, too coarse for the distances of close points.
        distances = np.stack([np.sqrt(((positions - positions[f]) ** 2).sum(axis=1)) for f in found.T], axis=1)
    # The point itself is left out; where rounding hid it behind others, the farthest is left out instead.
    keep = found != np.arange(len(positions))[:, None]
    keep[keep.all(axis=1), -1] = False
    shape = (len(positions), count)
    return found[keep].reshape(shape).astype(np.int64), distances[keep].reshape(shape)


def neighbour_graph(points: Points, knn: int) -> Graph:
    """Link every point to its nearest neighbours, in either direction.

    All neighbours that tie with the last one are linked (up to twice as many), so that the graph of rounded
    data does not depend on the way a search tree is walked. Similarity is a Gaussian of the distance, its width
    the median neighbour distance, times the root of the product of both points' rows.

    Parameters
    ----------
    points : Points
        Distinct points with their weights.
    knn : int
        Neighbours of each point.

    Examples
    --------
    >>> from sfumato.cluster.chameleon.points import distinct_points
    >>> graph = neighbour_graph(distinct_points(np.array([[0.0], [1.0], [5.0]])), 1)
    >>> graph.starts, graph.neighbours
    (array([0, 1, 3, 4]), array([1, 0, 2, 1]))
    """
    size = len(points.positions)
    wanted = min(knn, size - 1)
    if wanted < 1:
        none = np.zeros(0, dtype=np.int64)
        return Graph(np.zeros(size + 1, dtype=np.int64), none, none, points.weights)
    found, distances = nearest_neighbours(points.positions, min(2 * knn, size - 1))
    width = float(np.median(distances[:, :wanted]))
    tied = distances <= distances[:, wanted - 1 : wanted] * (1.0 + _TIE)
    sources = np.broadcast_to(np.arange(size)[:, None], found.shape)[tied]
    targets = found[tied]
    low, high = np.minimum(sources, targets), np.maximum(sources, targets)
    edges, first = np.unique(low * size + high, return_index=True)
    low, high = edges // size, edges % size
    ratio = distances[tied][first] / width
    masses = points.weights.astype(np.float64)
    similarity = (np.exp(-ratio * ratio / 2.0) + _FLOOR) * np.sqrt(masses[low] * masses[high])
    weights = np.maximum(np.rint(similarity * (_UNITS / np.median(similarity))), 1.0).astype(np.int64)
    both = coo_array(
        (np.concatenate([weights, weights]), (np.concatenate([low, high]), np.concatenate([high, low]))),
        shape=(size, size),
    )
    rows = csr_array(both)
    rows.sort_indices()
    return Graph(
        rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data.astype(np.int64), points.weights
    )


def subgraph(graph: Graph, members: NDArray[np.int64]) -> Graph:
    """Return the graph among some vertices, renumbered in the order given.

    Parameters
    ----------
    graph : Graph
        The whole graph.
    members : ndarray of shape (s,)
        Vertices to keep, ascending.

    Examples
    --------
    >>> line = Graph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]), np.array([7, 7, 9, 9]), np.ones(3, dtype=int))
    >>> subgraph(line, np.array([1, 2])).weights
    array([9, 9])
    """
    local = np.full(len(graph.masses), -1, dtype=np.int64)
    local[members] = np.arange(len(members))
    counts = graph.starts[members + 1] - graph.starts[members]
    ends = np.cumsum(counts)
    # Positions of the members' edges in the whole graph, without touching the other rows.
    where = np.arange(int(ends[-1])) + np.repeat(graph.starts[members] - (ends - counts), counts)
    targets = local[graph.neighbours[where]]
    inside = targets >= 0
    kept = np.bincount(np.repeat(np.arange(len(members)), counts)[inside], minlength=len(members))
    starts = np.concatenate([[0], np.cumsum(kept)])
    return Graph(starts, targets[inside], graph.weights[where][inside], graph.masses[members])
