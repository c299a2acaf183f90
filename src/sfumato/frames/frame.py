"""Dataframes and arrays: numpy, pandas, polars and Arrow in, the same kind out.

A `Frame` is a view of the confidential columns of a user's table as blocks of doubles, and it can be rebuilt
around released columns: other columns, column order, index and types stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats
from sfumato.core.fast import compiled_kernels
from sfumato.core.rows import RowRange, Rows, without
from sfumato.core.secret import Hidden
from sfumato.core.tiles import spans
from sfumato.exceptions import DataError
from sfumato.frames.columns import (
    ColumnChoice,
    as_array,
    as_doubles,
    choose_columns,
    kind_of_dtype,
    kind_of_series,
    require_finite,
    require_good_names,
    type_of,
)

_TURNED_ROWS = 512


@dataclass(frozen=True, repr=False)
class Frame(Hidden):
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
        whole = self.whole()
        if whole is not None and whole.dtype == np.float64:
            fast = compiled_kernels(out.size)
            if fast is not None and whole.flags.c_contiguous:
                fast.turn_rows(whole[start:stop], out)
                return out
            for first, last in spans(stop - start, _TURNED_ROWS):  # the columns of a row share a line of the cache
                out[:, first:last] = whole[start + first : start + last].T
            return out
        for target, column in zip(out, self.columns, strict=True):
            target[...] = column[start:stop]
        return out

    def whole(self) -> NDArray[Any] | None:
        """Return the user's array of numbers if all its columns are confidential, in its order; otherwise None."""
        plain = isinstance(self.native, np.ndarray) and self.native.dtype.kind in "fiub"
        return self.native if plain and self.names == self.all_names else None

    def plain(self, start: int, stop: int) -> Floats | None:
        """Return rows start..stop-1 as they lie in memory, shape (rows, columns), of an array of doubles."""
        whole = self.whole()
        plain = whole is not None and whole.dtype == np.float64 and whole.flags.c_contiguous
        return whole[start:stop] if plain and whole is not None else None

    def blank(self, types: Sequence[Any]) -> list[NDArray[Any]]:
        """Return empty columns for a release; those of an array are columns of one array, which `rebuild` returns.

        Parameters
        ----------
        types : sequence of numpy types
            One for each released column.
        """
        if is_dataframe(self.native) or len(set(types)) > 1:
            return [np.empty(len(self), dtype=one) for one in types]
        return list(np.empty((len(self), len(types)), dtype=types[0]).T)

    def require_finite(self) -> None:
        """Raise for NaN and infinity, with the place of the first."""
        require_finite(self.columns, self.names, "the table", 0)

    def at(self, row_start: int) -> Frame:
        """Return the same rows, numbered from row_start."""
        numbered = RowRange(row_start, row_start + len(self))
        return Frame(self.names, self.kinds, self.columns, numbered, self.all_names, self.native)

    def without(self, held: NDArray[np.int64]) -> Frame:
        """Return the rows that are left when some are held back, numbered anew.

        Parameters
        ----------
        held : array of int, sorted
            Numbers of the rows that are held back.
        """
        assert isinstance(self.rows, RowRange)
        left, first = without(held, self.rows.start, self.rows.stop)
        if left is None:
            return self.at(first)
        native = None if self.native is None else take_rows(self.native, left)
        columns = [column[left] for column in self.columns]
        numbered = RowRange(first, first + int(np.count_nonzero(left)))
        return Frame(self.names, self.kinds, columns, numbered, self.all_names, native)

    def unnamed(self) -> Frame:
        """Return the same rows in a table that has nothing of the user's but the names of its columns.

        No index, no metadata, no other columns: whose rows these were is not to be seen.
        """
        if not is_dataframe(self.native):
            return self
        space = nw.from_native(self.native, eager_only=True).implementation
        bare = nw.from_dict({name: np.zeros(len(self)) for name in self.names}, backend=space)
        return Frame(self.names, self.kinds, self.columns, self.rows, self.names, nw.to_native(bare))

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
            out = np.array(self.native, dtype=np.result_type(*(c.dtype for c in released), type_of(self.native)))
            places = {name: place for place, name in enumerate(self.all_names)}
            for name, column in zip(self.names, released, strict=True):
                out[:, places[name]] = column
            return out
        chosen = set(self.names)
        kept = [i for i, name in enumerate(self.all_names) if name not in chosen]
        whole = released[0].base
        if not kept and whole is not None and whole.shape == (len(self), len(released)):
            return whole  # the columns of `blank`
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
            dropped = set(self.names)
            left = [name for name in frame.columns if name not in dropped]
            clash = sorted(set(names) & set(left))
            if clash:
                raise DataError(
                    f"the released column {clash[0]!r} has the name of a column that stays", hint="rename that column"
                )
            if not left:  # an empty list would choose rows
                return nw.to_native(_frame_of(series))
            frame = frame[left]
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
    """Return a dataframe as one of another library; arrays stay as they are."""
    if not is_dataframe(table):
        return table
    frame = nw.from_native(table, eager_only=True)
    if frame.implementation.value == library:
        return table
    return frame.to_pandas() if library == "pandas" else frame.to_polars()


def as_polars(table: Any) -> Any:
    """Return a dataframe as one of polars; cells of unknown type as text."""
    import polars as pl

    frame = nw.from_native(table, eager_only=True)
    columns, problem = [], ""
    for name in frame.columns:
        cells = frame[name]
        if cells.dtype == nw.Object:  # a library that is asked to guess the type would quote a cell that does not fit
            texts = [None if cell is None or cell != cell else str(cell) for cell in cells.to_list()]  # noqa: PLR0124
            columns.append(pl.Series(name, texts, dtype=pl.String))
            continue
        try:
            columns.append(cells.to_polars().alias(name))
        except Exception:  # noqa: BLE001  # whatever it is, it may quote a cell
            problem = name
    if problem:
        raise DataError(f"column {problem!r} cannot be read", hint="give it one type: numbers, text or dates")
    return pl.DataFrame(columns)


def is_empty(table: Any) -> bool:
    """Tell whether a table has no rows (a batch that a filter emptied)."""
    shape = getattr(table, "shape", None)
    return bool(shape is not None and len(shape) == 2 and shape[0] == 0)


def read_frame(
    table: Any, columns: ColumnChoice = None, *, row_start: int = 0, what: str = "the table", finite: bool = True
) -> Frame:
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
    finite : bool
        Look for NaN and infinity now; False leaves it to a caller who looks at all values anyway.

    Examples
    --------
    >>> frame = read_frame(np.array([[1.0, 2.0], [3.0, 4.0]]), columns=[1])
    >>> frame.names, frame.columns[0].tolist()
    (('x1',), [2.0, 4.0])
    """
    require_good_names(table, what)
    if is_dataframe(table):
        frame = nw.from_native(table, eager_only=True)
        all_names = tuple(str(name) for name in frame.columns)
        chosen = choose_columns(columns, all_names, what)
        native_names = frame.columns
        series = [frame[native_names[i]] for i in chosen]
        kinds = tuple(kind_of_series(one, all_names[i], what) for one, i in zip(series, chosen, strict=True))
        data = [as_doubles(one.to_numpy(), all_names[i], what) for one, i in zip(series, chosen, strict=True)]
        n_rows = frame.shape[0]
    else:
        array = as_array(table, what)
        all_names = tuple(f"x{i}" for i in range(array.shape[1]))
        chosen = choose_columns(columns, all_names, what)
        kind = kind_of_dtype(array.dtype)
        kinds = (kind,) * len(chosen)
        data = [as_doubles(array[:, i], all_names[i], what) for i in chosen]
        n_rows = len(array)
        table = array
    names = tuple(all_names[i] for i in chosen)
    if finite:
        require_finite(data, names, what, row_start)
    return Frame(names, kinds, data, RowRange(row_start, row_start + n_rows), all_names, table)


def all_columns(table: Any) -> tuple[str, ...]:
    """Return the names of a dataframe's columns."""
    return tuple(str(name) for name in nw.from_native(table, eager_only=True).columns)


def numeric_columns(table: Any) -> tuple[str, ...]:
    """Return the names of a table's numeric columns; all of them for arrays.

    Examples
    --------
    >>> numeric_columns(np.zeros((3, 2)))
    ('x0', 'x1')
    """
    if not is_dataframe(table):
        return tuple(f"x{i}" for i in range(as_array(table, "the table").shape[1]))
    require_good_names(table, "the table")
    frame = nw.from_native(table, eager_only=True)
    numeric = {name for name, dtype in frame.schema.items() if dtype.is_numeric() or dtype == nw.Boolean}
    return tuple(str(name) for name in frame.columns if name in numeric)


def numeric_in_both(one: Any, other: Any) -> bool:
    """Tell whether two dataframes share a numeric column, or one of them is none.

    Examples
    --------
    >>> numeric_in_both(np.zeros((3, 2)), np.zeros((3, 1)))
    True
    """
    if not (is_dataframe(one) and is_dataframe(other)):
        return True
    shared = set(all_columns(one)) & set(all_columns(other))
    return not shared or bool(set(numeric_columns(one)) & set(numeric_columns(other)))


def numbers_with_gaps(table: Any, names: Sequence[str]) -> list[Floats]:
    """Return columns of a dataframe as doubles, NaN where a cell is missing.

    Parameters
    ----------
    names : sequence of str
        Numeric columns.
    """
    frame = nw.from_native(table, eager_only=True)
    for name in names:
        if not frame[name].dtype.is_numeric():
            raise DataError(f"column {name!r} holds {frame[name].dtype}, not numbers", hint="read it as numbers")
    columns = [frame[name].cast(nw.Float64()).fill_null(float("nan")).to_numpy() for name in names]
    return [np.asarray(column, dtype=np.float64) for column in columns]


def gaps_and_texts(one: Any, other: Any) -> Iterator[tuple[list[str], list[str]]]:
    """Yield what two dataframes should have in common: the text of each text column, and which numbers are missing."""
    left, right = nw.from_native(one, eager_only=True), nw.from_native(other, eager_only=True)
    shared = set(right.columns)
    for name in left.columns:
        if name not in shared:
            continue
        pair = (left[name], right[name])
        if all(series.dtype in (nw.String, nw.Categorical, nw.Enum) for series in pair):
            before, after = ([str(cell).removeprefix("'") for cell in series.to_list()] for series in pair)
            yield before, after
        elif all(series.dtype.is_numeric() for series in pair) and pair[0].null_count() and pair[1].null_count():
            before, after = ([str(gap) for gap in series.is_null().to_list()] for series in pair)
            yield before, after


def take_rows(table: Any, rows: Flags) -> Any:
    """Return the chosen rows of a table, in their order.

    Parameters
    ----------
    rows : array of shape (n,), bool
    """
    if not is_dataframe(table):
        return as_array(table, "the table")[rows]
    return nw.to_native(nw.from_native(table, eager_only=True).filter(rows.tolist()))
