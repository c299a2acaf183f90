"""Decimals of a column: the grid that data stand on, and the grid that a release stands on."""

from __future__ import annotations

import numpy as np

from sfumato.attack.engine.knowledge import FloatArray

MOST_DECIMALS = 8


def infer_decimals(values: FloatArray, most: int = MOST_DECIMALS) -> int | None:
    """Return the number of decimals that all values of a column need.

    Parameters
    ----------
    values : array of shape (n,)
        A column.
    most : int, optional
        Largest number tried.

    Returns
    -------
    int or None
        None when the column has more decimals than `most`.

    Examples
    --------
    >>> infer_decimals(np.array([1.25, 3.5])), infer_decimals(np.array([1.0, 3.0])), infer_decimals(np.array([np.pi]))
    (2, 0, None)
    """
    slack = 4 * np.finfo(np.float64).eps * np.maximum(np.abs(values), 1e-300)
    left = values
    for decimals in range(most + 1):
        fits = np.abs(left - np.round(left, decimals)) <= slack[: left.size]
        if fits.all():
            return decimals
        left, slack = left[~fits], slack[: left.size][~fits]
    return None


def rounding_error(values: FloatArray) -> float:
    """Return how far a released value may be from what the method computed.

    Parameters
    ----------
    values : array of shape (n,)
        A released column.

    Returns
    -------
    float
        Half a unit of the last decimal of a rounded column, else a few units of float precision.

    Examples
    --------
    >>> rounding_error(np.array([1.25, 3.5]))
    0.005
    >>> rounding_error(np.array([np.pi, 1e3])) < 1e-11
    True
    """
    exact = 8 * float(np.finfo(np.float64).eps) * float(np.abs(values).max(initial=1e-300))
    decimals = infer_decimals(values)
    if decimals is None:
        return exact
    return max(exact, 0.5 * 10.0**-decimals)


def snap(values: FloatArray, decimals: tuple[int | None, ...] | None) -> FloatArray:
    """Return values rounded to the public decimals of their columns.

    Parameters
    ----------
    values : array of shape (..., d)
        Guessed values.
    decimals : tuple of (int or None), length d, or None
        None leaves a column, or all of them, as they are.

    Returns
    -------
    array of the same shape
        A copy.

    Examples
    --------
    >>> snap(np.array([[1.04, 2.2]]), (1, None))
    array([[1. , 2.2]])
    """
    rounded = np.array(values, dtype=np.float64)
    for column, places in enumerate(decimals or ()):
        if places is not None:
            rounded[..., column] = np.round(rounded[..., column], places)
    return rounded
