"""Standard deviations of columns, and ratios to them, with constant columns spelled out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.exceptions import DataError, ParameterError


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
