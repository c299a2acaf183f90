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

from sfumato.files.formats.flat_tables import entries, field_at, footer_of, table_at

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
    footer = footer_of(raw)
    for field in _FOOTER_BLOCKS:
        for place in entries(raw, footer, field, _BLOCK.size):
            start, length, _ = _BLOCK.unpack_from(raw, place)
            yield from _buffers(raw, start, start + length)


def _buffers(raw: mmap.mmap, start: int, body: int) -> Iterator[tuple[int, int]]:
    message = table_at(raw, start + 8)  # a mark and a length stand before it
    header = field_at(raw, message, _HEADER)
    if not header:
        return
    batch = header + struct.unpack_from("<I", raw, header)[0]
    kind = field_at(raw, message, _HEADER - 1)
    if kind and raw[kind] == _DICTIONARY:
        data = field_at(raw, batch, _DATA)
        if not data:
            return
        batch = data + struct.unpack_from("<I", raw, data)[0]
    if not field_at(raw, batch, _COMPRESSION):
        return
    for place in entries(raw, batch, _BUFFERS, _BUFFER.size):
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
