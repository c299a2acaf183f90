"""Rows that stand for several people: equal or nearly so, where people are not. Each is looked at once.

Groups of people who are released by their mean have as many equal rows, which are each other's nearest; who is near
them among the people would not be seen.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from sfumato.attack.engine.knowledge import FloatArray, IntArray
from sfumato.attack.engine.transforms import narrowed

_SAMPLE = 1_000  # rows whose nearest one is looked for at first
_LOW = 0.1  # quantile of people's distances to one another: so many are nearer
_NEARER = 0.25  # share of that distance within which rows are one
_FEWEST = 0.2  # share of the rows that must be so near another one


def one_of_each(original: FloatArray, released: FloatArray, *, seed: int = 0) -> IntArray | None:
    """Return one of each group of released rows that are far nearer to one another than people are; None if few are.

    Parameters
    ----------
    original, released : arrays of shapes (n, d) and (m, d)

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(300, 3))
    >>> one_of_each(table, draw.normal(size=(300, 3))) is None
    True
    >>> len(one_of_each(table, np.repeat(draw.normal(size=(100, 3)), 3, axis=0)))
    100
    """
    if min(len(original), len(released)) < 3:
        return None
    spread, own = original.std(axis=0), released.std(axis=0)
    least = np.where(own > 0, np.minimum(own, spread), spread)  # a release in smaller units is not of equal rows
    scaled = [table / np.where(unit > 0, unit, 1.0) for table, unit in ((original, spread), (released, least))]
    people, rows = narrowed(*scaled)
    generator = np.random.default_rng([seed, 57])
    near = []
    for table in (people, rows):
        some = table[generator.permutation(len(table))[:_SAMPLE]]
        near.append(cKDTree(table).query(some, k=2)[0][:, 1])
    limit = _NEARER * float(np.quantile(near[0], _LOW))
    one = float((near[1] <= limit).mean())
    if one < _FEWEST or one < 3 * float((near[0] <= limit).mean()):
        return None
    pairs = cKDTree(rows).query_pairs(limit, output_type="ndarray")
    links = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(rows), len(rows)))
    groups = connected_components(links, directed=False)[1]
    return np.asarray(np.unique(groups, return_index=True)[1], dtype=np.int64)
