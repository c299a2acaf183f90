"""What groups of rows may hang on: where rows lie, their places in the file, every so many rows, or a released value.

Rows of one group share a linear map (`group_affine`). Whoever is near in one of these ways belongs to the same group
more often than not, and known rows that are left out in turn say which way tells the group.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial import cKDTree

from sfumato.attack.engine.knowledge import FloatArray, IntArray

_PERIODS = range(2, 13)  # rows after which groups may come again
_LEVELS = 0.25  # different values of a released column, of the known rows, beyond which it is no key
_BETTER = 1.05  # how much more often another way must tell the group than where rows lie


def windows(rows: IntArray, released: FloatArray, size: int) -> IntArray:
    """Return sets of known rows that follow one another in the file, or with the same key.

    Parameters
    ----------
    rows : array of shape (m,)
        Known rows.
    released : array of shape (n, e)
        The release.
    size : int
        Rows of a set.

    Returns
    -------
    array of shape (sets, size)
        Numbers of known rows.

    Examples
    --------
    >>> windows(np.array([5, 1, 9]), np.arange(10.0)[:, None], 2).tolist()[:2]
    [[1, 0], [0, 2]]
    """
    order = np.argsort(rows, kind="stable")
    starts = np.arange(len(order) - size + 1)
    sets = [order[starts[:, None] + np.arange(size)]]
    for key in _keys(rows, released):
        order = np.lexsort((rows, key[rows]))
        starts = np.arange(0, len(order) - size + 1, max(1, size // 2))
        some = order[starts[:, None] + np.arange(size)]
        sets.append(some[key[rows[some[:, 0]]] == key[rows[some[:, -1]]]])
    return np.concatenate(sets)


def _keys(rows: IntArray, released: FloatArray) -> Iterator[IntArray]:
    """Yield a key of every released row, of which known rows hold few different ones."""
    places = np.arange(len(released))
    for period in _PERIODS:
        yield places % period
    for column in released.T:
        if 1 < len(np.unique(column[rows])) <= _LEVELS * len(rows):
            yield np.unique(column, return_inverse=True)[1].reshape(-1)


def spread_groups(groups: IntArray, rows: IntArray, targets: IntArray, released: FloatArray) -> IntArray:
    """Return the group of each target row, in the way that tells that of known rows best when each is left out.

    Parameters
    ----------
    groups : array of shape (m,)
        Group of every known row.
    rows, targets : arrays of shapes (m,) and (t,)
        Released rows.
    released : array of shape (n, e)
        The release, scaled.

    Examples
    --------
    >>> rows = np.arange(0, 40, 2)
    >>> spread_groups(rows // 20, rows, np.array([3, 33]), np.zeros((40, 1))).tolist()
    [0, 1]
    """
    best: tuple[float, IntArray] | None = None
    for known, asked in ((released[rows], released[targets]), (rows[:, None], targets[:, None])):
        tree = cKDTree(known)
        near = tree.query(known, k=min(2, len(known)))[1].reshape(len(known), -1)
        others = np.where(near[:, 0] == np.arange(len(known)), near[:, -1], near[:, 0])
        best = _better(best, float((groups[others] == groups).mean()), groups[tree.query(asked)[1]])
    for key in _keys(rows, released):
        counts = np.zeros((int(key.max()) + 1, int(groups.max()) + 1))
        np.add.at(counts, (key[rows], groups), 1.0)
        without = counts[key[rows]]
        without[np.arange(len(rows)), groups] -= 1.0
        right = (without.argmax(axis=1) == groups) & (without.max(axis=1) > 0)
        best = _better(best, float(right.mean()), np.asarray(counts.argmax(axis=1)[key[targets]]))
    assert best is not None
    return best[1]


def _better(best: tuple[float, IntArray] | None, right: float, told: IntArray) -> tuple[float, IntArray]:
    return (right, told) if best is None or right > _BETTER * best[0] else best
