"""k-anonymity and t-closeness of the columns that are really released."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.exceptions import DataError, ParameterError
from sfumato.metrics._inputs import as_table


def equivalence_class_sizes(released: Any) -> NDArray[np.intp]:
    """Return for every row how many rows share all of its released values, itself included.

    The smallest size is the k of k-anonymity over *these* columns. It says nothing about columns that
    were left out of the table passed here.

    Parameters
    ----------
    released : array_like or dataframe of shape (n, d); shape (n,) is one column
        Numbers, text or both; missing cells are equal to each other.

    Returns
    -------
    ndarray of shape (n,)
        Sizes, 1 or more.

    Examples
    --------
    >>> sizes = equivalence_class_sizes([[1, 2], [1, 2], [3, 4]])
    >>> sizes, int(sizes.min())
    (array([2, 2, 1]), 1)
    """
    codes = _row_codes(released)
    return np.bincount(codes)[codes].astype(np.intp)


def t_closeness(released: Any, sensitive: Any, *, kind: Literal["auto", "numeric", "categorical"] = "auto") -> float:
    """Return the t of t-closeness: the farthest any class's sensitive values are from the table's.

    Rows with equal released values form a class. For numbers the distance is the earth mover's
    distance over the ranks of the m distinct values, with neighbours 1/(m - 1) apart; for categories
    all values are at distance 1, which makes it the total variation distance. A constant sensitive
    column gives 0: there is nothing to learn from a class.

    Parameters
    ----------
    released : array_like or dataframe of shape (n, d)
        The released columns that form the classes.
    sensitive : array_like of shape (n,)
        The sensitive attribute.
    kind : {"auto", "numeric", "categorical"}
        How to read `sensitive`; "auto" takes numbers as ordered and everything else as categories. Default: "auto".

    Returns
    -------
    float
        In [0, 1]; 0 when every class looks like the whole table.

    Examples
    --------
    Nine salaries in three classes. The class with the lowest three lies (2 + 4 + 6 + 5 + 4 + 3 + 2 + 1)
    ninths from the table, over the 8 steps of the ranks:

    >>> classes = [1, 1, 1, 2, 2, 2, 3, 3, 3]
    >>> t_closeness(classes, [3, 4, 5, 6, 11, 8, 7, 9, 10])
    0.375

    Half of the table has a cold, all of the first class:

    >>> t_closeness([1, 1, 2, 2], ["cold", "cold", "flu", "flu"])
    0.5
    """
    if kind not in {"auto", "numeric", "categorical"}:
        raise ParameterError(f"kind must be 'auto', 'numeric' or 'categorical', got {kind!r}")
    classes = _row_codes(released)
    column = np.asarray(sensitive)
    if column.ndim != 1:
        raise DataError(f"sensitive: expected one column, got {column.ndim} dimensions")
    if column.size != classes.size:
        raise DataError(f"sensitive: got {column.size} values for {classes.size} released rows")
    if kind == "numeric" or (kind == "auto" and column.dtype.kind in "iuf"):
        values = _value_codes(as_table(sensitive, "sensitive")[:, 0])
        return float(_ordered_distances(classes, values).max())
    return float(_equal_distances(classes, _value_codes(column)).max())


def _row_codes(released: Any) -> NDArray[np.intp]:
    array = np.asarray(released)
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2 or 0 in array.shape:
        raise DataError(f"released: expected a table with rows and columns, got shape {array.shape}")
    codes = np.zeros(array.shape[0], dtype=np.intp)
    for column in array.T:
        values = _value_codes(column)
        # Renumbered after every column: codes stay below n, their products below n squared.
        codes = np.unique(codes * (int(values.max()) + 1) + values, return_inverse=True)[1].reshape(-1)
    return codes


def _value_codes(column: NDArray[Any]) -> NDArray[np.intp]:
    if column.dtype.kind != "O":
        return np.unique(column, return_inverse=True)[1].reshape(-1)
    seen: dict[Any, int] = {}
    keys = (_MISSING if _is_missing(value) else value for value in column)
    return np.fromiter((seen.setdefault(key, len(seen)) for key in keys), dtype=np.intp, count=column.size)


_MISSING = object()


def _is_missing(value: Any) -> bool:
    # pandas' own markers are known by name: pandas is not imported here
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in {"NAType", "NaTType"}


def _equal_distances(classes: NDArray[np.intp], values: NDArray[np.intp]) -> NDArray[np.float64]:
    n_values = int(values.max()) + 1
    pairs, counts = np.unique(classes * n_values + values, return_counts=True)
    owner = pairs // n_values
    inside = counts / np.bincount(classes)[owner]
    overall = np.bincount(values)[pairs % n_values] / values.size
    # Half the sum of absolute differences is the sum of the positive ones: only values that occur matter.
    distances: NDArray[np.float64] = np.bincount(owner, weights=np.maximum(inside - overall, 0.0)).astype(np.float64)
    return distances


def _ordered_distances(classes: NDArray[np.intp], values: NDArray[np.intp]) -> NDArray[np.float64]:
    # Sum over i of |F_class(i) - F(i)| / (m - 1). F_class is a step function with one step for each row
    # of the class, F is increasing: below and above their crossing each step is a difference of
    # prefix sums. So the cost is n log n, not classes x values.
    last = int(values.max())
    sizes = np.bincount(classes)
    if last == 0:
        return np.zeros(sizes.size)
    # Counts, not shares: whole numbers below 2**53 add up exactly, so equal distributions are at exactly 0.
    counts = np.cumsum(np.bincount(values)).astype(np.float64)[:-1]
    prefix = np.concatenate([[0.0], np.cumsum(counts)])
    order = np.lexsort((values, classes))
    owner, start = classes[order], values[order]
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    size = sizes[owner].astype(np.float64)
    level = (np.arange(owner.size) - first[owner] + 1.0) * values.size
    end = np.append(start[1:], last)
    end[first[1:] - 1] = last
    crossing = np.clip(np.searchsorted(counts, level / size), start, end)
    above = level * (crossing - start) - size * (prefix[crossing] - prefix[start])
    below = size * (prefix[end] - prefix[crossing]) - level * (end - crossing)
    before = sizes * prefix[start[first]]
    distances: NDArray[np.float64] = (before + np.bincount(owner, weights=above + below)) / (sizes * values.size * last)
    return np.clip(distances, 0.0, 1.0)
