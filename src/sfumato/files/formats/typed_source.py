"""Parquet and Arrow files as batches of typed cells; a folder of Parquet files is one table in name order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import polars as pl
import polars.selectors as cs

from sfumato.core.system import address_space
from sfumato.exceptions import DataError
from sfumato.files.formats.arrow_lengths import longest_buffer
from sfumato.files.formats.arrow_schema import StoredColumns, stored_columns
from sfumato.files.formats.scanning import scanned
from sfumato.files.names import require_own_names
from sfumato.files.same_file import SameFile
from sfumato.files.source import CsvStyle, RawBatch, check_headers

_BATCH_CELLS = 1 << 21
_MOST_BYTES = 1 << 36  # of one buffer when it is unpacked
# a damaged file can make the reader panic, which is no ordinary exception; what it says may quote cells
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, OverflowError)


class TypedSource:
    """One Parquet or Arrow file, or a folder of Parquet files.

    Parameters
    ----------
    batch_rows : int, optional
        Rows read at a time; no result depends on it.
    """

    style = CsvStyle()

    def __init__(self, path: Path, kind: str, *, batch_rows: int | None = None) -> None:
        self.path = path
        self.kind = kind
        self.files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not self.files:
            raise DataError(f"{path}: no Parquet file in this folder", hint="their names must end in .parquet")
        schemas, self._rows = [], []
        self._days: set[str] = set()
        self._same = {file: SameFile(file) for file in self.files}
        for file in self.files:
            if file.exists() and not file.is_file():
                raise DataError(f"{file}: not a file", hint="a folder of Parquet files holds nothing else of that name")
            schema, rows = self._look(file)
            schemas.append(schema)
            self._rows.append(rows)
        for file, schema in zip(self.files, schemas, strict=True):
            if schema != schemas[0]:
                raise DataError(
                    f"{file}: other columns or types than {self.files[0].name}",
                    hint="the files of a folder are one table: write them with the same columns",
                )
        self.types = dict(schemas[0])
        self.names = tuple(self.types)
        check_headers(self.names, str(path), sure=True)
        # a power of two: row groups mostly are, and a batch that lies across two of them decodes both
        self._batch = batch_rows or max(4096, 1 << ((_BATCH_CELLS // max(len(self.names), 1)).bit_length() - 1))

    def batches(
        self,
        columns: Sequence[str] | None = None,
        numbers: Sequence[str] = (),  # noqa: ARG002  # they are numbers already
    ) -> Iterator[RawBatch]:
        """Read the table once; see `Source`."""
        asked = set(self.names if columns is None else columns)
        wanted = [name for name in self.names if name in asked]
        total = max(sum(self._rows), 1)
        row = 0
        for file, rows in zip(self.files, self._rows, strict=True):
            for start in range(0, rows, self._batch):
                height = min(self._batch, rows - start)
                read = partial(self._part, file, wanted, start, height)
                yield RawBatch(read, row, (row + height) / total, height)
                row += height

    def _look(self, file: Path) -> tuple[dict[str, pl.DataType], int]:
        try:
            if self.kind != "parquet" and longest_buffer(file) > (address_space() or _MOST_BYTES):
                raise ValueError("a buffer that no memory can hold")
            stored = stored_columns(file, self.kind)
            _require_readable(stored, file)
            scan = scanned(file, self.kind)
            types = dict(scan.collect_schema())
            days = [name for name in stored.days if isinstance(types.get(name), pl.Datetime)]
            types.update((name, pl.Date()) for name in days)
            self._days.update(days)
            return types, int(scan.select(pl.len()).collect().item())
        except DataError:
            raise
        except UNREADABLE:
            pass
        name = "a Parquet" if self.kind == "parquet" else "an Arrow"
        raise DataError(f"{file}: not {name} file that can be read", hint="check the file, and the ending of its name")

    def _part(self, file: Path, wanted: list[str], start: int, height: int) -> pl.DataFrame:
        try:
            part = scanned(file, self.kind).select(cs.by_name(wanted)).slice(start, height).collect()
            days = [name for name in wanted if name in self._days]
            part = part.with_columns(cs.by_name(days).cast(pl.Date)) if days else part
        except UNREADABLE:
            part = None
        self._same[file].require()
        if part is not None and part.height == height:
            return part
        raise DataError(f"{file}: cannot be read at row {start}", hint="the file may be damaged")


def _require_readable(stored: StoredColumns, file: Path) -> None:
    """Raise for what the reader would end with a panic for."""
    for name, what in (stored.unread or {}).items():
        raise DataError(f"{file}: column {name!r} holds {what}, which cannot be read", hint="write it as another type")
    require_own_names(list(stored.names), str(file))
