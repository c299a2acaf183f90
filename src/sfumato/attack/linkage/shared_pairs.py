"""Rows of two tables that share more, and rarer, cells with each other than with any other row of both.

Whoever stands in a release with some cells as they are and the others replaced is near nobody; the cells that stayed
still name the row. As with nearest rows (`twins`), of two samples of one population about half of all such pairs stand
in one table each, and copies make more.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from sfumato.attack.engine.knowledge import FloatArray, IntArray
from sfumato.attack.linkage.twins import RATIOS, Nearest, usual_share

#: pairs whose ratio is larger say nothing: where values were exchanged, rows share a cell with many people
FARTHEST = 0.2
_MORE = 1.2  # a pair must share more than one cell can be worth: single values coincide
_COMMON = 0.02  # share of the rows beyond which a value names nobody
_CERTAIN = 0.999  # share of pairs that says nothing of copies
_MOST = 4_000_000  # pairs of rows that may share a value; of columns with more of them nothing is looked at


def shared_pairs(first: FloatArray, second: FloatArray) -> Nearest:
    """Return the pairs of rows of both tables that share most with each other.

    The ratio is the square of what the next row shares to what the pair shares: below 0.2, less than half as much.

    Parameters
    ----------
    first, second : arrays of shapes (n, d) and (m, d)

    Examples
    --------
    >>> table = np.arange(90.0).reshape(30, 3)
    >>> other = -table
    >>> other[4, :2] = table[7, :2]
    >>> found = shared_pairs(table, other)
    >>> found.one.tolist(), found.other.tolist(), found.ratio.tolist()
    ([7], [34], [0.0])
    """
    both, sizes = np.vstack([first, second]), (len(first), len(second))
    total, rows, values, weights = len(both), [], [], []
    begin, left = 0, _MOST
    for column in both.T:
        _, code, counts = np.unique(column, return_inverse=True, return_counts=True)
        code = code.reshape(-1)
        telling = (counts > 1) & (counts <= max(2, _COMMON * total))
        work = int((counts[telling].astype(np.int64) ** 2).sum())
        if work == 0 or work > left:
            continue
        left -= work
        has = np.flatnonzero(telling[code])
        rows.append(has)
        values.append(begin + code[has])
        weights.append(np.sqrt(np.log(total / counts[code[has]])))
        begin += len(counts)
    if not rows:
        return Nearest(sizes, *(np.empty(0, dtype=np.int64),) * 2, np.empty(0), np.empty(0))
    where = np.concatenate(rows), np.concatenate(values)
    held = csr_matrix((np.concatenate(weights), where), shape=(total, begin))
    shared = (held @ held.T).tocsr()
    shared.setdiag(0.0)
    shared.eliminate_zeros()
    shared.sort_indices()
    best, mate, following = _two_most(shared, total)
    me = np.flatnonzero(best > _MORE * np.log(total / 2))
    mutual = me[(mate[mate[me]] == me) & (me < mate[me])]
    other = mate[mutual]
    after = np.maximum(following[mutual], following[other]) / best[mutual]
    alone = after < 1 - 1e-9  # of rows that share as much with a third one nobody is named
    return Nearest(sizes, mutual[alone], other[alone], after[alone] ** 2, np.zeros(int(alone.sum())))


def _two_most(shared: csr_matrix, total: int) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return for each row the most that it shares, with whom, and the most that it shares with anybody else."""
    row = np.repeat(np.arange(total), np.diff(shared.indptr))
    order = np.lexsort((shared.indices, -np.round(shared.data, 9), row))
    begins = shared.indptr[:-1]
    best, following, mate = np.zeros(total), np.zeros(total), np.full(total, -1, dtype=np.int64)
    has, two = np.flatnonzero(np.diff(shared.indptr) > 0), np.flatnonzero(np.diff(shared.indptr) > 1)
    best[has], mate[has] = shared.data[order[begins[has]]], shared.indices[order[begins[has]]]
    following[two] = shared.data[order[begins[two] + 1]]
    return best, mate, following


def most_shared(found: Nearest, controls: list[Nearest]) -> dict[float, float]:
    """Return for each limit of `RATIOS` the share of pairs in both tables that needs no copies.

    That of two samples, unless rows that exchanged their values make half as many such pairs, or more.

    Parameters
    ----------
    found : Nearest
        Pairs of a table and its release.
    controls : list of Nearest
        Of the table and of releases in which rows have exchanged their values.
    """
    usual = usual_share(*found.sizes)

    def across(near: Nearest, limit: float) -> int:
        n = near.sizes[0]
        return int((((near.one < n) != (near.other < n)) & (near.ratio <= limit)).sum())

    few = {limit: 2 * max(across(one, limit) for one in controls) < across(found, limit) for limit in RATIOS}
    return {limit: usual if few[limit] else _CERTAIN for limit in RATIOS}
