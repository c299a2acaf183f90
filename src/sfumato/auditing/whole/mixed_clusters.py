"""Clusters of mixed rows before and after: k-prototypes, and a tree of average linkage over Gower's distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.cluster.hierarchy import average, cut_tree
from scipy.spatial.distance import squareform

from sfumato._arrays import Floats, Integers
from sfumato.cluster.k_prototypes import k_prototypes
from sfumato.frames.whole import WholeRows
from sfumato.metrics import misclassification_rate

_ROWS = 2_000
_TREE_ROWS = 400
_CLUSTERS = (2, 3, 5, 8)


@dataclass(frozen=True)
class MixedClusters:
    """One clustering of both tables.

    Attributes
    ----------
    clusterer : {"k-prototypes", "gower average"}
    k : int
    release : float
        Share of the people in another cluster than in the original; less is better.
    floor : float or None
        The same for second runs on the original from other starts; None for the tree, which has no starts.
    rows : int
        People who were clustered.
    """

    clusterer: Literal["k-prototypes", "gower average"]
    k: int
    release: float
    floor: float | None
    rows: int


def measure_clusters(
    rows: WholeRows, *, clusters: Sequence[int] = _CLUSTERS, seed: int = 0
) -> tuple[MixedClusters, ...]:
    """Cluster the same people in both tables and compare.

    Parameters
    ----------
    rows : WholeRows
    clusters : sequence of int
        Numbers of clusters. Default: 2, 3, 5 and 8.
    seed : int
        Draws at most 2,000 people (400 for the tree) and the starts. Default: 0.
    """
    order = np.random.default_rng([seed, 22]).permutation(len(rows.original))
    some = rows.take(order[:_ROWS])
    few = rows.take(order[:_TREE_ROWS])
    found: list[MixedClusters] = []
    exact = np.array(rows.categories)
    middle, spread = some.original.mean(axis=0), some.original.std(axis=0)
    scaled = [(table - middle) / np.where(spread > 0, spread, 1.0) for table in (some.original, some.released)]
    before, after = ((table[:, ~exact], raw[:, exact]) for table, raw in zip(scaled, _raw(some), strict=True))
    for k in clusters:
        if k >= len(few.original):
            continue
        first = k_prototypes(*before, k, seed=seed).labels
        runs = [
            [misclassification_rate(first, k_prototypes(*data, k, seed=seed + one).labels) for one in (1, 2)]
            for data in (after, before)  # from the same starts, so that a copy loses exactly what the original does
        ]
        lost, floor = (float(np.mean(run)) for run in runs)
        found.append(MixedClusters("k-prototypes", k, lost, floor, len(some.original)))
    trees = [average(gower_distances(table, few)) for table in _raw(few)]
    for k in clusters:
        if k < len(few.original):
            labels: list[Integers] = [cut_tree(tree, k)[:, 0] for tree in trees]
            lost = misclassification_rate(labels[0], labels[1])
            found.append(MixedClusters("gower average", k, lost, None, len(few.original)))
    return tuple(found)


def gower_distances(table: Floats, rows: WholeRows) -> Floats:
    """Return Gower's distances of all pairs of rows, as scipy condenses them.

    Parameters
    ----------
    table : array of shape (n, d)
        One of the two tables.
    rows : WholeRows
        Which columns hold what, and the ranges of the numbers.
    """
    total = np.zeros((len(table), len(table)))
    for j, category in enumerate(rows.categories):
        column = table[:, j]
        if category:
            total += column[:, None] != column
        else:
            span = float(np.ptp(rows.original[:, j])) or 1.0
            total += np.abs(column[:, None] - column) / span
    return np.asarray(squareform(total / table.shape[1], checks=False), dtype=np.float64)


def _raw(rows: WholeRows) -> tuple[Floats, Floats]:
    return rows.original, rows.released
