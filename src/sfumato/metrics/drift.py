"""How means, variances and correlations of the columns drifted, in standard deviations; rows need not be aligned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.exceptions import DataError, ParameterError
from sfumato.metrics._inputs import as_paired_tables, column_names


@dataclass(frozen=True, slots=True)
class ColumnDrift:
    """Drift of every column's statistics; 0 everywhere means that they are kept.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        (mean(y) - mean(x)) / sd(x), signed.
    variance : ndarray of shape (d,)
        Var(y) / Var(x) - 1, signed; -1 for a released constant.
    correlation : ndarray of shape (d,)
        Largest absolute change of the column's correlation with any other column, in [0, 2].

    Examples
    --------
    >>> ColumnDrift(np.zeros(1), np.zeros(1), np.zeros(1)).mean
    array([0.])
    """

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    correlation: NDArray[np.float64]


def mean_shift(original: Any, released: Any, *, constant_value: float | None = None) -> NDArray[np.float64]:
    """Return how far the mean of each column moved: `|mean(y) - mean(x)| / sd(x)`.

    Parameters
    ----------
    original : array_like or dataframe of shape (n, d)
        The table before.
    released : array_like or dataframe of shape (m, d)
        The table after; the rows may be shuffled, and more or fewer.
    constant_value : float, optional
        Shift of columns that are constant in the original, where there is no standard deviation to
        measure in; None (default) raises DataError and names them.

    Returns
    -------
    ndarray of shape (d,)
        In standard deviations (divisor n) of the original column, 0 or more.

    Examples
    --------
    >>> mean_shift([[0.0], [2.0]], [[3.0], [5.0]])
    array([3.])
    """
    x, y = as_paired_tables(original, released, same_rows=False)
    shift = np.abs(y.mean(axis=0) - x.mean(axis=0))
    return ratio_to_spread(shift, column_spread(x), column_names(original, x.shape[1]), constant_value)


def column_drift(original: Any, released: Any, *, constant_value: float | None = None) -> ColumnDrift:
    """Return the drift of mean, variance and correlations of every column.

    A constant column has correlation 0 with every other one.

    Parameters
    ----------
    original : array_like or dataframe of shape (n, d)
        The table before.
    released : array_like or dataframe of shape (m, d)
        The table after; the rows may be shuffled, and more or fewer.
    constant_value : float, optional
        Drift of mean and variance of columns that are constant in the original; None (default)
        raises DataError and names them.

    Returns
    -------
    ColumnDrift
        Three arrays with one number for each column.

    Examples
    --------
    The second column is turned around: its correlation with the first goes from 1 to -1.

    >>> drift = column_drift([[0.0, 0.0], [2.0, 2.0]], [[0.0, 4.0], [2.0, 0.0]])
    >>> drift.mean, drift.variance, drift.correlation
    (array([0., 1.]), array([0., 3.]), array([2., 2.]))
    """
    x, y = as_paired_tables(original, released, same_rows=False)
    names = column_names(original, x.shape[1])
    spread_x, spread_y = column_spread(x), column_spread(y)
    mean = ratio_to_spread(y.mean(axis=0) - x.mean(axis=0), spread_x, names, constant_value)
    ratio = ratio_to_spread(spread_y, spread_x, names, constant_value)
    with np.errstate(over="ignore"):
        variance = np.where(spread_x == 0, ratio, ratio * ratio - 1.0)
    change = np.abs(_correlations(y, spread_y) - _correlations(x, spread_x))
    np.fill_diagonal(change, 0.0)
    return ColumnDrift(mean=mean, variance=variance, correlation=change.max(axis=1))


def _correlations(table: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = np.where(spread > 0, table - table.mean(axis=0), 0.0)
    scores = centred / np.where(spread > 0, spread, 1.0)
    products: NDArray[np.float64] = scores.T @ scores / table.shape[0]
    return np.clip(products, -1.0, 1.0)


def column_spread(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard deviation of each column (divisor n), exactly 0 only for constant columns.

    Parameters
    ----------
    table : ndarray of shape (n, d)
        Finite numbers.

    Returns
    -------
    ndarray of shape (d,)
        In each column's own unit.

    Examples
    --------
    >>> column_spread(np.array([[0.0, 0.1], [2.0, 0.1]]))
    array([1., 0.])
    """
    lowest = table.min(axis=0)
    width = table.max(axis=0) - lowest
    spread = np.zeros(table.shape[1])
    for j in np.flatnonzero(width > 0):  # column by column: a large table is not doubled
        # Scaled to [0, 1] first: the mean of equal floats may differ from them, and tiny units would underflow.
        spread[j] = width[j] * ((table[:, j] - lowest[j]) / width[j]).std()
    return spread


def ratio_to_spread(
    numerator: NDArray[np.float64],
    spread: NDArray[np.float64],
    names: list[Any],
    constant_value: float | None,
) -> NDArray[np.float64]:
    """Return numerator / spread for each column; a constant column gets the stated value or an error.

    Parameters
    ----------
    numerator : ndarray of shape (d,)
        What is measured in standard deviations.
    spread : ndarray of shape (d,)
        Standard deviations of the original columns.
    names : list
        Names of the columns, for the message.
    constant_value : float or None
        The ratio that constant columns get; None raises DataError.

    Returns
    -------
    ndarray of shape (d,)
        The ratios.

    Examples
    --------
    >>> ratio_to_spread(np.array([1.0, 1.0]), np.array([2.0, 0.0]), ["a", "b"], 0.0)
    array([0.5, 0. ])
    """
    constant = spread == 0
    if constant_value is not None and np.isnan(constant_value):
        raise ParameterError("constant_value must be a number or None, got NaN")
    if constant.any() and constant_value is None:
        listed = ", ".join(repr(name) for name, is_constant in zip(names, constant, strict=True) if is_constant)
        raise DataError(
            f"original: columns {listed} hold one value only, so nothing can be measured in their standard deviation",
            hint="leave these columns out, or pass constant_value=0.0 to count them as unprotected",
        )
    with np.errstate(over="ignore"):  # a ratio beyond 1e308 is infinite, and says so
        ratio = numerator / np.where(constant, 1.0, spread)
    return np.where(constant, 0.0 if constant_value is None else constant_value, ratio)
