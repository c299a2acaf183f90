"""Which rows a block holds: what decides their random words.

Word `i` of a column's stream belongs to row `i` of the table, whoever computes it and in whatever order.
With a record-id column the words belong to the *person* instead, so that several rows of one person
carry the same noise and do not average it away.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.core.cipher import WordStream
from sfumato.core.keys import derive


class Labelled(Protocol):
    """Rows that have names."""

    def labels(self) -> NDArray[np.uint64]:
        """Return one 64-bit number that names each row."""


class Rows(Labelled, Protocol):
    """The rows of a block, in order."""

    def __len__(self) -> int:
        """Return the number of rows."""

    def part(self, start: int, stop: int) -> Rows:
        """Return the rows at the positions start..stop-1 of this block."""

    def words(self, stream: bytes | WordStream) -> NDArray[np.uint64]:
        """Return one uniform 64-bit word for each row, from a stream or the stream of a subkey."""


@dataclass(frozen=True, slots=True)
class RowRange:
    """Rows start..stop-1 of the table, by absolute number.

    Examples
    --------
    >>> whole = RowRange(0, 10).words(bytes(32))
    >>> bool((RowRange(3, 10).words(bytes(32)) == whole[3:]).all())
    True
    """

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    def part(self, start: int, stop: int) -> RowRange:
        return RowRange(self.start + start, self.start + stop)

    def words(self, stream: bytes | WordStream) -> NDArray[np.uint64]:
        return _stream_of(stream).read(self.start, len(self))

    def labels(self) -> NDArray[np.uint64]:
        return np.arange(self.start, self.stop, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class RowNumbers:
    """Rows in any order, by absolute number."""

    numbers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    def part(self, start: int, stop: int) -> RowNumbers:
        return RowNumbers(self.numbers[start:stop])

    def words(self, stream: bytes | WordStream) -> NDArray[np.uint64]:
        return _stream_of(stream).at(self.numbers)

    def labels(self) -> NDArray[np.uint64]:
        return self.numbers.astype(np.uint64)


@dataclass(frozen=True, slots=True)
class RecordIds:
    """Rows named by the keyed digest of a record id; equal ids have equal words.

    Parameters
    ----------
    digests : array of shape (n, 16), uint8
        Made by `RecordIds.of`.

    Examples
    --------
    >>> rows = RecordIds.of(["ann", "bob", "ann"], subkey=bytes(32))
    >>> words = rows.words(bytes(32))
    >>> bool(words[0] == words[2]), bool(words[0] == words[1])
    (True, False)
    """

    digests: NDArray[np.uint8]

    @classmethod
    def of(cls, ids: Iterable[object], *, subkey: bytes) -> RecordIds:
        """Digest record ids (compared by their text) under a subkey."""
        joined = b"".join(derive(subkey, "record", str(name))[:16] for name in ids)
        return cls(np.frombuffer(joined, dtype=np.uint8).reshape(-1, 16))

    def __len__(self) -> int:
        return len(self.digests)

    def part(self, start: int, stop: int) -> RecordIds:
        return RecordIds(self.digests[start:stop])

    def words(self, stream: bytes | WordStream) -> NDArray[np.uint64]:
        return _stream_of(stream).of_digests(self.digests)

    def labels(self) -> NDArray[np.uint64]:
        return np.ascontiguousarray(self.digests).view("<u8")[:, 0].copy()


def _stream_of(stream: bytes | WordStream) -> WordStream:
    return WordStream(stream) if isinstance(stream, bytes) else stream
