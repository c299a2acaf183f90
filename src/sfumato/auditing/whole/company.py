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
_DRAWS = 2  # more of every clustering: k-means has many good optima, and nobody says which of them a release keeps


@dataclass(frozen=True, eq=False)
class Company:
    """Whom each row shares its clusters with.

    Attributes
    ----------
    codes : array of shape (n,)
        The same number for rows that share their cluster for every number of clusters.
    smallest : array of shape (n,)
        Rows of the smallest cluster that each is in.
    draws : array of shape (3, n)
        The same codes, and those of other optima of the same clusterings.
    """

    codes: Integers
    smallest: Integers
    draws: Integers


def same_clusters(rows: Floats, categories: Sequence[int], clusters: Sequence[int], seed: int) -> Company:
    """Return who shares their clusters with whom.

    Parameters
    ----------
    rows : array of shape (n, d)
        Without missing cells.
    categories : sequence of int
        The columns that hold codes 0, 1, ...
    clusters : sequence of int
    """
    (table,), raw = one_hot([rows], categories)
    deviation = np.where(raw | (table.std(axis=0) == 0), 1.0, table.std(axis=0))
    points = (table - np.where(raw, 0.0, table.mean(axis=0))) / deviation
    chosen = np.random.default_rng([seed, 3]).permutation(len(points))[:_MOST_ROWS]
    draws: Integers = np.zeros((1 + _DRAWS, len(points)), dtype=np.int64)
    smallest: Integers = np.full(len(points), len(points))
    for k in clusters:
        if k >= len(chosen):
            continue
        for draw in range(1 + _DRAWS):
            starts = 1 if draw else _STARTS
            labels = KMeans(k, n_init=starts, random_state=seed + draw).fit(points[chosen]).predict(points)
            draws[draw] = np.unique(draws[draw] * k + labels, return_inverse=True)[1].ravel()
            if not draw:
                smallest = np.minimum(smallest, np.bincount(labels)[labels])
    return Company(draws[0], smallest, draws)


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
