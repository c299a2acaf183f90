"""Rows as a file gives them: a batch with the absolute number of its first row; and the names of the columns.

Names are refused when they are missing, double, or written to do harm where the release is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato._arrays import Flags
from sfumato.core.rows import without
from sfumato.core.secret import Hidden
from sfumato.exceptions import DataError, ParameterError, nearest_name
from sfumato.files.names import require_own_names
from sfumato.files.numbers import is_number

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the beginning of a formula
_MOST_COLUMNS = 10_000
_UNNAMED = "unnamed"
_LONGEST = 256


class RawBatch(Hidden):
    """Consecutive rows of a file, before anything is done with them.

    They are read, but not parsed before someone asks for them: whoever has several threads asks on any of them.

    Parameters
    ----------
    rows : polars.DataFrame, or a function that returns one
        Text columns for CSV, typed ones for Parquet and Arrow.
    start : int
        Absolute number of the first row.
    share : float
        How much of the file has been read.
    height : int, optional
        How many rows; must be given with a function.
    text : CellText, optional
        The cells as they are written, for files of text.
    """

    def __init__(
        self,
        rows: pl.DataFrame | Callable[[], pl.DataFrame],
        start: int,
        share: float,
        height: int | None = None,
        text: CellText | None = None,
    ) -> None:
        self._rows, self.start, self.share, self.text = rows, start, share, text
        self.height = height if height is not None else self.frame.height

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The rows."""
        return self._rows if isinstance(self._rows, pl.DataFrame) else self._rows()

    @property
    def stop(self) -> int:
        """Absolute number after the last row."""
        return self.start + self.height

    def at(self, start: int) -> RawBatch:
        """Return the same rows under other numbers."""
        return RawBatch(self._rows, start, self.share, self.height, self.text)

    def without(self, held: NDArray[np.int64]) -> RawBatch:
        """Return the rows that are left when some are held back, numbered anew.

        Parameters
        ----------
        held : array of int, sorted
            Numbers of the rows that are held back.
        """
        left, first = without(held, self.start, self.stop)
        if left is None:
            return self.at(first)
        text = None if self.text is None else _TextLeft(self.text, left)
        return RawBatch(lambda: self.frame.filter(left), first, self.share, int(np.count_nonzero(left)), text)


class CellText(Protocol):
    """How the cells of a batch are written."""

    def decimals(self, columns: Sequence[str]) -> list[tuple[int, int]] | None:
        """Return the fewest and the most decimals of columns of plain numbers; None where that must be asked of cells.

        It holds only for columns that have been read as numbers without a gap.
        """

    def cells(self) -> pl.DataFrame:
        """Return all cells as text."""


@dataclass(frozen=True)
class _TextLeft:
    """The text of the rows that are left of a batch."""

    text: CellText
    left: Flags

    def decimals(self, columns: Sequence[str]) -> list[tuple[int, int]] | None:
        return self.text.decimals(columns)  # of all rows: a place more or less tells nothing of those held back

    def cells(self) -> pl.DataFrame:
        return self.text.cells().filter(self.left)


@dataclass(frozen=True)
class CsvStyle:
    """How a CSV file is written: what comes back in the release."""

    separator: str = ","
    line_end: str = "\n"


class Described(Protocol):
    """What is known of a table before a row is read."""

    @property
    def path(self) -> Path:
        """Where it is; errors begin with it."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""

    @property
    def types(self) -> dict[str, pl.DataType]:
        """The type of each column; empty for CSV, whose cells are text."""

    @property
    def style(self) -> CsvStyle:
        """How the release is written if it is a CSV file."""


class Source(Described, Protocol):
    """A table in one or several files that can be read again and again."""

    def batches(self, columns: Sequence[str] | None = None, numbers: Sequence[str] = ()) -> Iterator[RawBatch]:
        """Read the table once, in order; all columns for None.

        Columns in `numbers` hold plain numbers and empty cells: a text file may parse them at once.
        """


class RowsLeft:
    """A table without the rows that are held back, numbered anew.

    Parameters
    ----------
    source : Source
    held : sequence of int, sorted
        Numbers of the rows that are held back.
    """

    def __init__(self, source: Source, held: Sequence[int]) -> None:
        self._source, self._held = source, np.array(held, dtype=np.int64)
        self.path, self.names, self.types, self.style = source.path, source.names, source.types, source.style

    def batches(self, columns: Sequence[str] | None = None, numbers: Sequence[str] = ()) -> Iterator[RawBatch]:
        """Read the table once; see `Source`."""
        for raw in self._source.batches(columns, numbers):
            yield raw.without(self._held)


def with_first_name(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns, `unnamed` for a first one without any: so pandas and R write numbers of rows.

    Examples
    --------
    >>> with_first_name(["", "age"]), with_first_name(["id", ""])
    (('unnamed', 'age'), ('id', ''))
    """
    lacking = len(names) > 1 and not names[0].strip() and _UNNAMED not in names
    return (_UNNAMED, *names[1:]) if lacking else tuple(names)


def check_headers(names: Sequence[str], what: str, *, sure: bool = False) -> None:
    """Raise unless every column has a harmless name of its own.

    Parameters
    ----------
    what : str
        How errors call the file.
    sure : bool
        Whether these are names for sure; the first line of a text file may be a row.

    Examples
    --------
    >>> check_headers(["age", "=HYPERLINK(1)"], "data.csv")
    Traceback (most recent call last):
    ...
    sfumato.exceptions.DataError: data.csv: the name of column 2 begins like a spreadsheet formula
    hint: rename the column: a name may not begin with = + - @ or a tab
    """
    if len(names) > _MOST_COLUMNS:
        raise DataError(
            f"{what}: {len(names):,} columns are more than the {_MOST_COLUMNS:,} that sfumato takes",
            hint="release fewer columns at a time; is the file transposed?",
        )
    for place, name in enumerate(names, start=1):
        if not name.strip():
            raise DataError(f"{what}: column {place} has no name", hint="give every column a name in the first line")
        if name.startswith(FORMULA_STARTS):
            raise DataError(
                f"{what}: the name of column {place} begins like a spreadsheet formula",
                hint="rename the column: a name may not begin with = + - @ or a tab",
            )
        if len(name) > _LONGEST or any(letter < " " or letter == "\x7f" for letter in name):
            raise DataError(
                f"{what}: the name of column {place} holds control characters or more than {_LONGEST} letters",
                hint="rename the column",
            )
    require_own_names(names, what)
    if not sure and all(is_number(name) for name in names):
        raise DataError(
            f"{what}: the first line holds numbers only, so the column names are missing",
            hint="put a line with the column names first",
        )


def require_columns(wanted: Sequence[str], names: Sequence[str], what: str) -> None:
    """Raise for the first wanted column that does not exist, with the nearest name."""
    there = set(names)
    for name in wanted:
        if name not in there:
            near = nearest_name(name, names)
            listed = f"columns are: {', '.join(names[:20])}{' ...' if len(names) > 20 else ''}"
            raise ParameterError(f"{what}: no column {name!r}", hint=f"{near} {listed}" if near else listed)
