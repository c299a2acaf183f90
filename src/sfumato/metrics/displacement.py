"""How far the released cells and rows lie from the original ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.exceptions import ParameterError
from sfumato.metrics._inputs import as_paired_tables
from sfumato.metrics.drift import column_spread


def mean_squared_error(original: Any, released: Any) -> float:
    """Return the mean squared difference per cell: sum of (y - x) squared over n d.

    Parameters
    ----------
    original : array_like or dataframe of shape (n, d)
        The table before.
    released : array_like or dataframe of shape (n, d)
        The same rows after.

    Returns
    -------
    float
        In squared units of the cells, 0 or more.

    Examples
    --------
    >>> mean_squared_error([[0, 0], [0, 0]], [[1, 2], [3, 4]])
    7.5
    """
    x, y = as_paired_tables(original, released)
    return float(np.mean(np.square(y - x)))


def privacy_protection(original: Any, released: Any) -> float:
    """Return PPD, the mean Euclidean distance between a row and its released version.

    Parameters
    ----------
    original : array_like or dataframe of shape (n, d)
        The table before, in raw units.
    released : array_like or dataframe of shape (n, d)
        The same rows after.

    Returns
    -------
    float
        In the units of the columns, 0 or more.

    Examples
    --------
    Distances 5 and 1:

    >>> privacy_protection([[0, 0], [0, 0]], [[3, 4], [0, 1]])
    3.0
    """
    x, y = as_paired_tables(original, released)
    return float(np.mean(np.sqrt(np.sum(np.square(y - x), axis=1))))


def hiding_failure(original: Any, released: Any, *, tolerance: float = 0.0) -> float:
    """Return HF, the share of rows that were released unchanged in every column.

    Parameters
    ----------
    original : array_like or dataframe of shape (n, d)
        The table before.
    released : array_like or dataframe of shape (n, d)
        The same rows after, as published (after rounding).
    tolerance : float
        Cells that differ by no more than this count as unchanged; 0 compares exactly. Default: 0.0.

    Returns
    -------
    float
        A share in [0, 1].

    Examples
    --------
    The first row is published as it is, the second in one column only:

    >>> hiding_failure([[1, 2], [3, 4]], [[1, 2], [3, 5]])
    0.5
    """
    x, y = as_paired_tables(original, released)
    allowed = _not_negative(tolerance, "tolerance")
    return float(np.mean(np.all(np.abs(y - x) <= allowed, axis=1)))


def interval_disclosure(original: Any, released: Any, *, width: float = 0.05) -> float:
    """Return the share of cells whose original lies close to the released value.

    Close means `|x - y| <= width * sd(x)`, with the standard deviation (divisor n) of the original
    column. A constant column has sd 0: its cells are disclosed when they are equal.

    Parameters
    ----------
    original : array_like or dataframe of shape (n, d)
        The table before.
    released : array_like or dataframe of shape (n, d)
        The same rows after.
    width : float
        Half-width of the interval in standard deviations; 0.05 is what the attacks call a hit. Default: 0.05.

    Returns
    -------
    float
        A share in [0, 1]: the mean over all cells.

    Examples
    --------
    The column's standard deviation is 1, so half-width is 0.05; one cell of two is that close:

    >>> interval_disclosure([[0.0], [2.0]], [[0.04], [2.1]])
    0.5
    """
    return float(np.mean(interval_disclosure_by_column(original, released, width=width)))


def interval_disclosure_by_column(original: Any, released: Any, *, width: float = 0.05) -> NDArray[np.float64]:
    """Return the share of closely released cells in each column, see `interval_disclosure`.

    Parameters
    ----------
    original : array_like or dataframe of shape (n, d)
        The table before.
    released : array_like or dataframe of shape (n, d)
        The same rows after.
    width : float
        Half-width of the interval in standard deviations of the original column. Default: 0.05.

    Returns
    -------
    ndarray of shape (d,)
        Shares in [0, 1].

    Examples
    --------
    >>> interval_disclosure_by_column([[0.0, 5.0], [2.0, 5.0]], [[0.04, 5.0], [2.1, 5.0]])
    array([0.5, 1. ])
    """
    x, y = as_paired_tables(original, released)
    half_width = _not_negative(width, "width") * column_spread(x)
    shares: NDArray[np.float64] = np.mean(np.abs(y - x) <= half_width, axis=0)
    return shares


def _not_negative(value: float, name: str) -> float:
    number = float(value)
    if not (np.isfinite(number) and number >= 0):
        raise ParameterError(f"{name} must be a finite number, 0 or more, got {value!r}")
    return number
