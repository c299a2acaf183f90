"""How long the buffers of an Arrow file say they are: asked before anything is read.

Every compressed buffer begins with its length when unpacked. A reader sets aside so much memory at once, and where the
number is damaged the whole process ends. So the numbers are looked up first, in the file's own tables (flatbuffers, of
which only a few fields are needed); docs of the format: arrow.apache.org/docs/format/Columnar.html.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path

_MAGIC = b"ARROW1"
_FOOTER_BLOCKS = (2, 3)  # fields of the footer: dictionaries, record batches
_BLOCK = struct.Struct("<qi4xq")  # where a message begins, length of its table, length of its buffers
_BUFFER = struct.Struct("<qq")  # where a buffer begins, its length
_HEADER, _DICTIONARY = 2, 2  # field of a message; what its field before says of a dictionary
_DATA, _BUFFERS, _COMPRESSION = 1, 2, 3  # fields of a dictionary, and of a record batch


def longest_buffer(path: Path) -> int:
    """Return the largest number of bytes that a compressed buffer of the file says it has; 0 if there is none.

    Raises
    ------
    ValueError
        The file is not an Arrow file, or its tables are damaged.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        try:
            return max((_unpacked(raw, start, length) for start, length in _compressed(raw)), default=0)
        except (struct.error, IndexError) as error:
            raise ValueError("the tables of the file are damaged") from error


def _compressed(raw: mmap.mmap) -> Iterator[tuple[int, int]]:
    """Yield (start, length) of the buffers of compressed batches."""
    if len(raw) < 2 * len(_MAGIC) + 4 or raw[: len(_MAGIC)] != _MAGIC or raw[-len(_MAGIC) :] != _MAGIC:
        raise ValueError("not an Arrow file")
    end = len(raw) - len(_MAGIC) - 4
    footer = _table(raw, end - struct.unpack_from("<i", raw, end)[0])
    for field in _FOOTER_BLOCKS:
        for place in _vector(raw, footer, field, _BLOCK.size):
            start, length, _ = _BLOCK.unpack_from(raw, place)
            yield from _buffers(raw, start, start + length)


def _buffers(raw: mmap.mmap, start: int, body: int) -> Iterator[tuple[int, int]]:
    message = _table(raw, start + 8)  # a mark and a length stand before it
    header = _field(raw, message, _HEADER)
    if not header:
        return
    batch = header + struct.unpack_from("<I", raw, header)[0]
    kind = _field(raw, message, _HEADER - 1)
    if kind and raw[kind] == _DICTIONARY:
        data = _field(raw, batch, _DATA)
        if not data:
            return
        batch = data + struct.unpack_from("<I", raw, data)[0]
    if not _field(raw, batch, _COMPRESSION):
        return
    for place in _vector(raw, batch, _BUFFERS, _BUFFER.size):
        offset, length = _BUFFER.unpack_from(raw, place)
        yield body + offset, length


def _unpacked(raw: mmap.mmap, start: int, length: int) -> int:
    if length == 0:
        return 0
    if length < 8 or start < 0 or start + length > len(raw):
        raise ValueError("a buffer lies outside the file")
    said: int = struct.unpack_from("<q", raw, start)[0]
    if said < -1:
        raise ValueError("a buffer of negative length")
    return max(said, 0)  # -1: it is not compressed


def _table(raw: mmap.mmap, place: int) -> int:
    """Return where the table begins that a root offset points to."""
    if place < 0:
        raise ValueError("a table outside the file")
    return place + int(struct.unpack_from("<I", raw, place)[0])


def _field(raw: mmap.mmap, table: int, number: int) -> int:
    """Return where a field of a table stands; 0 if it is not there."""
    names = table - int(struct.unpack_from("<i", raw, table)[0])
    if names < 0:
        raise ValueError("a table outside the file")
    size = struct.unpack_from("<H", raw, names)[0]
    if 4 + 2 * number >= size:
        return 0
    offset = int(struct.unpack_from("<H", raw, names + 4 + 2 * number)[0])
    return table + offset if offset else 0


def _vector(raw: mmap.mmap, table: int, number: int, size: int) -> Iterator[int]:
    """Yield where the entries of a field stand that is a vector of things of one size."""
    field = _field(raw, table, number)
    if not field:
        return
    start = field + struct.unpack_from("<I", raw, field)[0]
    for i in range(struct.unpack_from("<I", raw, start)[0]):
        yield start + 4 + i * size
