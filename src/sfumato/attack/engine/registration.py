"""Lay one table upon another of which it is a linear map, with noise, in any order: nobody need know who is who.

Both tables are brought to a round shape, so that only a rotation is left between them. How a row lies in the whole
cloud (means of powers of its products with all rows) does not change with a rotation, and little with noise or ties.
Rows that lie alike are mostly different people, but those who are the same all agree on the rotation, while the others
point everywhere: it is what they add up to. Then each row is matched with the nearest one, and the rotation is found
anew from these pairs, until it stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial import cKDTree
from scipy.stats import rankdata

from sfumato.attack.engine.knowledge import FloatArray
from sfumato.attack.engine.transforms import own_scale

_FEW, _MOST = 1_000, 2_000  # rows that are laid upon one another, at first and in the end
_FIRST = 4  # turns at first
_WIDEST = 30  # columns
_ROWS = 20  # rows for each column, without which anything can be laid upon anything
_POWERS = (2, 3, 4, 5)
_TURNS = 15
_SAME = 1e-6
_FLAT = 1e-9
_STARTS, _COLUMNS = 40, 2  # directions from which a column is looked for, and columns
_LYING = 0.02  # deviations, as a root of mean squares, within which sorted values are those of a column
_NORMAL = 0.4549  # the median of a squared normal number: columns that are not normal are told more easily
_SURE = 0.3  # of how far rows usually are from the next one: who lies so near is the same
_WAVES = np.arange(0.25, 3.1, 0.25)  # turns for each deviation
_LARGEST = 6.0  # deviations beyond which a row pulls no more


def made_round(table: FloatArray, kept: int | None = None, *, stretched: bool = True) -> FloatArray | None:
    """Return a table along its largest directions, independent columns that vary by one; None without any.

    Parameters
    ----------
    table : array of shape (n, d)
    kept : int, optional
        How many directions. None (default): all that hold something.
    stretched : bool
        Whether each direction varies by one, or all of them together do, in their own proportions. Default: True.
    """
    centred = table - table.mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred / len(table))
    inside = np.flatnonzero(variances > _FLAT * variances[-1])[::-1][:kept]
    if not len(inside) or variances[-1] <= 0:
        return None
    unit = np.sqrt(variances[inside]) if stretched else np.sqrt(variances[inside].mean())
    return np.asarray(centred @ axes[:, inside] / unit)


def _places(points: FloatArray) -> FloatArray:
    """Return how each row lies in the whole cloud: its length, and means of powers of its products with all rows."""
    lengths = np.linalg.norm(points, axis=1)
    near = points * np.minimum(1.0, _LARGEST / np.maximum(lengths, _LARGEST))[:, None]
    products = near @ near.T
    told, power = [lengths], products
    for exponent in range(2, max(_POWERS) + 1):
        power = power * products
        if exponent in _POWERS:
            told.append(power.mean(axis=1))
    levels = [rankdata(one) / len(points) for one in told]
    return np.column_stack(levels)


def laid_upon(
    first: FloatArray, second: FloatArray, *, stretched: bool = True, closely: bool = True
) -> tuple[FloatArray, FloatArray] | None:
    """Return two tables in one space in which the first lies upon the second as well as a rotation allows.

    Parameters
    ----------
    first, second : arrays of shapes (n, d) and (m, e)
        Where e is less than d, the first is seen along its largest directions.
    stretched : bool
        Whether both are made round first, as any linear map asks for; a rotation of scaled columns does not, and noise
        counts for less then. Default: True.
    closely : bool
        Whether many rows say how, or few, roughly. Default: True.

    Returns
    -------
    tuple of two arrays, or None
        None for tables that are too small, or too wide.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(300, 3)) ** 3
    >>> turned = (table @ draw.normal(size=(3, 3)))[::-1]
    >>> one, other = laid_upon(table, turned)
    >>> bool(np.allclose(one, other[::-1]))
    True
    """
    d = min(first.shape[1], second.shape[1])
    if d > _WIDEST or min(len(first), len(second)) < _ROWS * d or d < 2:
        return None
    first, second = own_scale(first), own_scale(second) if stretched else second
    left, right = (made_round(table, stretched=stretched) for table in (first, second))
    if left is not None and right is not None and left.shape[1] > right.shape[1]:
        left = made_round(first, right.shape[1], stretched=stretched)
    if left is None or right is None or left.shape[1] != right.shape[1] or right.shape[1] < 2:
        return None
    turn = _alike(_far(left, _FEW), _far(right, _FEW))
    if turn is None:
        return None
    for rows, turns in ((_FEW, _FIRST), (_MOST, _TURNS)) if closely else ((_FEW, _FIRST),):
        turn = _nearest(_far(left, rows), _far(right, rows), turn, turns)
    return np.asarray(left @ turn), right


def laid_upon_best(words: Mapping[str, FloatArray], second: FloatArray) -> tuple[str, FloatArray, FloatArray] | None:
    """Return the word in which a table lies upon another one best, and both in one space; None without any.

    Parameters
    ----------
    words : mapping of str to array of shape (n, d)
        The first table, written in several ways.
    second : array of shape (m, e)
    """
    tried = []
    for name, table in words.items():
        for stretched in (True, False):
            laid = laid_upon(table, second, stretched=stretched, closely=False)
            if laid is not None:
                some, other = (_far(one, _FEW) for one in laid)
                tree = cKDTree(other)
                usual = float(np.median(tree.query(other, k=2)[0][:, 1]))
                tried.append((float(np.median(tree.query(some)[0])) / max(usual, 1e-300), name, stretched))
    if not tried:
        return None
    _, name, stretched = min(tried)
    laid = laid_upon(words[name], second, stretched=stretched)
    return None if laid is None else (name, *laid)


def _far(points: FloatArray, rows: int) -> FloatArray:
    """Return the farthest rows, which are the same in both tables."""
    return points[np.argsort(-np.linalg.norm(points, axis=1), kind="stable")[:rows]]


def _alike(first: FloatArray, second: FloatArray) -> FloatArray | None:
    """Return the rotation on which rows that lie alike agree most."""
    alike, others = _places(first), _places(second)
    pairs, back = cKDTree(others).query(alike)[1], cKDTree(alike).query(others)[1]
    mutual = np.flatnonzero(back[pairs] == np.arange(len(first)))
    return _rotation(first[mutual], second[pairs[mutual]]) if len(mutual) > first.shape[1] else None


def _nearest(first: FloatArray, second: FloatArray, turn: FloatArray, turns: int) -> FloatArray:
    """Return a rotation after some turns, in each of which rows that are each other's nearest agree on a better one."""
    tree = cKDTree(second)
    for _ in range(turns):
        moved = first @ turn
        apart, near = tree.query(moved)
        back = cKDTree(moved).query(second)[1]
        sure = np.flatnonzero(back[near] == np.arange(len(first)))
        if len(sure) <= first.shape[1]:
            return turn
        sure = sure[apart[sure] <= np.median(apart[sure])]
        after = _rotation(first[sure], second[near[sure]])
        if np.abs(after - turn).max() < _SAME:
            break
        turn = after
    return turn


def _rotation(first: FloatArray, second: FloatArray) -> FloatArray:
    left, _, right = np.linalg.svd(first.T @ second)
    return np.asarray(left @ right)


def projected_upon(first: FloatArray, second: FloatArray, *, seed: int = 0) -> tuple[FloatArray, FloatArray] | None:
    """Return two tables in one space, where the second has fewer columns, each a sum of columns of the first.

    A single column tells enough: of all directions of the first table, that is looked for whose values are distributed
    as those of the column are (means of waves, by least squares from many starts). Rows are then matched in sorted
    order, and the other columns are solved for.

    Parameters
    ----------
    first, second : arrays of shapes (n, d) and (n, e)
    seed : int
        Draws the starts. Default: 0.

    Returns
    -------
    tuple of two arrays, or None
        None for tables of different length, and where no column is such a direction.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(300, 4)) ** 3
    >>> projected_upon(table, table[:200, :3]) is None
    True
    """
    n, d = first.shape
    points = made_round(first) if len(second) == n and _ROWS * d <= n <= _MOST and d <= _WIDEST else None
    columns = own_scale(second)
    if points is None or not len(columns.T):
        return None
    peaks = np.abs(np.median(columns**2, axis=0) - _NORMAL)
    generator = np.random.default_rng([seed, 85])
    tree = cKDTree(columns)
    usual = float(np.median(tree.query(columns, k=2)[0][:, 1]))
    best: tuple[float, FloatArray] | None = None
    for k in np.argsort(-peaks, kind="stable")[:_COLUMNS]:
        wanted = columns[:, k]
        for _ in range(_STARTS):
            way: FloatArray = np.asarray(generator.normal(size=points.shape[1]))
            values: FloatArray = np.asarray(points @ _waved(points, wanted, way))
            if float(np.sqrt(((np.sort(values) - np.sort(wanted)) ** 2).mean())) > _LYING:
                continue
            there, order = np.argsort(wanted, kind="stable"), np.argsort(values, kind="stable")
            weights = np.asarray(np.linalg.lstsq(points[order], columns[there], rcond=None)[0], dtype=np.float64)
            laid = _nearer(points, columns, tree, weights)
            left = float(np.median(tree.query(laid)[0]))
            best = (left, laid) if best is None or left < best[0] else best
            if left < _SURE * usual:
                return laid, columns
    return None if best is None else (best[1], columns)


def _waves(values: FloatArray) -> Any:
    return np.asarray(np.exp(1j * values[:, None] * _WAVES))


def _waved(points: FloatArray, wanted: FloatArray, way: FloatArray) -> FloatArray:
    """Return the direction, near one, along which waves have the means that they have in a column."""
    told = _waves(wanted).mean(axis=0)

    def both(numbers: Any) -> FloatArray:
        return np.concatenate([numbers.real, numbers.imag])

    def apart(one: FloatArray) -> FloatArray:
        return both(_waves(points @ one).mean(axis=0) - told)

    def slopes(one: FloatArray) -> FloatArray:
        waves = _waves(points @ one)
        return both((1j * _WAVES)[:, None] * (waves.T @ points) / len(points))

    start = way / np.linalg.norm(way)
    return np.asarray(least_squares(apart, start, jac=slopes, method="lm", max_nfev=_TURNS).x)


def _nearer(points: FloatArray, columns: FloatArray, tree: cKDTree, weights: FloatArray) -> FloatArray:
    """Return the first table laid upon the second one, as nearest rows say from turn to turn."""
    for _ in range(_TURNS):
        near = tree.query(points @ weights)[1]
        after = np.linalg.lstsq(points, columns[near], rcond=None)[0]
        if np.abs(after - weights).max() < _SAME:
            break
        weights = after
    return np.asarray(points @ weights)
