"""Names, types and cells of a user's table, checked before anything is done with them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.exceptions import CellTypeError, DataError, ParameterError, nearest_name
from sfumato.files.names import require_own_names

ColumnChoice = Sequence[str | int] | None


def require_good_names(table: Any, what: str) -> None:
    """Raise unless every column has a text name of its own."""
    if hasattr(type(table), "collect") and hasattr(type(table), "columns"):
        raise DataError(f"{what}: a lazy table has no rows yet", hint="pass table.collect()")
    names = list(getattr(table, "column_names", getattr(table, "columns", ())))
    if any(not isinstance(name, str) for name in names):
        raise DataError(f"{what}: column names must be text", hint="df.columns = df.columns.astype(str)")
    require_own_names(names, what)


def as_array(table: Any, what: str) -> NDArray[Any]:
    """Return a table that is no dataframe as a two-dimensional array of numbers, or raise."""
    if hasattr(table, "toarray") and hasattr(table, "tocsr"):
        raise DataError(
            f"{what}: sparse matrices are not supported; noise would fill their zeros anyway",
            hint="pass table.toarray() if it fits in memory",
        )
    if hasattr(table, "to_struct_array") and hasattr(table, "num_rows"):
        raise DataError(
            f"{what}: a record batch, whose names an array would lose", hint="pass pyarrow.Table.from_batches([batch])"
        )
    if isinstance(table, nw.Series) or (hasattr(table, "ndim") and table.ndim == 1 and hasattr(table, "name")):
        raise DataError(f"{what}: a single column, not a table", hint="pass a dataframe: column.to_frame()")
    if isinstance(table, np.ma.MaskedArray):
        raise DataError(f"{what}: masked arrays are not supported", hint=_MISSING_HINT)
    if isinstance(table, dict):
        raise DataError(
            f"{what}: a dict is not a table", hint="pass polars.DataFrame(table) or pandas.DataFrame(table)"
        )
    try:
        array = np.asarray(table)
    except ValueError:
        array = None
    if array is None:
        raise DataError(f"{what}: rows of different lengths", hint="every row needs the same number of cells")
    if array.dtype.kind in "mM":
        raise DataError(f"{what}: dates and durations are not numbers", hint="convert them to days or seconds first")
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


def choose_columns(columns: ColumnChoice, names: tuple[str, ...], what: str) -> list[int]:
    """Return the positions of the chosen columns, in the order of the choice; all of them for None."""
    if columns is None:
        return list(range(len(names)))
    if isinstance(columns, str | int) and not isinstance(columns, bool):
        columns = [columns]
    if not isinstance(columns, Sequence | np.ndarray) or isinstance(columns, str):
        raise ParameterError(
            f"columns must be a list of names or positions, got {type(columns).__name__}",
            hint="a set has no order, and the release would depend on it",
        )
    chosen: list[int] = []
    places = {name: place for place, name in enumerate(names)}
    for column in columns:
        if isinstance(column, bool | np.bool_) or not isinstance(column, str | int | np.integer):
            raise ParameterError(
                f"columns must hold names or positions, got {type(column).__name__}",
                hint="a mask is written as positions: numpy.flatnonzero(mask)",
            )
        if isinstance(column, str):
            if column not in places:
                near, listed = nearest_name(column, names), f"columns are: {', '.join(names)}"
                raise ParameterError(f"{what}: no column {column!r}", hint=f"{near} {listed}" if near else listed)
            chosen.append(places[column])
        elif 0 <= int(column) < len(names):
            chosen.append(int(column))
        else:
            raise ParameterError(f"{what}: no column {column}", hint=f"columns are numbered 0 to {len(names) - 1}")
    if len(set(chosen)) < len(chosen):
        raise ParameterError(f"{what}: a column is named twice in columns=")
    return chosen


def kind_of_dtype(dtype: np.dtype[Any]) -> str:
    """Return the kind of an array's columns: integer, float32 or float64."""
    if dtype.kind in "iub":
        return "integer"
    return "float32" if dtype == np.float32 else "float64"


def kind_of_series(series: Any, name: str, what: str) -> str:
    """Return the kind of a dataframe's column, or raise for text and missing values."""
    dtype = series.dtype
    if dtype in (nw.Int128, nw.UInt128):
        raise DataError(f"{what}: column {name!r} holds {dtype}, which is too long", hint="cast it to Int64 or Float64")
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


_LARGEST_WHOLE = 2**53
_CHECKED_ROWS = 8192
_MISSING_HINT = "fill or drop them first; a perturbed missing value would be an invented one"


def _too_long(name: str, what: str) -> DataError:
    return DataError(
        f"{what}: column {name!r} holds integers beyond 2^53, whose digits a double cannot keep",
        hint="drop it if it is an identifier, or use another unit",
    )


def _require_digits(values: NDArray[Any], doubles: Floats, name: str, what: str) -> None:
    """Raise for exact numbers whose digits a double cannot keep."""
    for place in np.flatnonzero(np.abs(doubles) > _LARGEST_WHOLE).tolist():
        if isinstance(values[place], int | Decimal):
            raise _too_long(name, what)


def as_doubles(values: NDArray[Any], name: str, what: str) -> Floats:
    """Return a column as doubles, or raise without quoting a cell."""
    if values.dtype.kind in "iu" and len(values) and max(-int(values.min()), int(values.max())) > _LARGEST_WHOLE:
        raise _too_long(name, what)
    doubles = None
    try:
        doubles = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        row = next((i for i, value in enumerate(values.tolist()) if not _is_number(value)), 0)
    if doubles is not None:
        if values.dtype.kind == "O":  # decimals, and whole numbers of any length
            _require_digits(values, doubles, name, what)
        return doubles
    # raised outside the handler: the error inside it quotes the cell
    raise CellTypeError(
        f"{what}: column {name!r}, row {row}: not a number (a cell's argument must be a string or a real number)",
        hint="drop text columns, or name the numeric ones: columns=[...]",
    )


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def type_of(native: Any) -> np.dtype[Any]:
    """Return the type of an array."""
    return np.asarray(native).dtype


def require_finite(columns: Sequence[Floats], names: Sequence[str], what: str, row_start: int) -> None:
    """Raise for NaN and infinity, with the place of the first."""
    n_rows = len(columns[0]) if columns else 0
    for start in range(0, n_rows, _CHECKED_ROWS):
        # piece by piece: the columns of an array share their cache lines
        part = [column[start : start + _CHECKED_ROWS] for column in columns]
        with np.errstate(over="ignore", invalid="ignore"):
            # a sum of finite numbers is finite unless it is huge, and much cheaper than asking each
            if all(np.isfinite(values.sum()) or np.isfinite(values).all() for values in part):
                continue
        name, column = next(pair for pair in zip(names, columns, strict=True) if not np.isfinite(pair[1]).all())
        bad = ~np.isfinite(column)
        row = int(np.argmax(bad)) + row_start
        count = int(np.count_nonzero(bad))
        kind = "NaN" if np.isnan(column[bad][0]) else "infinity"
        raise DataError(f"{what}: column {name!r} holds {kind} in row {row} ({count} such cells)", hint=_MISSING_HINT)
