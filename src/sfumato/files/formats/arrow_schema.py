"""What a typed file says of its columns that the reader does not tell: days kept as milliseconds, types it cannot read.

Arrow files have a schema in their footer, and Parquet files often one of Arrow in their metadata; docs of the format:
arrow.apache.org/docs/format/Columnar.html.
"""

from __future__ import annotations

import base64
import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sfumato.files.formats.flat_tables import Raw, entries, field_at, footer_of, table_at

_FOOTER_SCHEMA, _MESSAGE_HEADER, _FIELDS = 1, 2, 1  # fields of a footer, of a message, of a schema
_NAME, _TYPE, _DETAILS = 0, 2, 3  # of a column
_DATE, _DAY_UNIT = 8, 0
_DECIMAL, _BITS = 7, 2
# what the library below ends with a panic for, or reads as something else
_UNREAD = {11: "intervals", 14: "unions", 22: "run-end encoded cells", 25: "views of lists", 26: "views of lists"}


@dataclass(frozen=True)
class StoredColumns:
    """What the schema of a file says.

    Attributes
    ----------
    names : tuple of str
    days : tuple of str
        Columns of days that are kept as milliseconds (`date64`), and would be read as moments.
    unread : dict from columns to str
        What cannot be read.
    """

    names: tuple[str, ...] = ()
    days: tuple[str, ...] = ()
    unread: dict[str, str] | None = None


def stored_columns(path: Path, kind: str) -> StoredColumns:
    """Return what a file says of its columns; nothing for a Parquet file that says nothing, or not in Arrow's words.

    Parameters
    ----------
    kind : "parquet" or "arrow"

    Raises
    ------
    ValueError
        An Arrow file is damaged.
    """
    if kind == "parquet":
        try:
            said = base64.b64decode(pl.read_parquet_metadata(path).get("ARROW:schema", ""))
            return _columns(said, _header(said)) if said else StoredColumns()
        except (ValueError, struct.error, IndexError):
            return StoredColumns()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        try:
            return _columns(raw, _followed(raw, field_at(raw, footer_of(raw), _FOOTER_SCHEMA)))
        except (struct.error, IndexError) as error:
            raise ValueError("the tables of the file are damaged") from error


def _header(raw: bytes) -> int:
    return _followed(raw, field_at(raw, table_at(raw, 8), _MESSAGE_HEADER))  # a mark and a length stand before it


def _followed(raw: Raw, place: int) -> int:
    if not place:
        raise ValueError("a table without a schema")
    return place + int(struct.unpack_from("<I", raw, place)[0])


def _columns(raw: Raw, schema: int) -> StoredColumns:
    names, days, unread = [], [], {}
    for column in _fields(raw, schema):
        name = _text(raw, column)
        names.append(name)
        kind, details = field_at(raw, column, _TYPE), field_at(raw, column, _DETAILS)
        number = raw[kind] if kind else 0
        table = _followed(raw, details) if details else 0
        if number == _DATE and table:
            unit = field_at(raw, table, 0)
            if not unit or struct.unpack_from("<h", raw, unit)[0] != _DAY_UNIT:
                days.append(name)
        if number == _DECIMAL and table:
            bits = field_at(raw, table, _BITS)
            if bits and struct.unpack_from("<i", raw, bits)[0] > 128:
                unread[name] = "decimals of 256 bits"
        if number in _UNREAD:
            unread[name] = _UNREAD[number]
    return StoredColumns(tuple(names), tuple(days), unread)


def _fields(raw: Raw, schema: int) -> Iterator[int]:
    for place in entries(raw, schema, _FIELDS, 4):
        yield _followed(raw, place)


def _text(raw: Raw, column: int) -> str:
    field = field_at(raw, column, _NAME)
    if not field:
        return ""
    start = _followed(raw, field)
    length = struct.unpack_from("<I", raw, start)[0]
    return bytes(raw[start + 4 : start + 4 + length]).decode("utf-8", "replace")
