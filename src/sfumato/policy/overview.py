"""A first look at a table that may be larger than memory: its columns, and a keyed sample of its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.keys import Key
from sfumato.core.rows import RowRange
from sfumato.core.secret import Hidden
from sfumato.exceptions import DataError
from sfumato.files.source import Source
from sfumato.files.spelled import can_be_counted

_NUMERIC = {"integer", "number"}


@dataclass(frozen=True)
class ColumnOverview:
    """What is told of a column; never a value of it.

    Attributes
    ----------
    name : str
    kind : str
        "integer", "number", "flag", "date" or "text", over all rows.
    missing : int
        Missing cells in the whole table.
    sampled, distinct : int
        Cells in the sample that are not missing, and different values among them.
    odd : str
        Where text stands among numbers; "" when it does not.
    """

    name: str
    kind: str
    missing: int
    sampled: int
    distinct: int
    odd: str = ""

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers and nothing else."""
        return self.kind in _NUMERIC


@dataclass(frozen=True, repr=False)
class Overview(Hidden):
    """A table in short.

    Attributes
    ----------
    n_rows : int
    columns : tuple of ColumnOverview
    sample : polars.DataFrame
        Random rows, chosen by the key, in the order of the table; columns of numbers are typed.
    rows : array of shape (sample,)
        Their absolute numbers.
    """

    n_rows: int
    columns: tuple[ColumnOverview, ...]
    sample: pl.DataFrame
    rows: NDArray[np.int64]


@dataclass
class _Column:
    """What has been seen of a column so far."""

    missing: int = 0
    wrong: int = 0
    first_wrong: int = -1
    numbers: int = field(default=0)

    def look(self, cells: pl.Series, start: int) -> None:
        """Count missing cells, numbers and what is neither."""
        if cells.dtype != pl.String:
            self.missing += cells.null_count() + (int(cells.is_nan().sum()) if cells.dtype.is_float() else 0)
            return
        empty = cells.is_null() | (cells.str.strip_chars() == "").fill_null(value=False)
        self.missing += int(empty.sum())
        if self.wrong > self.numbers:
            return  # text, and it stays text
        values = cells.cast(pl.Float64, strict=False)
        if values.null_count() > int(empty.sum()):
            values = cells.str.strip_chars().cast(pl.Float64, strict=False)
        wrong = ~empty & ~values.is_finite().fill_null(value=False)
        count = int(wrong.sum())
        if count and self.first_wrong < 0:
            self.first_wrong = start + (wrong.arg_max() or 0)
        self.wrong += count
        self.numbers += len(cells) - int(empty.sum()) - count

    @property
    def odd(self) -> str:
        if not 0 < self.wrong <= self.numbers:
            return ""
        return f"{self.wrong:,} of its cells are not numbers, the first in row {self.first_wrong + 1:,}"


def overview(
    source: Source, key: Key, size: int = 20_000, on_batch: Callable[[int, float], None] | None = None
) -> Overview:
    """Read a table once, and keep a random sample: the rows with the smallest words of the key.

    Parameters
    ----------
    key : Key
        Decides which rows are sampled.
    size : int
        Rows to keep.
    on_batch : callable, optional
        Called with (rows read, share of the file read).
    """
    subkey = key.derive("preview sample")
    seen = {name: _Column() for name in source.names}
    kept: pl.DataFrame | None = None
    words: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
    rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)
    n_rows = 0
    for batch in source.batches():
        n_rows = batch.stop
        for name, column in seen.items():
            column.look(batch.frame[name], batch.start)
        drawn = RowRange(batch.start, batch.stop).words(subkey)
        few = _smallest(drawn, size)
        kept = batch.frame[few] if kept is None else pl.concat([kept, batch.frame[few]])
        words, rows = np.concatenate([words, drawn[few]]), np.concatenate([rows, batch.start + few])
        if len(words) > 4 * size:
            few = _smallest(words, size)
            kept, words, rows = kept[few], words[few], rows[few]
        if on_batch is not None:
            on_batch(n_rows, batch.share)
    if kept is None or n_rows == 0:
        raise DataError(f"{source.path}: no rows", hint="a table has a line of column names and at least two rows")
    few = _smallest(words, size)
    sample = pl.DataFrame([_typed(kept[name][few], column) for name, column in seen.items()])
    columns = tuple(_look_at(sample[name], column) for name, column in seen.items())
    return Overview(n_rows, columns, sample, rows[few])


def _smallest(words: NDArray[np.uint64], size: int) -> NDArray[np.int64]:
    """Return the positions of the smallest words, in order of position."""
    if len(words) <= size:
        return np.arange(len(words))
    return np.sort(np.argpartition(words, size)[:size])


def _typed(cells: pl.Series, column: _Column) -> pl.Series:
    if cells.dtype != pl.String:
        return cells.fill_nan(None) if cells.dtype.is_float() else cells
    if column.wrong or not column.numbers:
        return cells
    text = cells.str.strip_chars()
    whole = text.cast(pl.Int64, strict=False)
    values = text.cast(pl.Float64, strict=False)
    return whole if whole.null_count() == values.null_count() else values


def _look_at(cells: pl.Series, column: _Column) -> ColumnOverview:
    held = cells.drop_nulls()
    return ColumnOverview(
        cells.name, kind_of_type(cells.dtype), column.missing, len(held), distinct_of(held), column.odd
    )


def distinct_of(cells: pl.Series) -> int:
    """Return how many different values some cells hold; as many as there are where that cannot be told."""
    return cells.n_unique() if len(cells) and can_be_counted(cells.dtype) else len(cells)


def kind_of_type(dtype: pl.DataType) -> str:
    """Return what cells of a type are: "integer", "number", "flag", "date" or "text"."""
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    if dtype == pl.Boolean:
        return "flag"
    return "date" if dtype.is_temporal() else "text"


def complete_columns(table: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return numeric columns with missing cells filled by the median, the way a release fits on them.

    Examples
    --------
    >>> complete_columns(pl.DataFrame({"age": [30, None, 40]}), ["age"])["age"].to_list()
    [30, 35, 40]
    """
    filled = []
    for name in names:
        column = table[name]
        held = column.drop_nulls().to_numpy().astype(np.float64)
        if not len(held):
            raise DataError(f"column {name!r} has no values", hint="leave it out, or keep it as it is")
        if len(held) < len(column):
            middle = float(np.median(held))
            column = column.fill_null(round(middle) if column.dtype.is_integer() else middle)
        filled.append(column)
    return pl.DataFrame(filled)
