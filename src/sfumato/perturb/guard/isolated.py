"""People far from all others, by the distance to the tenth nearest.

Whether k-means makes a cluster of a few people can hang on one of them, so that the absence of one would show in whom
else a release leaves out. How far a row has to go for company hangs on nobody but its neighbours.
"""

from __future__ import annotations

import numpy as np

from sfumato._arrays import Flags, Floats

MOST_ROWS = 20_000  # of a table in which everybody is asked; in a larger one hardly anybody stands out
_REFERENCE = 1 << 12  # rows among which company is looked for
_APART = 2.5  # times what three quarters of the rows have to go
_BLOCK = 1 << 9
_LARGEST = 2.0**20  # squares of so many steps, summed over 4,096 columns, are exact


def isolated(steps: Floats, company: int, most: int) -> Flags:
    """Return who is farther from company than others: at most so many, the farthest.

    Parameters
    ----------
    steps : array of shape (d, n)
        Rows on a lattice, in random order.
    company : int
        How many people are company.
    most : int
        How many may be found.

    Examples
    --------
    >>> rows = np.arange(300.0)
    >>> rows[7] = 900.0
    >>> isolated(rows[None, :], 10, 5).nonzero()[0].tolist()
    [7]
    """
    n = steps.shape[1]
    alone = np.zeros(n, dtype=bool)
    if n <= company + 1 or most < 1:
        return alone
    rows = _coarser(steps)
    others = rows[:, :_REFERENCE]
    # of fewer rows to look at, fewer are company; everybody there is to be found among them, once
    nearest = max(1, round(company * others.shape[1] / n))
    ways = np.empty(n)
    for start in range(0, n, _BLOCK):
        ways[start : start + _BLOCK] = _way(rows[:, start : start + _BLOCK], others, nearest, start)
    usual = float(np.sort(ways)[3 * n // 4])
    order = np.lexsort((np.arange(n), -ways))[:most]
    alone[order] = ways[order] > _APART**2 * usual
    return alone


def _coarser(steps: Floats) -> Floats:
    """Return rows on a lattice so coarse that sums of squares are exact."""
    largest = float(np.abs(steps).max(initial=1.0))
    coarse: Floats = np.rint(steps * 2.0 ** -max(0.0, np.ceil(np.log2(largest / _LARGEST))))
    return coarse


def _way(rows: Floats, others: Floats, nearest: int, start: int) -> Floats:
    """Return the squared distance to the nearest but so many, without oneself."""
    squares = (rows * rows).sum(axis=0)[:, None] + (others * others).sum(axis=0) - 2.0 * (rows.T @ others)
    own = np.arange(start, min(start + rows.shape[1], others.shape[1]))
    squares[own - start, own] = np.inf
    way: Floats = np.partition(squares, nearest - 1, axis=1)[:, nearest - 1]
    return way
