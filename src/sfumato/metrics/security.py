"""Variance-based security of GDTM, INA and ANC: how much a column was disturbed, in its own variance.

These scores are blind to inversion: a rotation scores high and is undone by a few known rows. Read
them beside the attacks, never alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.metrics._inputs import as_paired_tables, column_names
from sfumato.metrics.drift import column_spread, ratio_to_spread


def variance_security(original: Any, released: Any, *, constant_value: float | None = None) -> NDArray[np.float64]:
    """Return Sec of each column: Var(x - y) / Var(x).

    A pure translation has Sec 0 by definition (variance ignores shifts): look at `mean_shift` too.

    Parameters
    ----------
    original : array_like or dataframe of shape (n, d)
        The table before.
    released : array_like or dataframe of shape (n, d)
        The same rows after.
    constant_value : float, optional
        Sec of columns that are constant in the original, where the ratio is not defined;
        None (default) raises DataError and names them.

    Returns
    -------
    ndarray of shape (d,)
        Ratios, 0 or more.

    Examples
    --------
    Scaling a column by e gives (1 - e) squared; the figures of GDTM's scaling example:

    >>> ages, salaries = [29, 38, 34, 43, 42, 48], [48, 72, 51, 65, 60, 53]
    >>> original = np.column_stack([ages, salaries])
    >>> variance_security(original, original * [0.94, 1.035]).round(6)
    array([0.0036  , 0.001225])
    """
    x, y = as_paired_tables(original, released)
    spread = column_spread(x)
    ratio = ratio_to_spread(column_spread(x - y), spread, column_names(original, x.shape[1]), constant_value)
    with np.errstate(over="ignore"):  # a ratio beyond 1e308 is infinite, and says so
        return np.where(spread == 0, ratio, ratio * ratio)


def min_variance_security(original: Any, released: Any, *, constant_value: float | None = None) -> float:
    """Return mSec, the Sec of the least protected column.

    Parameters
    ----------
    original : array_like or dataframe of shape (n, d)
        The table before.
    released : array_like or dataframe of shape (n, d)
        The same rows after.
    constant_value : float, optional
        Sec of columns that are constant in the original; None (default) raises DataError.

    Returns
    -------
    float
        A ratio, 0 or more.

    Examples
    --------
    >>> original = np.array([[0.0, 0.0], [2.0, 4.0]])
    >>> round(min_variance_security(original, original * [0.5, 0.9]), 6)
    0.01
    """
    return float(variance_security(original, released, constant_value=constant_value).min())


def anonymization_degree(original: Any, released: Any, *, constant_value: float | None = None) -> float:
    """Return ANC's DA: 100 times the sum of Sec over the columns.

    Parameters
    ----------
    original : array_like or dataframe of shape (n, d)
        The table before.
    released : array_like or dataframe of shape (n, d)
        The same rows after.
    constant_value : float, optional
        Sec of columns that are constant in the original; None (default) raises DataError.

    Returns
    -------
    float
        Percent of a column's variance, summed over columns; 0 or more.

    Examples
    --------
    Sec is 0.25 and 0.01:

    >>> original = np.array([[0.0, 0.0], [2.0, 4.0]])
    >>> round(anonymization_degree(original, original * [0.5, 0.9]), 6)
    26.0
    """
    return 100.0 * float(variance_security(original, released, constant_value=constant_value).sum())
