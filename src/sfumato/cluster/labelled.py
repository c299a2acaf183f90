"""Labels of any clusterer as prototypes: a few centres for each cluster, of which the nearest gives the label.

Clusters of any shape become unions of cells with flat walls, which is what a guard can hold rows in. Clusters whose
labels come out wrong get more prototypes, until enough are right or there are too many.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats, Integers
from sfumato.cluster.lattice_kmeans import likely_centres
from sfumato.cluster.lattice_rounds import nearest_and_cost

_MOST = 48  # prototypes of one clustering
_ROWS_EACH = 25  # rows that a prototype has on average at least
_STARTS = 5
_RIGHT = 0.99  # share of the labels with which nobody looks further
_ROUNDS = 8

# a name -> so many random words
Words = Callable[[str, int], NDArray[np.uint64]]


def label_prototypes(steps: Floats, labels: Integers, words: Words) -> tuple[Floats, Integers, float]:
    """Return prototypes on the lattice, the cluster of each, and the share of labels that they give right.

    Parameters
    ----------
    steps : array of shape (d, n)
        Rows on the lattice.
    labels : array of shape (n,)
    words : callable
        Where the starts of k-means come from.

    Examples
    --------
    >>> rows = np.repeat([[0.0, 9.0, 18.0]], 30, axis=1)
    >>> labels = np.tile(np.repeat([0, 1, 0], 30), 1)
    >>> centres, of, right = label_prototypes(rows, labels, lambda _, n: np.arange(n, dtype=np.uint64) << np.uint64(57))
    >>> sorted(zip(centres.ravel().tolist(), of.tolist())), right
    ([(0.0, 0), (9.0, 1), (18.0, 0)], 1.0)
    """
    clusters = np.unique(labels)
    members = [np.ascontiguousarray(steps[:, labels == cluster]) for cluster in clusters]
    room = [max(1, min(_distinct(rows), rows.shape[1] // _ROWS_EACH)) for rows in members]
    counts = [1] * len(clusters)
    known: dict[tuple[int, int], Floats] = {}
    best: tuple[Floats, Integers, float] | None = None
    for _ in range(_ROUNDS):
        for index, count in enumerate(counts):
            if (index, count) not in known:
                drawn = words(f"{clusters[index]} {count}", 3 * count * _STARTS)
                known[index, count] = likely_centres(members[index], count, drawn, starts=_STARTS)[0]
        centres = np.concatenate([known[index, count] for index, count in enumerate(counts)])
        of = np.repeat(np.arange(len(clusters)), counts)
        given = of[nearest_and_cost(steps, centres)[0]]
        right = float(np.mean(clusters[given] == labels))
        if best is None or right > best[2]:
            best = centres, of.astype(np.int64), right
        grown = _grown(counts, room, _wrong(clusters, given, labels))
        if right >= _RIGHT or grown == counts:
            break
        counts = grown
    assert best is not None
    return best


def _distinct(rows: Floats) -> int:
    return len(np.unique(rows[:, :256], axis=1).T)


def _wrong(clusters: Integers, given: Integers, labels: Integers) -> list[int]:
    """Return how many rows each cluster loses or takes from others."""
    own = np.searchsorted(clusters, labels)
    lost, taken = (np.bincount(one[given != own], minlength=len(clusters)) for one in (own, given))
    return [int(number) for number in lost + taken]


def _grown(counts: list[int], room: list[int], wrong: list[int]) -> list[int]:
    """Return more prototypes for the clusters with most wrong labels, at most twice as many."""
    grown = list(counts)
    for index in sorted(range(len(counts)), key=lambda one: (-wrong[one], one)):
        more = min(2 * counts[index], room[index]) - counts[index]
        if wrong[index] > 0 and more > 0 and sum(grown) + more <= max(_MOST, len(counts)):
            grown[index] += more
    return grown
