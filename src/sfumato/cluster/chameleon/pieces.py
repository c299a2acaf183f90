"""Many small connected clusters: what the agglomeration starts from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from sfumato.cluster.chameleon.graph import subgraph
from sfumato.cluster.chameleon.metis import cut_graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.cluster.chameleon.graph import Graph

_IMBALANCE = 0.25
_TRIES = 4
# Pieces under this share of the size limit are glued to a neighbour.
_CRUMB = 0.1


def connected_pieces(graph: Graph, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Split clusters that do not hang together, and number the pieces by their first vertex.

    Parameters
    ----------
    graph : Graph
        The graph.
    labels : ndarray of shape (v,)
        A cluster for every vertex.

    Returns
    -------
    ndarray of shape (v,)

    Examples
    --------
    >>> from sfumato.cluster.chameleon.graph import Graph
    >>> line = Graph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]), np.array([7, 7, 9, 9]), np.ones(3, dtype=int))
    >>> connected_pieces(line, np.array([0, 1, 0]))
    array([0, 1, 2])
    """
    sources = graph.sources
    inside = labels[sources] == labels[graph.neighbours]
    size = len(graph.masses)
    links = csr_array((np.ones(int(inside.sum())), (sources[inside], graph.neighbours[inside])), shape=(size, size))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.int64)


def glue_crumbs(graph: Graph, labels: NDArray[np.int64], smallest: float, keep: int) -> NDArray[np.int64]:
    """Join pieces lighter than `smallest` to the neighbour that they share most edge weight with.

    Parameters
    ----------
    graph : Graph
        The graph.
    labels : ndarray of shape (v,)
        Pieces, numbered from 0.
    smallest : float
        Lighter pieces are glued, the lightest first; those without a neighbour stay.
    keep : int
        Leave at least so many pieces.

    Returns
    -------
    ndarray of shape (v,)
        Pieces, numbered from 0.

    Examples
    --------
    >>> from sfumato.cluster.chameleon.graph import Graph
    >>> line = Graph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]), np.array([7, 7, 9, 9]), np.array([5, 1, 5]))
    >>> glue_crumbs(line, np.array([0, 1, 2]), 2, 1)
    array([0, 1, 1])
    """
    masses = np.bincount(labels, weights=graph.masses)
    sources = graph.sources
    glued = labels.copy()
    left = len(masses)
    for piece in np.argsort(masses, kind="stable"):
        if left <= keep:
            break
        own = glued == glued[np.argmax(labels == piece)]
        if graph.masses[own].sum() >= smallest:
            continue
        crossing = own[sources] & ~own[graph.neighbours]
        if not crossing.any():
            continue
        shared = np.bincount(glued[graph.neighbours[crossing]], weights=graph.weights[crossing])
        glued[own] = int(np.argmax(shared))
        left -= 1
    return np.unique(glued, return_inverse=True)[1].reshape(-1).astype(np.int64)


def small_pieces(graph: Graph, limit: float, least: int, seed: int) -> NDArray[np.int64]:
    """Cut every component of the graph into connected pieces of about `limit` rows.

    Parameters
    ----------
    graph : Graph
        The graph.
    limit : float
        Rows aimed at in a piece.
    least : int
        Fewest pieces to return, at most the number of vertices.
    seed : int
        Seed of METIS.

    Returns
    -------
    ndarray of shape (v,)
        Pieces, numbered from 0.

    Examples
    --------
    >>> from sfumato.cluster.chameleon.graph import Graph
    >>> line = Graph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]), np.array([7, 7, 9, 9]), np.ones(3, dtype=int))
    >>> small_pieces(line, 10, 1, 0)
    array([0, 0, 0])
    """
    size = len(graph.masses)
    components = connected_pieces(graph, np.zeros(size, dtype=np.int64))
    labels = np.zeros(size, dtype=np.int64)
    used = 0
    order = np.argsort(components, kind="stable")
    for members in np.split(order, np.cumsum(np.bincount(components))[:-1]):
        parts = math.ceil(float(graph.masses[members].sum()) / limit)
        if parts >= len(members):
            labels[members] = used + np.arange(len(members))
            used += len(members)
        else:
            part = cut_graph(subgraph(graph, members), parts, imbalance=_IMBALANCE, tries=_TRIES, seed=seed)
            labels[members] = used + part
            used += parts
    pieces = connected_pieces(graph, labels)
    if int(pieces.max()) + 1 < least:
        return np.arange(size, dtype=np.int64)
    return glue_crumbs(graph, pieces, _CRUMB * limit, least)
