"""What a metric accepts: tables, labels and centres, checked once and turned into plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.numbers import label_codes, number_table
from sfumato.exceptions import DataError

# Squares and their sums must stay finite in float64.
LARGEST_VALUE = 1e150


def as_table(values: Any, name: str) -> NDArray[np.float64]:
    """Return a table as a 2-d float array, or say what is wrong with it.

    Parameters
    ----------
    values : array_like or dataframe of shape (n, d); shape (n,) is one column
        The table.
    name : str
        What the table is called in messages.

    Returns
    -------
    ndarray of shape (n, d)
        Finite numbers.

    Examples
    --------
    >>> as_table([[1, 2], [3, 4]], "original")
    array([[1., 2.],
           [3., 4.]])
    """
    return number_table(values, name, largest=LARGEST_VALUE, one_column=True)


def as_paired_tables(
    original: Any, released: Any, *, same_rows: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return two tables with the same columns and, unless told otherwise, the same number of rows.

    Parameters
    ----------
    original : array_like or dataframe of shape (n, d)
        The table before.
    released : array_like or dataframe of shape (m, d)
        The table after; columns are compared by position, so named columns must agree.
    same_rows : bool
        Whether row i of one belongs to row i of the other.

    Returns
    -------
    tuple of ndarray
        Both tables as finite float arrays.

    Examples
    --------
    >>> x, y = as_paired_tables([[1, 2]], [[3, 4]])
    >>> y - x
    array([[2., 2.]])
    """
    x, y = as_table(original, "original"), as_table(released, "released")
    if x.shape[1] != y.shape[1]:
        raise DataError(f"original has {x.shape[1]} columns, released has {y.shape[1]}: they must be the same columns")
    if hasattr(original, "columns") and hasattr(released, "columns"):
        before, after = column_names(original, x.shape[1]), column_names(released, y.shape[1])
        if before != after:
            raise DataError(
                "original and released name their columns differently or in another order",
                hint="select the same columns in the same order from both tables",
            )
    if same_rows and x.shape[0] != y.shape[0]:
        raise DataError(
            f"original has {x.shape[0]} rows, released has {y.shape[0]}: row i must be the same record in both",
            hint="align the release with the original through its key and receipt",
        )
    return x, y


def column_names(values: Any, n_columns: int) -> list[Any]:
    """Return the names of a dataframe's columns, or 0, 1, ... for anything else.

    Parameters
    ----------
    values : array_like or dataframe
        The table as the caller gave it.
    n_columns : int
        How many columns it has.

    Returns
    -------
    list
        One name for each column.

    Examples
    --------
    >>> column_names([[1, 2]], 2)
    [0, 1]
    """
    columns = getattr(values, "columns", None)
    return list(range(n_columns)) if columns is None else list(columns)


def as_paired_codes(before: Any, after: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the codes of two labellings of the same rows.

    Parameters
    ----------
    before, after : array_like of shape (n,)
        Labels; the two may have different numbers of clusters and different kinds of labels.

    Examples
    --------
    >>> as_paired_codes([5, 5, 7], ["x", "y", "y"])
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    a, b = label_codes(before, "before"), label_codes(after, "after")
    if a.size != b.size:
        raise DataError(f"before has {a.size} labels, after has {b.size}: both must label the same rows")
    return a, b


def as_codes_for(table: NDArray[np.float64], labels: Any) -> tuple[NDArray[np.intp], int]:
    """Return the codes of a clustering of a table, and the number of clusters (at least two).

    Parameters
    ----------
    table : ndarray of shape (n, d)
        The clustered rows.
    labels : array_like of shape (n,)
        Their labels.

    Returns
    -------
    tuple of ndarray and int
        Codes and number of clusters.

    Examples
    --------
    >>> as_codes_for(np.zeros((3, 1)), [4, 9, 4])
    (array([0, 1, 0]), 2)
    """
    codes = label_codes(labels, "labels")
    if codes.size != table.shape[0]:
        raise DataError(f"labels: got {codes.size} labels for {table.shape[0]} rows")
    n_clusters = int(codes.max()) + 1
    if n_clusters < 2:
        raise DataError("labels: all rows are in one cluster, at least two are needed to compare clusters")
    return codes, n_clusters
