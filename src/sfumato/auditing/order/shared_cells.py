"""Who is who by the cells that rows share: noise in some columns, or columns exchanged in blocks, leaves the others.

A row counts for a person by the cells that both hold, the more the rarer they are. If the release gives nobody away,
the best row for a person is no better than the best one among other people of the original, and than the best one where
rows of the release have exchanged their values, all of them or those that are alike.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

from sfumato._arrays import Floats, Integers

_PEOPLE = 400  # who are looked for first
_ROWS = 4_000  # beyond which only these are looked at first
_MOST = 3_000  # rows of tables whose order is found so
#: share of the people below whose best row it must lie, where nothing is given away, and the share that must lie above
_BETTER = {0.99: 0.2, 0.9: 0.4, 0.75: 0.7}
_FEWEST = 20  # people who must lie above it
_BOUND = 0.95  # rank correlation of columns of which one says the other


def order_by_cells(
    original: Floats, released: Floats, alike: Floats, mixed: Floats, *, seed: int = 0
) -> Integers | None:
    """Return the order that shared cells tell; None if rows share no more than strangers do.

    Parameters
    ----------
    original, released : arrays of shape (n, d)
    alike, mixed : arrays of shape (n, d)
        The release after rows that are alike, or all rows, have exchanged values, each column by itself.
    seed : int
        Draws the people who are looked for. Default: 0.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> table = draw.integers(0, 200, size=(300, 6)).astype(float)
    >>> noisy, order = table.copy(), draw.permutation(300)
    >>> noisy[:, 3:] += 0.5 + draw.normal(size=(300, 3))
    >>> others = draw.permuted(noisy, axis=0)
    >>> (order_by_cells(table, noisy[order], others, others) == order).mean() > 0.9
    np.True_
    >>> order_by_cells(table, others, others, draw.permuted(others, axis=0)) is None
    True
    """
    n, d = original.shape
    if d < 2 or len(released) != n or n > _MOST:
        return None
    chosen = _free_columns(original)
    if not any(np.isin(released[:, j], original[:, j]).mean() > 1 / 10 for j in chosen):
        return None
    tables = [table[:, chosen] for table in (original, released, alike, mixed)]
    weights = [_rarity(column) for column in tables[0].T]
    generator = np.random.default_rng([seed, 69])
    people = np.sort(generator.permutation(n)[:_PEOPLE])
    rows = np.sort(generator.permutation(n)[:_ROWS])
    own = _shared(tables[0][people], tables[0][rows], weights)
    own[people[:, None] == rows] = -1.0
    usual = [own.max(axis=1)]
    usual += [_shared(tables[0][people], one[rows], weights).max(axis=1) for one in tables[2:]]
    best = _shared(tables[0][people], tables[1][rows], weights).max(axis=1)
    if not any(
        (best > (1 + 1e-6) * max(np.quantile(one, level) for one in usual)).sum() >= max(_FEWEST, share * len(people))
        for level, share in _BETTER.items()
    ):
        return None
    found = _shared(tables[0], tables[1], weights)
    return np.asarray(np.argsort(linear_sum_assignment(-found)[1]), dtype=np.int64)


def _free_columns(table: Floats) -> list[int]:
    """Return columns of which none says another: those that are bound to one another move together in any release."""
    ranks = rankdata(table, axis=0)
    spread = ranks.std(axis=0)
    ranks = (ranks - ranks.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    bound = np.abs(ranks.T @ ranks) / len(table) > _BOUND
    free: list[int] = []
    for j in range(table.shape[1]):
        if spread[j] > 0 and not any(bound[j, other] or _says(table[:, other], table[:, j]) for other in free):
            free.append(j)
    return free


def _says(one: Floats, other: Floats) -> bool:
    """Tell whether one of two columns of few values says the other."""
    levels = [len(np.unique(column)) for column in (one, other)]
    if max(levels) > len(one) // 2:
        return False
    both = np.unique(np.column_stack([one, other]), axis=0)
    return len(both) <= 1.02 * max(levels)


def _rarity(column: Floats) -> tuple[Floats, Floats]:
    values, counts = np.unique(column, return_counts=True)
    return values, np.log(len(column) / counts)


def _shared(people: Floats, rows: Floats, weights: list[tuple[Floats, Floats]]) -> Floats:
    """Return for people and rows how rare the cells are that they share."""
    total = np.zeros((len(people), len(rows)), dtype=np.float32)
    for j, (values, rare) in enumerate(weights):
        weight = rare[np.searchsorted(values, people[:, j])].astype(np.float32)
        total += weight[:, None] * (people[:, j][:, None] == rows[:, j])
    return np.asarray(total)
