"""What a table shows of its rows whatever was done to all of it: how far the next rows are, how often cells come.

Turning rows, all of them or each group about its middle, leaves the distances to the rows nearest to them. Writing
other values for those of a column, one for one, leaves how often each of them comes, alone and beside another. Nothing
need be known of what was done, nor of who is who.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from sfumato.attack.engine.knowledge import FloatArray, IntArray
from sfumato.attack.engine.neighbours import RowIndex

_NEIGHBOURS = 12
_PAIRS = 15  # of columns
_TELLING = 0.05  # different rows, as a share of all, without which how often cells come tells nobody


def near_distances(table: FloatArray, rows: IntArray | None = None) -> FloatArray | None:
    """Return how far the nearest rows of each row are, in logarithms, from those of the usual row.

    Parameters
    ----------
    table : array of shape (n, d)
        Rows.
    rows : array of shape (m,), optional
        Which rows are asked for. None (default): all.

    Returns
    -------
    array of shape (m, 12), or None
        None for tables that have too few rows.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(100, 3))
    >>> turned = 5 * table @ np.linalg.qr(draw.normal(size=(3, 3)))[0]
    >>> bool(np.allclose(near_distances(table), near_distances(turned)))
    True
    """
    n = len(table)
    if n < 2 * _NEIGHBOURS or not np.isfinite(table).all() or not np.ptp(table):
        return None
    asked = np.arange(n) if rows is None else rows
    near = RowIndex(np.asarray(table - table.mean(axis=0))).nearest(asked, _NEIGHBOURS + 1)[0][:, 1:]
    usual = float(np.median(near[:, -1]))
    if usual <= 0:
        return None
    return np.asarray(np.log(np.maximum(near / usual, 1e-6)))


def how_often(table: FloatArray) -> FloatArray | None:
    """Return how often the cells of each row come in their columns, alone and in pairs; None where that tells nobody.

    Parameters
    ----------
    table : array of shape (n, d)

    Examples
    --------
    >>> table = np.random.default_rng(0).integers(0, 9, size=(200, 4)).astype(float)
    >>> bool(np.array_equal(how_often(table), how_often((table * 5) % 9)))
    True
    """
    n, d = table.shape
    read = [np.unique(column, return_inverse=True, return_counts=True)[1:] for column in table.T]
    read.sort(
        key=lambda one: (len(one[1]), tuple(np.sort(one[1])[::-1]))
    )  # wherever columns went, they are known again
    codes, sizes = [code.reshape(-1) for code, _ in read], [len(counts) for _, counts in read]
    told = [counts[code] for code, (_, counts) in zip(codes, read, strict=True)]
    first, second = np.triu_indices(d, 1)
    for at in np.random.default_rng([d, 56]).permutation(len(first))[:_PAIRS]:
        i, j = first[at], second[at]
        _, code, counts = np.unique(codes[i] * sizes[j] + codes[j], return_inverse=True, return_counts=True)
        told.append(counts[code.reshape(-1)])
    often = np.log(np.column_stack(told))
    return often if len(np.unique(often, axis=0)) >= max(2 * _NEIGHBOURS, _TELLING * n) else None


def words_for_shapes(original: FloatArray) -> dict[str, FloatArray]:
    """Return an original written anew in the ways that usually come before a linear map.

    Parameters
    ----------
    original : array of shape (n, d)
        The whole table, so that ranks are exact.

    Examples
    --------
    >>> sorted(words_for_shapes(np.array([[1.0], [2.0]])))
    ['as it is', 'bent score', 'cube root of scores', 'logarithm', 'normal scores', 'square root']
    """
    spread = original.std(axis=0)
    scores = (original - original.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    levels = (rankdata(original, axis=0) - 0.5) / len(original)
    told = {"as it is": original, "normal scores": np.asarray(ndtri(levels))}
    told |= {"cube root of scores": np.cbrt(scores), "bent score": np.tanh(scores)}
    if (original.min(axis=0) > 0).all():
        told["logarithm"] = np.log(original)
    elif (original.min(axis=0) > -1).all():
        told["logarithm of one more"] = np.log1p(original)
    if (original.min(axis=0) >= 0).all():
        told["square root"] = np.sqrt(original)
    return told
