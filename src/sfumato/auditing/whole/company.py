"""Who is alike: what the kept clusters tell of a person, they tell of everybody in them, and that is no leak.

A release that keeps clusterings says of each row in which cluster it is. That alone makes many cells right. So guesses
are held against those for another person of the same clusters, not only against a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans

from sfumato._arrays import Floats, Integers
from sfumato.auditing.utility.rescaling import one_hot

_MOST_ROWS = 4_000  # on which the clusters are found
_STARTS = 3


@dataclass(frozen=True, eq=False)
class Company:
    """Whom each row shares its clusters with.

    Attributes
    ----------
    codes : array of shape (n,)
        The same number for rows that share their cluster for every number of clusters.
    smallest : array of shape (n,)
        Rows of the smallest cluster that each is in.
    groupings : array of shape (n, 1 + numbers of clusters)
        The codes, and the clusters of each number alone: they may tell more of a column than all of them together,
        which leave many people alone.
    """

    codes: Integers
    smallest: Integers
    groupings: Integers


def in_miners_space(rows: Floats, categories: Sequence[int]) -> Floats:
    """Return rows as miners cluster them: numbers standardised, categories one-hot.

    Parameters
    ----------
    rows : array of shape (n, d)
        Without missing cells.
    categories : sequence of int
        The columns that hold codes 0, 1, ...

    Examples
    --------
    >>> in_miners_space(np.array([[0.0, 1.0], [2.0, 0.0]]), [1]).tolist()
    [[-1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    (table,), raw = one_hot([rows], categories)
    deviation = np.where(raw | (table.std(axis=0) == 0), 1.0, table.std(axis=0))
    return np.asarray((table - np.where(raw, 0.0, table.mean(axis=0))) / deviation)


def same_clusters(rows: Floats, categories: Sequence[int], clusters: Sequence[int], seed: int) -> Company:
    """Return who shares their clusters with whom.

    Parameters
    ----------
    rows, categories
        See `in_miners_space`.
    clusters : sequence of int
        Numbers of clusters.
    """
    points = in_miners_space(rows, categories)
    chosen = np.random.default_rng([seed, 3]).permutation(len(points))[:_MOST_ROWS]
    codes: Integers = np.zeros(len(points), dtype=np.int64)
    smallest: Integers = np.full(len(points), len(points))
    alone: list[Integers] = []
    for k in clusters:
        if k < len(chosen):
            labels = KMeans(k, n_init=_STARTS, random_state=seed).fit(points[chosen]).predict(points)
            codes = np.unique(codes * k + labels, return_inverse=True)[1].ravel()
            smallest = np.minimum(smallest, np.bincount(labels)[labels])
            alone.append(np.asarray(labels, dtype=np.int64))
    return Company(codes, smallest, np.column_stack([codes, *alone]))


def nearest_of_all(rows: Floats, clusterings: Sequence[Floats], spread: Floats) -> Integers:
    """Return a number for each row, the same for rows with the same nearest centre in every clustering.

    Parameters
    ----------
    rows : array of shape (n, d)
    clusterings : sequence of arrays of shape (k, d)
        Centres.
    spread : array of shape (d,)
        Standard deviations in which distances are measured; columns of none do not count.

    Examples
    --------
    >>> nearest_of_all(np.array([[0.0], [1.0], [9.0]]), [np.array([[0.0], [9.0]])], np.ones(1)).tolist()
    [0, 0, 1]
    """
    unit = np.where(spread > 0, spread, np.inf)
    codes: Integers = np.zeros(len(rows), dtype=np.int64)
    for centres in clusterings:
        away = ((centres / unit) ** 2).sum(axis=1) - 2 * (rows / unit) @ (centres / unit).T
        codes = np.unique(codes * len(centres) + away.argmin(axis=1), return_inverse=True)[1].ravel()
    return codes
