"""Tables of numbers and labels of rows, checked in one place; no error says a word of what stands in the cells."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.exceptions import DataError, ParameterError


def number_table(
    values: Any, name: str, *, finite: bool = True, largest: float = np.inf, one_column: bool = False
) -> NDArray[np.float64]:
    """Return a table as a two-dimensional array of doubles, or say what is wrong with it.

    Parameters
    ----------
    values : array-like or dataframe of shape (n, d)
        The table; it is not copied if it is an array of doubles already.
    name : str
        How errors call it.
    finite : bool
        Whether missing and infinite cells are refused. Default: True.
    largest : float
        The largest size of a number; squares of larger ones overflow. Default: no limit.
    one_column : bool
        Whether shape (n,) is a table of one column. Default: False.

    Returns
    -------
    array of shape (n, d)

    Examples
    --------
    >>> number_table([[1, 2], [3, 4]], "original")
    array([[1., 2.],
           [3., 4.]])
    >>> number_table([[1, "Alice"]], "original")
    Traceback (most recent call last):
    ...
    sfumato.exceptions.DataError: original must hold numbers only: some cells are not numbers
    hint: leave out text columns, fill missing cells
    """
    if np.ma.is_masked(values):
        raise DataError(f"{name}: some cells are masked", hint="fill or drop the missing cells first")
    # errors are raised outside the handlers: those inside quote a cell
    array, table = None, None
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        array = None
    if array is None:
        raise DataError(f"{name}: rows of different lengths", hint="every row needs the same number of cells")
    if array.ndim == 1 and one_column:
        array = array.reshape(-1, 1)
    if array.ndim != 2 or 0 in array.shape:
        empty = "the table is empty: " if array.ndim == 2 else ""
        raise DataError(
            f"{name}: {empty}expected a table of at least one row and one column, got shape {array.shape}",
            hint="rows are records, columns are attributes",
        )
    try:
        table = array.astype(np.float64, copy=False) if array.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        table = None
    if table is None:
        what = "some cells are not numbers" if array.dtype.kind in "OUST" else f"got cells of type {array.dtype}"
        raise DataError(f"{name} must hold numbers only: {what}", hint="leave out text columns, fill missing cells")
    if finite and not np.isfinite(table).all():
        bad = ~np.isfinite(table)
        row, column = (int(place) for place in np.argwhere(bad)[0])
        called = _column_name(values, column)
        raise DataError(
            f"{name}: {int(bad.sum())} cells are missing or infinite, the first in row {row}, column {called!r}",
            hint="fill or drop them first, in all tables",
        )
    if np.isfinite(largest) and bool((np.abs(table) > largest).any()):
        raise DataError(f"{name}: numbers above {largest:g} in size cannot be squared", hint="change the unit")
    return table


def label_codes(labels: Any, name: str) -> NDArray[np.intp]:
    """Return cluster labels as the numbers 0..k-1, in the order of the sorted labels.

    Numbers that no row carries are not clusters: an empty cluster leaves no trace. A label for
    noise (-1, say) is a cluster like any other; leave those rows out before if that is not meant.

    Parameters
    ----------
    labels : array_like of shape (n,)
        Integers, booleans, whole floats or strings.
    name : str
        What the labels are called in messages.

    Returns
    -------
    ndarray of shape (n,)
        Codes without gaps.

    Examples
    --------
    >>> label_codes(["b", "a", "b"], "before")
    array([1, 0, 1])
    """
    array = np.asarray(labels)
    if array.ndim != 1:
        raise DataError(f"{name}: expected one label for each row, got {array.ndim} dimensions")
    if array.size == 0:
        raise DataError(f"{name}: there are no labels")
    if np.ma.is_masked(labels):
        raise DataError(f"{name}: some labels are masked", hint="every row needs a label")
    if array.dtype.kind in "OT":
        # `tolist` would turn a mixture of 1 and "1" into one cluster without a word
        if len({isinstance(label, str) for label in array}) > 1:
            raise DataError(f"{name}: labels mix strings with other values", hint="every row needs a label of one kind")
        array = np.array(array.tolist())
    whole = array.dtype.kind == "f" and bool(np.all(np.isfinite(array)) and np.all(array == np.round(array)))
    if not whole and array.dtype.kind not in "biuUS":
        raise DataError(
            f"{name}: labels must be whole numbers or strings without gaps, got type {array.dtype}",
            hint="every row needs a label of one kind",
        )
    return np.unique(array, return_inverse=True)[1].reshape(-1)


def _column_name(values: Any, column: int) -> Any:
    names = getattr(values, "columns", None)
    return column if names is None else list(names)[column]


def whole_number(value: Any, name: str, *, low: int) -> int:
    """Return an integer argument, or raise."""
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= low:
        return int(value)
    raise ParameterError(f"{name} must be {low} or more (an integer), got {value!r}")


def beyond_chance(equal: int, values: Floats) -> int:
    """Return how many of a column's cells are equal beyond what two rows drawn at random have in common.

    Of a column of few values many cells come out as they went in whatever is done to them.

    Parameters
    ----------
    equal : int
        Cells that came out as they went in.
    values : array of shape (n,)
        The cells.

    Examples
    --------
    >>> twos = np.arange(100.0) % 2
    >>> beyond_chance(80, np.arange(100.0)), beyond_chance(80, twos), beyond_chance(50, twos)
    (80, 60, 0)
    """
    if not len(values):
        return 0
    _, counts = np.unique(values, return_counts=True)
    share, chance = equal / len(values), float(((counts / len(values)) ** 2).sum())
    return 0 if chance >= 1.0 else max(0, round(len(values) * (share - chance) / (1.0 - chance)))


def round_range(span: float) -> float:
    """Return a range rounded up to one digit, which says little of the people at its ends; 1 for no range at all.

    Examples
    --------
    >>> round_range(1234.5), round_range(0.3), round_range(0.0)
    (2000.0, 0.3, 1.0)
    """
    if not span > 0:
        return 1.0
    mantissa, power = f"{span:.12e}".split("e")
    digit = -int(-float(mantissa) // 1)
    return float(f"{digit}e{power}")
