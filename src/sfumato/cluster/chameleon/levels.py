"""Where to stop: the last level with the wanted number of clusters that are worth the name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.cluster.chameleon.agglomerate import cross_cuts
from sfumato.cluster.chameleon.separation import nearest_cluster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sfumato.cluster.chameleon.agglomerate import Merge
    from sfumato.cluster.chameleon.graph import Graph


def last_level(masses: NDArray[np.int64], merges: Sequence[Merge], k: int, smallest: float) -> int:
    """Return the largest number of merges after which exactly k clusters have at least `smallest` rows.

    Counting all clusters would not do: noise leaves crumbs that merge with nothing until the end, and real
    clusters would be merged in their place.

    Parameters
    ----------
    masses : ndarray of shape (p,)
        Rows of the first clusters.
    merges : sequence of Merge
        What `merge_pieces` did.
    k : int
        Clusters wanted.
    smallest : float
        Rows that a cluster needs to count.

    Returns
    -------
    int
        Number of merges; when there is no such level, the one that leaves k clusters of any size.

    Examples
    --------
    >>> from sfumato.cluster.chameleon.agglomerate import Merge
    >>> last_level(np.array([50, 40, 1, 1]), [Merge(2, 3), Merge(0, 4), Merge(1, 5)], 2, 10)
    2
    """
    sizes = [int(mass) for mass in masses]
    large = sum(mass >= smallest for mass in sizes)
    found = 0 if large == k else None
    for done, (first, second) in enumerate(merges, start=1):
        sizes.append(sizes[first] + sizes[second])
        large += int(sizes[-1] >= smallest) - int(sizes[first] >= smallest) - int(sizes[second] >= smallest)
        if large == k:
            found = done
    return max(len(masses) - k, 0) if found is None else found


def labels_at(pieces: NDArray[np.int64], merges: Sequence[Merge], level: int) -> NDArray[np.int64]:
    """Return the clusters after some merges, numbered from 0.

    Parameters
    ----------
    pieces : ndarray of shape (v,)
        First clusters.
    merges : sequence of Merge
        What `merge_pieces` did.
    level : int
        How many of the merges to make.

    Returns
    -------
    ndarray of shape (v,)

    Examples
    --------
    >>> from sfumato.cluster.chameleon.agglomerate import Merge
    >>> labels_at(np.array([0, 1, 2]), [Merge(0, 2), Merge(1, 3)], 1)
    array([1, 0, 1])
    """
    count = int(pieces.max()) + 1
    root = np.arange(count + level)
    for done in range(level - 1, -1, -1):
        root[list(merges[done])] = root[count + done]
    return np.unique(root[pieces], return_inverse=True)[1].reshape(-1).astype(np.int64)


def absorb_small(graph: Graph, positions: NDArray[np.float64], labels: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Keep the k largest clusters and give the others to the kept cluster that they share most edge weight with.

    Parameters
    ----------
    graph : Graph
        The graph.
    positions : ndarray of shape (v, d)
        Its points.
    labels : ndarray of shape (v,)
        Clusters, numbered from 0, at least k.
    k : int
        Clusters to keep.

    Returns
    -------
    ndarray of shape (v,)
        Labels 0 to k - 1.

    Examples
    --------
    >>> from sfumato.cluster.chameleon.graph import Graph
    >>> line = Graph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]), np.array([7, 7, 9, 9]), np.array([5, 1, 5]))
    >>> absorb_small(line, np.array([[0.0], [2.0], [3.0]]), np.array([0, 1, 2]), 2)
    array([0, 1, 1])
    """
    masses = np.bincount(labels, weights=graph.masses)
    kept = set(np.argsort(-masses, kind="stable")[:k].tolist())
    cuts: dict[int, dict[int, int]] = {index: {} for index in range(len(masses))}
    for (first, second), cut in cross_cuts(graph, labels).items():
        cuts[first][second] = cuts[second][first] = cut.weight
    home = {index: index for index in kept}
    waiting = set(cuts) - kept
    while waiting:
        # The crumb that hangs most firmly on a kept cluster goes first and carries its neighbours along.
        best = (-1, 0, 0)
        for crumb in sorted(waiting):
            pull: dict[int, int] = {}
            for other, weight in cuts[crumb].items():
                if other in home:
                    pull[home[other]] = pull.get(home[other], 0) + weight
            for target in sorted(pull):
                if pull[target] > best[0]:
                    best = (pull[target], crumb, target)
        if best[0] < 0:
            placed: dict[int, NDArray[np.int64]] = {
                target: np.flatnonzero(np.isin(labels, [index for index, at in home.items() if at == target]))
                for target in sorted(kept)
            }
            crumb = max(waiting, key=lambda index: (masses[index], -index))
            best = (0, crumb, nearest_cluster(positions, {**placed, crumb: np.flatnonzero(labels == crumb)}, crumb))
        home[best[1]] = best[2]
        waiting.remove(best[1])
    final = np.array([home[index] for index in range(len(masses))])[labels]
    return np.unique(final, return_inverse=True)[1].reshape(-1).astype(np.int64)
