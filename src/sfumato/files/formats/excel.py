"""Excel workbooks, in and out: one visible sheet with the column names in its first row, and plain values only.

What is read are values: a formula counts as what Excel computed last, an error as an empty cell, a hidden sheet not at
all. What is written holds no formula, link, format or property of the original.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.exceptions import DataError, MissingComponentError
from sfumato.files.source import CsvStyle, RawBatch, check_headers, with_first_name
from sfumato.files.spelled import require_text
from sfumato.files.storage.workspace import Workspace

_MOST_ROWS = 1_048_575  # below the line of column names
_LARGEST_WHOLE = 2**53  # Excel keeps numbers as doubles
_PLAIN = {
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "default_date_format": "yyyy-mm-dd",
}
_NO_NAME = "__UNNAMED__"  # what the reader calls a column without a name


def _library(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise MissingComponentError("Excel files need their readers", hint="pip install 'sfumato[excel]'") from None


class ExcelSource:
    """The one visible sheet of a workbook, read whole: Excel holds a million rows at most."""

    style = CsvStyle()

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows = _read(path)
        self.types = dict(self._rows.schema)
        self.names = tuple(self.types)
        check_headers(self.names, str(path))

    def batches(
        self,
        columns: Sequence[str] | None = None,
        numbers: Sequence[str] = (),  # noqa: ARG002  # they are numbers already
    ) -> Iterator[RawBatch]:
        """Read the table once; see `Source`."""
        asked = set(self.names if columns is None else columns)
        if self._rows.height:
            yield RawBatch(self._rows.select([name for name in self.names if name in asked]), 0, 1.0)


def _read(path: Path) -> pl.DataFrame:
    reader = _library("fastexcel")
    problem = None
    try:
        book = reader.read_excel(path.read_bytes())
        sheets = [book.load_sheet(name, schema_sample_rows=None) for name in book.sheet_names]
        shown = [sheet for sheet in sheets if sheet.visible == "visible"]
        if len(shown) == 1:
            return _whole(shown[0].to_polars(), str(path))
    except (reader.FastExcelError, pl.exceptions.PolarsError, OSError, ValueError) as error:
        problem = type(error).__name__
    # outside the handler, and without the reader's own words: they may quote cells
    if problem is not None:
        raise DataError(f"{path}: not a readable Excel file ({problem})", hint="save it anew as .xlsx, or as CSV")
    raise DataError(
        f"{path}: {len(shown)} visible sheets, and a table is one", hint="leave one sheet visible, or save it as CSV"
    )


def _whole(frame: pl.DataFrame, what: str) -> pl.DataFrame:
    """Return rows whose columns of whole numbers are such: Excel knows doubles only."""
    if frame.columns and frame.columns[0].startswith(_NO_NAME):
        frame = frame.rename({frame.columns[0]: with_first_name(["", *frame.columns[1:]])[0] or _NO_NAME})
    for place, name in enumerate(frame.columns, start=1):
        if name.startswith(_NO_NAME):
            raise DataError(f"{what}: column {place} has no name", hint="give every column a name in the first row")
    done = []
    for cells in frame.get_columns():
        whole = cells.dtype.is_float() and bool((cells.is_null() | ((cells % 1 == 0) & (cells.abs() < 2**53))).all())
        dates = cells.dtype == pl.Datetime and bool((cells.dt.time() == dt.time()).all(ignore_nulls=True))
        done.append(
            cells.cast(pl.Int64) if whole and cells.len() > cells.null_count() else cells.dt.date() if dates else cells
        )
    return pl.DataFrame(done)


class ExcelSink:
    """A workbook with one sheet of plain values; the same rows give the same bytes."""

    def __init__(self, workspace: Workspace, names: Sequence[str]) -> None:
        writer = _library("xlsxwriter")
        self._target = workspace.target
        self._book = writer.Workbook(
            str(workspace.part), {**_PLAIN, "constant_memory": True, "tmpdir": str(workspace.folder)}
        )
        self._book.set_properties({"created": dt.datetime(2000, 1, 1, tzinfo=dt.UTC)})
        self._sheet = self._book.add_worksheet("released")
        self._time = self._book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        self._day = self._book.add_format({"num_format": "yyyy-mm-dd"})
        self._row = 1
        for place, name in enumerate(names):
            self._sheet.write_string(0, place, name)

    def pack(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return rows as they are."""
        require_text(frame.schema, str(self._target))
        return frame

    def encode(self, packed: pl.DataFrame) -> pl.DataFrame:
        """Return rows as they are."""
        return packed

    def write(self, encoded: pl.DataFrame) -> None:
        """Append rows."""
        if self._row + encoded.height > _MOST_ROWS + 1:
            raise DataError(f"{self._target}: more rows than Excel takes", hint="write a CSV or Parquet file")
        names = encoded.columns  # asked once: the library makes a list of all of them each time
        for row in encoded.iter_rows():
            for place, value in enumerate(row):
                self._cell(place, value, names[place])
            self._row += 1

    def _cell(self, place: int, value: Any, name: str) -> None:
        if value is None:
            return
        if isinstance(value, bool):
            self._sheet.write_boolean(self._row, place, value)
        elif isinstance(value, int | float):
            if isinstance(value, int) and abs(value) > _LARGEST_WHOLE:
                raise DataError(
                    f"{self._target}: column {name!r} holds whole numbers beyond 2^53, which Excel would round",
                    hint="drop it, or write a CSV or Parquet file",
                )
            self._sheet.write_number(self._row, place, value)
        elif isinstance(value, dt.datetime):
            self._sheet.write_datetime(self._row, place, value.replace(tzinfo=None), self._time)
        elif isinstance(value, dt.date):
            self._sheet.write_datetime(self._row, place, value, self._day)
        else:
            self._sheet.write_string(self._row, place, str(value))

    def close(self) -> None:
        """Finish the file."""
        problem = None
        try:
            self._book.close()
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001  # the library puts errors of the disk into one of its own
            problem = next((one for one in error.args if isinstance(one, OSError)), error)
        if problem is not None:
            raise problem
