"""Distances and sums whose bits do not depend on the machine.

BLAS, `numpy.linalg` and `exp` give other last bits on other processors, and the library's own sums may change
with its version. Here every sum is a fixed tree of elementwise additions over a fixed grid of rows, so equal
input gives equal output everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.core.numbers import number_table
from sfumato.exceptions import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

# The grid of rows is part of the result: changing it changes last bits.
BLOCK_ROWS = 4096

# Squares of larger values overflow.
_LARGEST = 1e150


def checked_rows(X: ArrayLike, *, name: str = "X") -> NDArray[np.float64]:
    """Return the input as a finite float64 matrix with at least one row and one column.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    name : str
        What to call the input in messages.

    Returns
    -------
    ndarray of shape (n, d)

    Examples
    --------
    >>> checked_rows([[1, 2], [3, 4]]).dtype
    dtype('float64')
    """
    return number_table(X, name, largest=_LARGEST)


def checked_centres(centres: ArrayLike, columns: int, *, name: str = "centres") -> NDArray[np.float64]:
    """Return the centres as a finite float64 matrix that fits rows of `columns` columns.

    Parameters
    ----------
    centres : array-like of shape (k, d)
        Centres.
    columns : int
        The number of columns of the data, d.
    name : str
        What to call the centres in messages.

    Returns
    -------
    ndarray of shape (k, d)

    Examples
    --------
    >>> checked_centres([[0, 0]], 2)
    array([[0., 0.]])
    """
    checked = checked_rows(centres, name=name)
    if checked.shape[1] != columns:
        raise ParameterError(f"{name} have {checked.shape[1]} columns, the rows have {columns}")
    return checked


def column_blocks(X: NDArray[np.float64]) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
    """Yield the rows in blocks of `BLOCK_ROWS`, each turned so that a column is contiguous.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows, in any memory layout.

    Yields
    ------
    start, stop : int
        The block's rows.
    columns : ndarray of shape (d, stop - start)
        The block, transposed.

    Examples
    --------
    >>> [(start, stop, c.shape) for start, stop, c in column_blocks(np.zeros((5000, 2)))]
    [(0, 4096, (2, 4096)), (4096, 5000, (2, 904))]
    """
    for start in range(0, len(X), BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, len(X))
        yield start, stop, np.ascontiguousarray(X[start:stop].T)


def squared_distances(columns: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squared Euclidean distances of every row of a block to every centre, summed column by column.

    Parameters
    ----------
    columns : ndarray of shape (d, b)
        A block of rows from `column_blocks`.
    centres : ndarray of shape (k, d)
        Centres.

    Returns
    -------
    ndarray of shape (k, b)

    Examples
    --------
    >>> squared_distances(np.array([[0.0, 3.0], [0.0, 4.0]]), np.array([[0.0, 0.0]]))
    array([[ 0., 25.]])
    """
    total: NDArray[Any] = np.zeros((len(centres), columns.shape[1]))
    for column, positions in zip(columns, centres.T, strict=True):
        difference = column[None, :] - positions[:, None]
        total += difference * difference
    return total
