"""Dataframes and arrays: numpy, pandas, polars and Arrow in, the same kind out.

A `Frame` is a view of the confidential columns of a user's table as blocks of doubles, and it can be rebuilt
around released columns: other columns, column order, index and types stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sfumato.core.rows import RowRange, Rows
from sfumato.exceptions import CellTypeError, DataError, ParameterError

__all__ = ["Frame", "as_library", "is_dataframe", "numeric_columns", "read_frame"]

Floats = NDArray[np.float64]
ColumnChoice = Sequence[str | int] | None


@dataclass(frozen=True)
class Frame:
    """The confidential columns of a table.

    Attributes
    ----------
    names : tuple of str
        Names of the confidential columns; `x0`, `x1`, ... for arrays.
    kinds : tuple of str
        "integer", "float32" or "float64" for each of them.
    columns : list of arrays of shape (n,), float64
    rows : Rows
        Absolute row numbers.
    all_names : tuple of str
        Names of all columns of the table.
    native : object
        The user's table.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    columns: list[Floats]
    rows: Rows
    all_names: tuple[str, ...]
    native: Any

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def integer(self) -> tuple[bool, ...]:
        """Which columns hold integers."""
        return tuple(kind == "integer" for kind in self.kinds)

    def tile(self, start: int, stop: int) -> Floats:
        """Return rows start..stop-1 as a new array of shape (columns, rows)."""
        out = np.empty((len(self.columns), stop - start))
        for target, column in zip(out, self.columns, strict=True):
            target[...] = column[start:stop]
        return out

    def at(self, row_start: int) -> Frame:
        """Return the same rows, numbered from row_start."""
        numbered = RowRange(row_start, row_start + len(self))
        return Frame(self.names, self.kinds, self.columns, numbered, self.all_names, self.native)

    def rebuild(self, released: list[NDArray[Any]], names: Sequence[str] | None = None) -> Any:
        """Return a table of the user's kind with released columns in place of the confidential ones.

        Parameters
        ----------
        released : list of arrays of shape (n,)
        names : sequence of str, optional
            New column names when the number of columns changes (random projection): they replace all of the
            confidential columns, behind the others.
        """
        if is_dataframe(self.native):
            return self._rebuild_dataframe(released, names)
        if names is None and len(self.names) < len(self.all_names):
            out = np.array(self.native, dtype=np.result_type(*(c.dtype for c in released), _numeric(self.native)))
            for name, column in zip(self.names, released, strict=True):
                out[:, self.all_names.index(name)] = column
            return out
        kept = [i for i, name in enumerate(self.all_names) if name not in self.names]
        columns = [np.asarray(self.native)[:, i] for i in kept] + released
        out = np.empty((len(self), len(columns)), dtype=np.result_type(*(c.dtype for c in columns)))
        for i, column in enumerate(columns):
            out[:, i] = column
        return out

    def _rebuild_dataframe(self, released: list[NDArray[Any]], names: Sequence[str] | None) -> Any:
        frame = nw.from_native(self.native, eager_only=True)
        space = frame.implementation
        series = [
            nw.new_series(name, column, backend=space)
            for name, column in zip(self.names if names is None else names, released, strict=True)
        ]
        if space.is_pandas_like():
            index = nw.maybe_get_index(frame)
            series = [nw.maybe_set_index(one, index=index) for one in series]
        if names is not None:
            frame = frame.drop(list(self.names))
            if not frame.columns:
                return nw.to_native(_frame_of(series))
        return nw.to_native(frame.with_columns(*series))


def _frame_of(series: list[Any]) -> Any:
    first, *rest = series
    return first.to_frame().with_columns(*rest) if rest else first.to_frame()


def is_dataframe(table: Any) -> bool:
    """Tell whether narwhals knows the table as an eager dataframe."""
    return not isinstance(nw.from_native(table, eager_only=True, pass_through=True), type(table)) or isinstance(
        table, nw.DataFrame
    )


def as_library(table: Any, library: str) -> Any:
    """Return a dataframe as one of another library; arrays stay as they are.

    Parameters
    ----------
    table : dataframe or array
    library : "pandas" or "polars"
    """
    if not is_dataframe(table):
        return table
    frame = nw.from_native(table, eager_only=True)
    if frame.implementation.value == library:
        return table
    return frame.to_pandas() if library == "pandas" else frame.to_polars()


def read_frame(table: Any, columns: ColumnChoice = None, *, row_start: int = 0, what: str = "the table") -> Frame:
    """Read a table's confidential columns.

    Parameters
    ----------
    table : dataframe (pandas, polars, Arrow) or array of shape (n, d)
    columns : sequence of str or int, optional
        The confidential columns, by name or position; None takes all.
    row_start : int
        Absolute number of the first row.
    what : str
        How errors call the table.

    Returns
    -------
    Frame

    Examples
    --------
    >>> frame = read_frame(np.array([[1.0, 2.0], [3.0, 4.0]]), columns=[1])
    >>> frame.names, frame.columns[0].tolist()
    (('x1',), [2.0, 4.0])
    """
    _require_unique_names(getattr(table, "column_names", getattr(table, "columns", ())), what)
    if is_dataframe(table):
        frame = nw.from_native(table, eager_only=True)
        all_names = tuple(str(name) for name in frame.columns)
        chosen = _choose(columns, all_names, what)
        series = [frame[frame.columns[i]] for i in chosen]
        kinds = tuple(_kind_of_series(one, all_names[i], what) for one, i in zip(series, chosen, strict=True))
        data = [_doubles(one.to_numpy(), all_names[i], what) for one, i in zip(series, chosen, strict=True)]
        n_rows = frame.shape[0]
    else:
        array = _as_array(table, what)
        all_names = tuple(f"x{i}" for i in range(array.shape[1]))
        chosen = _choose(columns, all_names, what)
        kind = _kind_of_dtype(array.dtype)
        kinds = (kind,) * len(chosen)
        data = [_doubles(array[:, i], all_names[i], what) for i in chosen]
        n_rows = len(array)
        table = array
    for name, column in zip((all_names[i] for i in chosen), data, strict=True):
        _require_finite(column, name, what, row_start)
    names = tuple(all_names[i] for i in chosen)
    return Frame(names, kinds, data, RowRange(row_start, row_start + n_rows), all_names, table)


def _require_unique_names(columns: Any, what: str) -> None:
    names = [str(name) for name in columns if isinstance(name, str | int)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"{what}: two columns share the name {twice[0]!r}", hint="rename one of them")


def _as_array(table: Any, what: str) -> NDArray[Any]:
    if hasattr(table, "toarray") and hasattr(table, "tocsr"):
        raise DataError(
            f"{what}: sparse matrices are not supported; noise would fill their zeros anyway",
            hint="pass table.toarray() if it fits in memory",
        )
    if isinstance(table, nw.Series) or (hasattr(table, "ndim") and table.ndim == 1 and hasattr(table, "name")):
        raise DataError(f"{what}: a single column, not a table", hint="pass a dataframe: column.to_frame()")
    array = np.asarray(table)
    if array.ndim != 2:
        found = "scalar array" if array.ndim == 0 else f"{array.ndim}D array"
        raise DataError(
            f"{what}: Expected 2D array, got {found} instead (shape {array.shape})",
            hint="rows are records and columns attributes. Reshape your data: X.reshape(-1, 1) makes one column "
            "of a 1D array",
        )
    if np.iscomplexobj(array):
        raise DataError(f"{what}: Complex data not supported", hint="release real and imaginary parts as two columns")
    return array


def _choose(columns: ColumnChoice, names: tuple[str, ...], what: str) -> list[int]:
    if columns is None:
        return list(range(len(names)))
    if isinstance(columns, str | int):
        columns = [columns]
    chosen: list[int] = []
    for column in columns:
        if isinstance(column, str):
            if column not in names:
                near = get_close_matches(column, names, n=1)
                asked = f"did you mean {near[0]!r}? " if near else ""
                raise ParameterError(f"{what}: no column {column!r}", hint=f"{asked}columns are: {', '.join(names)}")
            chosen.append(names.index(column))
        elif 0 <= int(column) < len(names):
            chosen.append(int(column))
        else:
            raise ParameterError(f"{what}: no column {column}", hint=f"columns are numbered 0 to {len(names) - 1}")
    if len(set(chosen)) < len(chosen):
        raise ParameterError(f"{what}: a column is named twice in columns=")
    return chosen


def _kind_of_dtype(dtype: np.dtype[Any]) -> str:
    if dtype.kind in "iub":
        return "integer"
    return "float32" if dtype == np.float32 else "float64"


def _kind_of_series(series: Any, name: str, what: str) -> str:
    dtype = series.dtype
    if dtype.is_integer() or dtype == nw.Boolean:
        kind = "integer"
    elif dtype.is_numeric():
        kind = "float32" if dtype == nw.Float32 else "float64"
    elif dtype == nw.Object:
        kind = "float64"
    else:
        raise DataError(
            f"{what}: column {name!r} holds {dtype}, not numbers",
            hint="drop it, or leave it as it is by naming the numeric columns: columns=[...]",
        )
    missing = int(series.null_count())
    if missing:
        raise DataError(f"{what}: column {name!r} has {missing} missing values", hint=_MISSING_HINT)
    return kind


_MISSING_HINT = "fill or drop them first; a perturbed missing value would be an invented one"


def _doubles(values: NDArray[Any], name: str, what: str) -> Floats:
    if values.dtype.kind in "iufb":
        return np.asarray(values, dtype=np.float64)
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        row = next((i for i, value in enumerate(values.tolist()) if not _is_number(value)), 0)
        raise CellTypeError(
            f"{what}: column {name!r}, row {row}: not a number (a cell's argument must be a string or a real number)",
            hint="drop text columns, or name the numeric ones: columns=[...]",
        ) from None


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _numeric(native: Any) -> np.dtype[Any]:
    return np.asarray(native).dtype


def _require_finite(column: Floats, name: str, what: str, row_start: int) -> None:
    bad = ~np.isfinite(column)
    if bad.any():
        row = int(np.argmax(bad)) + row_start
        count = int(np.count_nonzero(bad))
        kind = "NaN" if np.isnan(column[bad][0]) else "infinity"
        raise DataError(f"{what}: column {name!r} holds {kind} in row {row} ({count} such cells)", hint=_MISSING_HINT)


def numeric_columns(table: Any) -> tuple[str, ...]:
    """Return the names of a table's numeric columns; all of them for arrays.

    Parameters
    ----------
    table : dataframe or array

    Examples
    --------
    >>> numeric_columns(np.zeros((3, 2)))
    ('x0', 'x1')
    """
    if not is_dataframe(table):
        return tuple(f"x{i}" for i in range(_as_array(table, "the table").shape[1]))
    _require_unique_names(getattr(table, "column_names", getattr(table, "columns", ())), "the table")
    frame = nw.from_native(table, eager_only=True)
    numeric = {name for name, dtype in frame.schema.items() if dtype.is_numeric() or dtype == nw.Boolean}
    return tuple(str(name) for name in frame.columns if name in numeric)
