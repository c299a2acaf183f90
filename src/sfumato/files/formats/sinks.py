"""Where released rows go: CSV lines at once, Parquet and Arrow through pieces that are joined at the end."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from sfumato.files.formats.excel import ExcelSink
from sfumato.files.formats.plain import BATCH_ROWS, PLAIN_LAYOUT, plain_rows
from sfumato.files.formats.scanning import scanned
from sfumato.files.source import CsvStyle
from sfumato.files.spelled import require_text
from sfumato.files.storage.workspace import Workspace, open_private

_PIECE_BYTES = 32 << 20


class Sink(Protocol):
    """Takes released rows in their final order."""

    def pack(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return rows in the form in which they are kept until they are written."""

    def encode(self, packed: pl.DataFrame) -> Any:
        """Return packed rows as they are written; any thread may do it."""

    def write(self, encoded: Any) -> None:
        """Append encoded rows."""

    def close(self) -> None:
        """Finish the file."""


def open_sink(
    kind: str, workspace: Workspace, names: Sequence[str], style: CsvStyle, numbers: Collection[str] = ()
) -> Sink:
    """Return the sink for a kind of file.

    Parameters
    ----------
    kind : str
        See `file_kind`.
    names : sequence of str
        The columns.
    numbers : collection of str
        Columns that come as numbers and are written to a CSV file as they are.
    """
    if kind.startswith("csv"):
        return CsvSink(workspace, names, style, numbers, packed=kind.endswith(".gz"))
    if kind == "excel":
        return ExcelSink(workspace, names)
    return TypedSink(workspace, kind)


class CsvSink:
    """A CSV file, packed or not."""

    def __init__(
        self, workspace: Workspace, names: Sequence[str], style: CsvStyle, numbers: Collection[str], *, packed: bool
    ) -> None:
        self._style, self._numbers = style, frozenset(numbers)
        self._target = workspace.target
        self._plain: Any = workspace.part.open("xb")
        # no clock and no file name inside: the same rows give the same bytes
        self._file: Any = gzip.GzipFile("", "wb", fileobj=self._plain, mtime=0) if packed else self._plain
        header = io.StringIO()
        csv.writer(header, delimiter=style.separator, lineterminator=style.line_end).writerow(names)
        self._file.write(header.getvalue().encode())

    def pack(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return rows as text and numbers."""
        require_text(frame.schema, str(self._target))
        return csv_cells(frame, self._numbers)

    def encode(self, packed: pl.DataFrame) -> memoryview:
        """Return lines; a missing cell is empty, an empty text is "", so that it stays one.

        In a file of one column a missing cell is "", too: most readers skip empty lines, and would lose the row.
        """
        text = io.BytesIO()
        packed.write_csv(
            text,
            include_header=False,
            quote_style="necessary",
            separator=self._style.separator,
            line_terminator=self._style.line_end,
            null_value='""' if packed.width == 1 else None,
        )
        return text.getbuffer()

    def write(self, encoded: memoryview) -> None:
        """Append lines."""
        self._file.write(encoded)

    def close(self) -> None:
        """Finish the file."""
        if self._file is not self._plain:
            self._file.close()
        self._plain.close()


class TypedSink:
    """A Parquet or Arrow file: one piece is written as it is, several are joined by a stream."""

    def __init__(self, workspace: Workspace, kind: str) -> None:
        self._workspace, self._kind = workspace, kind
        self._pieces: list[Path] = []
        self._held: list[pl.DataFrame] = []

    def pack(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return rows without anything under their missing cells."""
        return plain_rows(frame)

    def encode(self, packed: pl.DataFrame) -> pl.DataFrame:
        """Return rows as they are."""
        return packed

    def write(self, encoded: pl.DataFrame) -> None:
        """Append rows."""
        if sum(frame.estimated_size() for frame in self._held) > _PIECE_BYTES:
            piece = self._workspace.folder / f"piece-{len(self._pieces)}"
            with open_private(piece) as file:
                pl.concat(self._held).write_ipc(file, compat_level=PLAIN_LAYOUT)
            self._pieces.append(piece)
            self._held = []
        self._held.append(encoded)

    def close(self) -> None:
        """Join the pieces."""
        if not self._held:
            return
        part = self._workspace.part
        last = pl.concat(self._held)
        if self._pieces:
            rows = pl.concat([*(scanned(piece, "arrow") for piece in self._pieces), last.lazy()])
            if self._kind == "parquet":
                rows.sink_parquet(part, row_group_size=BATCH_ROWS)
            else:
                rows.sink_ipc(part, compat_level=PLAIN_LAYOUT, record_batch_size=BATCH_ROWS)
        elif self._kind == "parquet":
            last.write_parquet(part, row_group_size=BATCH_ROWS)
        else:
            last.write_ipc(part, compat_level=PLAIN_LAYOUT, record_batch_size=BATCH_ROWS)


def csv_cells(frame: pl.DataFrame, numbers: Collection[str] = ()) -> pl.DataFrame:
    """Return rows whose cells are text, as the writer of CSV files writes them alone.

    Parameters
    ----------
    numbers : collection of str
        Columns that stay numbers: whole ones, and doubles that are written without an exponent. They are smaller and
        faster to sort, and become text when the file is written.

    Examples
    --------
    >>> csv_cells(pl.DataFrame({"a": [True, None], "b": [1, 2]}), ["b"]).to_dict(as_series=False)
    {'a': ['true', None], 'b': [1, 2]}
    """
    kept = frozenset(numbers)
    return frame.with_columns(
        _text(cells) for cells in frame.get_columns() if cells.name not in kept and cells.dtype != pl.String
    )


def _text(cells: pl.Series) -> pl.Series:
    if _casts(cells.dtype):
        return cells.cast(pl.String)
    # one column at a time: the writer knows how every type is written
    raw = cells.to_frame().write_csv(include_header=False, quote_style="necessary", null_value="")
    return pl.read_csv(raw.encode(), has_header=False, schema={cells.name: pl.String}).to_series()


def _casts(dtype: pl.DataType) -> bool:
    return dtype.is_integer() or isinstance(dtype, pl.Categorical | pl.Enum | pl.Decimal)
