"""Where released rows go: CSV text at once, Parquet and Arrow through pieces that are joined at the end."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from sfumato.table.raw import CsvStyle
from sfumato.table.workspace import Workspace

__all__ = ["CsvSink", "Sink", "TypedSink", "open_sink"]


class Sink(Protocol):
    """Takes released rows in their final order."""

    def write(self, frame: pl.DataFrame) -> None:
        """Append rows."""

    def close(self) -> None:
        """Finish the file."""


def open_sink(kind: str, workspace: Workspace, names: Sequence[str], style: CsvStyle) -> Sink:
    """Return the sink for a kind of file (see `file_kind`)."""
    if kind.startswith("csv"):
        return CsvSink(workspace.part, names, style, packed=kind.endswith(".gz"))
    return TypedSink(workspace, kind)


class CsvSink:
    """A CSV file, packed or not."""

    def __init__(self, path: Path, names: Sequence[str], style: CsvStyle, *, packed: bool) -> None:
        self._style = style
        self._plain: Any = path.open("xb")
        # no clock and no file name inside: the same rows give the same bytes
        self._file: Any = gzip.GzipFile("", "wb", fileobj=self._plain, mtime=0) if packed else self._plain
        header = io.StringIO()
        csv.writer(header, delimiter=style.separator, lineterminator=style.line_end).writerow(names)
        self._file.write(header.getvalue().encode())

    def write(self, frame: pl.DataFrame) -> None:
        """Append rows."""
        text = io.BytesIO()
        frame.write_csv(
            text, include_header=False, separator=self._style.separator, line_terminator=self._style.line_end
        )
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
        self._first: pl.DataFrame | None = None

    def write(self, frame: pl.DataFrame) -> None:
        """Append rows."""
        if self._first is None and not self._pieces:
            self._first = frame
            return
        if self._first is not None:
            self._keep(self._first)
            self._first = None
        self._keep(frame)

    def close(self) -> None:
        """Join the pieces."""
        part = self._workspace.part
        if self._first is not None:
            if self._kind == "parquet":
                self._first.write_parquet(part)
            else:
                self._first.write_ipc(part)
            return
        rows = pl.concat([pl.scan_ipc(piece) for piece in self._pieces])
        if self._kind == "parquet":
            rows.sink_parquet(part)
        else:
            rows.sink_ipc(part)

    def _keep(self, frame: pl.DataFrame) -> None:
        piece = self._workspace.folder / f"piece-{len(self._pieces)}"
        frame.write_ipc(piece)
        self._pieces.append(piece)
