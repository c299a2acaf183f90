"""The tables of an Arrow file (flatbuffers): the few kinds of places that are needed to look things up in them."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator

Raw = mmap.mmap | bytes
_MAGIC = b"ARROW1"


def footer_of(raw: Raw) -> int:
    """Return where the footer of an Arrow file begins, or raise ValueError."""
    if len(raw) < 2 * len(_MAGIC) + 4 or raw[: len(_MAGIC)] != _MAGIC or raw[-len(_MAGIC) :] != _MAGIC:
        raise ValueError("not an Arrow file")
    end = len(raw) - len(_MAGIC) - 4
    return table_at(raw, end - struct.unpack_from("<i", raw, end)[0])


def table_at(raw: Raw, place: int) -> int:
    """Return where the table begins that a root offset points to."""
    if place < 0:
        raise ValueError("a table outside the file")
    return place + int(struct.unpack_from("<I", raw, place)[0])


def field_at(raw: Raw, table: int, number: int) -> int:
    """Return where a field of a table stands; 0 if it is not there."""
    names = table - int(struct.unpack_from("<i", raw, table)[0])
    if names < 0:
        raise ValueError("a table outside the file")
    size = struct.unpack_from("<H", raw, names)[0]
    if 4 + 2 * number >= size:
        return 0
    offset = int(struct.unpack_from("<H", raw, names + 4 + 2 * number)[0])
    return table + offset if offset else 0


def entries(raw: Raw, table: int, number: int, size: int) -> Iterator[int]:
    """Yield where the entries of a field stand that is a vector of things of one size."""
    field = field_at(raw, table, number)
    if not field:
        return
    start = field + struct.unpack_from("<I", raw, field)[0]
    for i in range(struct.unpack_from("<I", raw, start)[0]):
        yield start + 4 + i * size
