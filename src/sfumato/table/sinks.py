"""Where released rows go: CSV lines at once, Parquet and Arrow through pieces that are joined at the end."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from sfumato.table.csv_lines import csv_lines
from sfumato.table.raw import CsvStyle
from sfumato.table.workspace import Workspace, open_private

__all__ = ["CsvSink", "Sink", "TypedSink", "open_sink"]

_PIECE_BYTES = 32 << 20


class Sink(Protocol):
    """Takes released rows in their final order."""

    def pack(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return rows in the form in which they are kept until they are written."""

    def write(self, packed: pl.DataFrame) -> None:
        """Append packed rows."""

    def close(self) -> None:
        """Finish the file."""


def open_sink(
    kind: str, workspace: Workspace, names: Sequence[str], style: CsvStyle, plain: Sequence[str] = ()
) -> Sink:
    """Return the sink for a kind of file.

    Parameters
    ----------
    kind : str
        See `file_kind`.
    workspace : Workspace
    names : sequence of str
        The columns.
    style : CsvStyle
    plain : sequence of str
        Columns that need no quotes in a CSV file.
    """
    if kind.startswith("csv"):
        return CsvSink(workspace.part, names, style, plain, packed=kind.endswith(".gz"))
    return TypedSink(workspace, kind)


class CsvSink:
    """A CSV file, packed or not."""

    def __init__(
        self, path: Path, names: Sequence[str], style: CsvStyle, plain: Sequence[str], *, packed: bool
    ) -> None:
        self._style, self._plain_columns = style, frozenset(plain)
        self._plain: Any = path.open("xb")
        # no clock and no file name inside: the same rows give the same bytes
        self._file: Any = gzip.GzipFile("", "wb", fileobj=self._plain, mtime=0) if packed else self._plain
        header = io.StringIO()
        csv.writer(header, delimiter=style.separator, lineterminator=style.line_end).writerow(names)
        self._file.write(header.getvalue().encode())

    def pack(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return rows as lines."""
        return csv_lines(frame, self._style, tuple(self._plain_columns))

    def write(self, packed: pl.DataFrame) -> None:
        """Append lines."""
        text = io.BytesIO()
        packed.write_csv(text, include_header=False, quote_style="never", line_terminator=self._style.line_end)
        self._file.write(text.getbuffer())

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
        """Return rows as they are."""
        return frame

    def write(self, packed: pl.DataFrame) -> None:
        """Append rows."""
        if sum(frame.estimated_size() for frame in self._held) > _PIECE_BYTES:
            piece = self._workspace.folder / f"piece-{len(self._pieces)}"
            with open_private(piece) as file:
                pl.concat(self._held).write_ipc(file)
            self._pieces.append(piece)
            self._held = []
        self._held.append(packed)

    def close(self) -> None:
        """Join the pieces."""
        part = self._workspace.part
        if not self._held:
            return
        last = pl.concat(self._held)
        if not self._pieces:
            last.write_parquet(part) if self._kind == "parquet" else last.write_ipc(part)
            return
        rows = pl.concat([*(pl.scan_ipc(piece) for piece in self._pieces), last.lazy()])
        rows.sink_parquet(part) if self._kind == "parquet" else rows.sink_ipc(part)
