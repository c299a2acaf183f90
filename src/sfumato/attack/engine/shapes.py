"""How a row lies among the others of its table: what no linear map of the table and no order of its rows changes.

A table is first brought to a round shape (its covariance becomes that of independent columns). After that, two tables
of which one is a linear map of the other differ by a rotation only, so every row has the same distances to the rows
nearest to it in both. Nothing need be known of the map, nor of who is who.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from sfumato.attack.engine.knowledge import FloatArray
from sfumato.attack.engine.neighbours import RowIndex

_NEIGHBOURS = 12
_FLAT = 1e-9  # share of the largest variance below which a direction holds nothing but rounding
_MOST = 4e9  # rows x rows x columns that are compared


def lies_among(table: FloatArray) -> FloatArray | None:
    """Return the distances of every row to the middle and to the nearest rows of a table that was made round.

    Parameters
    ----------
    table : array of shape (n, d)
        Rows.

    Returns
    -------
    array of shape (n, 13), or None
        None for tables that have too few rows, or too many to be compared.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(100, 3)) ** 3
    >>> turned = table @ draw.normal(size=(3, 3)) + 5
    >>> bool(np.allclose(lies_among(table), lies_among(turned)))
    True
    """
    n, d = table.shape
    if n < max(2 * d, _NEIGHBOURS + 2) or float(n) * n * d > _MOST or not np.isfinite(table).all():
        return None
    centred = table - table.mean(axis=0)
    scale = centred.std(axis=0)
    centred = centred[:, scale > 0] / scale[scale > 0]
    if not centred.shape[1]:
        return None
    variances, axes = np.linalg.eigh(centred.T @ centred / n)
    kept = variances > _FLAT * variances[-1]
    points = centred @ axes[:, kept] / np.sqrt(variances[kept])
    near = RowIndex(points).nearest(np.arange(n), _NEIGHBOURS + 1)[0][:, 1:]
    return np.column_stack([np.linalg.norm(points, axis=1), near])


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
