"""Which rows a block holds: what decides their random words, and which rows a pass has seen.

Word `i` of a column's stream belongs to row `i` of the table, whoever computes it and in whatever order.
With a record-id column the words belong to the *person* instead, so that several rows of one person
carry the same noise and do not average it away. Words are AES-256, as a counter mode for row numbers or as a
function of digests. A row that a pass counts twice is an error, a row left out too.
"""

from __future__ import annotations

import hashlib
import threading
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from sfumato.core.fast import compiled_kernels
from sfumato.core.keys import derive
from sfumato.exceptions import DataError, DuplicateRowsError, SecretStateError

_WORDS_PER_BLOCK = 2  # one AES block is 16 bytes, two words
_LONG = 1 << 10  # words from which on the compiled key stream is worth its call
_ZEROS = memoryview(bytes(1 << 20))  # counter mode encrypts zeros: the key stream itself


class WordStream:
    """A seekable stream of uniform 64-bit words; shows and pickles nothing.

    Parameters
    ----------
    subkey : bytes
        32 bytes.

    Examples
    --------
    >>> stream = WordStream(bytes(32))
    >>> bool((stream.read(3, 7) == stream.read(0, 10)[3:]).all())
    True
    """

    __slots__ = ("_keys", "_local", "_subkey")

    def __init__(self, subkey: bytes) -> None:
        self._subkey = subkey
        self._keys: NDArray[np.uint64] | None = None
        self._local = threading.local()  # a cipher per thread: making one costs as much as a thousand words

    def read(self, start: int, count: int) -> NDArray[np.uint64]:
        """Return the words start..start+count-1, in an array of the caller's own."""
        fast = compiled_kernels(0)
        if fast is not None and fast.WORDS and count >= _LONG:
            if self._keys is None:
                self._keys = round_keys(fast, self._subkey)
            out = np.empty(count + 2 * fast.WORDS, dtype=np.uint64)
            skip = fast.key_stream(self._keys, start, count, out)
            return out[skip : skip + count]
        # block b of the key stream holds words 2b and 2b+1, so any row is one seek away
        skip = start % _WORDS_PER_BLOCK
        size = 16 * -(-(count + skip) // _WORDS_PER_BLOCK)
        cipher = self._cipher_at(start // _WORDS_PER_BLOCK)
        raw = np.empty(size + 15, dtype=np.uint8)  # older releases of cryptography want room for one block more
        target = raw.data
        for done in range(0, size, len(_ZEROS)):
            cipher.update_into(_ZEROS[: size - done], target[done:])
        words: NDArray[np.uint64] = raw[:size].view("<u8")[skip : skip + count]
        return words

    def at(self, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the words of any numbers: those that `read` gives for them.

        Examples
        --------
        >>> stream = WordStream(bytes(32))
        >>> bool((stream.at(np.array([9, 0, 4])) == stream.read(0, 10)[[9, 0, 4]]).all())
        True
        """
        blocks = np.zeros((len(numbers), 2), dtype=">u8")
        blocks[:, 1] = numbers // _WORDS_PER_BLOCK
        # a block of counter mode is the cipher of its number
        cipher = Cipher(algorithms.AES(self._subkey), modes.ECB()).encryptor()  # noqa: S305
        out = np.frombuffer(cipher.update(blocks.tobytes()), dtype="<u8").reshape(-1, 2)
        words: NDArray[np.uint64] = out[np.arange(len(numbers)), numbers % _WORDS_PER_BLOCK]
        return words

    def of_digests(self, digests: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """Return one word for each digest of 16 bytes; equal digests have equal words."""
        # the cipher as a pseudo-random function; ECB is right here because each input is a digest
        cipher = getattr(self._local, "blocks", None)
        if cipher is None:  # whole blocks leave nothing behind in it: one serves all calls of a thread
            cipher = self._local.blocks = Cipher(algorithms.AES(self._subkey), modes.ECB()).encryptor()  # noqa: S305
        out = np.frombuffer(cipher.update(digests.tobytes()), dtype="<u8")
        return out.reshape(-1, 2)[:, 0].copy()

    def _cipher_at(self, block: int) -> Any:
        nonce = block.to_bytes(16, "big")
        cipher = getattr(self._local, "cipher", None)
        if cipher is None:
            cipher = Cipher(algorithms.AES(self._subkey), modes.CTR(nonce)).encryptor()
            if hasattr(cipher, "reset_nonce"):  # cryptography 43 and newer
                self._local.cipher = cipher
        else:
            cipher.reset_nonce(nonce)
        return cipher

    def __repr__(self) -> str:
        return "WordStream(<hidden>)"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise SecretStateError("random streams cannot be pickled: they hold a secret subkey")


def round_keys(fast: Any, subkey: bytes) -> NDArray[np.uint64]:
    """Return the keys of all rounds of a subkey's cipher, shape (15, 2), for the compiled key stream.

    Parameters
    ----------
    fast : module
        The compiled kernels; `fast.WORDS` is not 0.
    """
    out = np.empty(60, dtype=np.uint32)
    fast.expand_key(np.frombuffer(subkey, dtype="<u4"), out)
    return out.view(np.uint64).reshape(15, 2)


def without(held: NDArray[np.int64], start: int, stop: int) -> tuple[NDArray[np.bool_] | None, int]:
    """Return which of the rows start..stop-1 are left when some are held back, and the new number of the first.

    Rows are numbered anew, as if those that are held back had never been there.

    Parameters
    ----------
    held : array of int, sorted
        Numbers of the rows that are held back.

    Returns
    -------
    left : array of bool, or None
        None where all are left.
    first : int

    Examples
    --------
    >>> left, first = without(np.array([1, 5]), 4, 7)
    >>> left.tolist(), first
    ([True, False, True], 3)
    """
    before, behind = (int(one) for one in np.searchsorted(held, (start, stop)))
    if before == behind:
        return None, start - before
    left = np.ones(stop - start, dtype=np.bool_)
    left[held[before:behind] - start] = False
    return left, start - before


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
class PeopleRows(RowRange):
    """Rows by absolute number that also say whose they are: for methods that draw rows, and count people.

    Parameters
    ----------
    digests : array of shape (n, 16), uint8
        Keyed digests of the record ids; see `RecordIds`.
    persons : array of shape (n, 16), uint8, optional
        See `RecordIds`.
    """

    digests: NDArray[np.uint8]
    persons: NDArray[np.uint8] | None = None

    def part(self, start: int, stop: int) -> PeopleRows:
        persons = None if self.persons is None else self.persons[start:stop]
        return PeopleRows(self.start + start, self.start + stop, self.digests[start:stop], persons)


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
    persons : array of shape (n, 16), uint8, optional
        Digests of the same ids without a key, which never leave the process: the same for every release.

    Examples
    --------
    >>> rows = RecordIds.of(["ann", "bob", "ann"], subkey=bytes(32))
    >>> words = rows.words(bytes(32))
    >>> bool(words[0] == words[2]), bool(words[0] == words[1])
    (True, False)
    """

    digests: NDArray[np.uint8]
    persons: NDArray[np.uint8] | None = None

    @classmethod
    def of(cls, ids: Iterable[object], *, subkey: bytes) -> RecordIds:
        """Digest record ids (compared by their text) under a subkey."""
        joined = b"".join(derive(subkey, "record", str(name))[:16] for name in ids)
        return cls(np.frombuffer(joined, dtype=np.uint8).reshape(-1, 16))

    def of_persons(self, ids: Iterable[object]) -> RecordIds:
        """Return the same rows with the digests that every release of these persons has."""
        joined = b"".join(hashlib.blake2b(str(name).encode(), digest_size=16).digest() for name in ids)
        return RecordIds(self.digests, np.frombuffer(joined, dtype=np.uint8).reshape(-1, 16))

    def __len__(self) -> int:
        return len(self.digests)

    def part(self, start: int, stop: int) -> RecordIds:
        persons = None if self.persons is None else self.persons[start:stop]
        return RecordIds(self.digests[start:stop], persons)

    def words(self, stream: bytes | WordStream) -> NDArray[np.uint64]:
        return _stream_of(stream).of_digests(self.digests)

    def labels(self) -> NDArray[np.uint64]:
        return np.ascontiguousarray(self.digests).view("<u8")[:, 0].copy()


def _stream_of(stream: bytes | WordStream) -> WordStream:
    return WordStream(stream) if isinstance(stream, bytes) else stream


@dataclass(slots=True)
class Coverage:
    """A set of row numbers, as sorted disjoint ranges.

    Examples
    --------
    >>> seen = Coverage()
    >>> seen.add(0, 10)
    >>> seen.add(10, 20)
    >>> seen.ranges
    [(0, 20)]
    >>> seen.add(5, 6)
    Traceback (most recent call last):
    ...
    sfumato.exceptions.DuplicateRowsError: rows 5 to 5 were already counted
    hint: each row number may arrive once; check the row_start of the batches
    """

    ranges: list[tuple[int, int]] = field(default_factory=list)

    def add(self, start: int, stop: int) -> None:
        """Add rows start..stop-1; raise if any is there already."""
        if start == stop:
            return
        place = bisect_left(self.ranges, (start, start))
        before = self.ranges[place - 1] if place > 0 else None
        after = self.ranges[place] if place < len(self.ranges) else None
        for other in (before, after):
            if other is not None and max(start, other[0]) < min(stop, other[1]):
                raise DuplicateRowsError(
                    f"rows {max(start, other[0])} to {min(stop, other[1]) - 1} were already counted",
                    hint="each row number may arrive once; check the row_start of the batches",
                )
        low, high = place, place
        if before is not None and before[1] == start:
            low, start = place - 1, before[0]
        if after is not None and after[0] == stop:
            high, stop = place + 1, after[1]
        self.ranges[low:high] = [(start, stop)]

    def merge(self, other: Coverage) -> None:
        """Add the rows of another coverage; the two must be disjoint."""
        for start, stop in other.ranges:
            self.add(start, stop)

    def require_whole(self, n_rows: int) -> None:
        """Raise unless exactly the rows 0..n_rows-1 are covered."""
        self.require(0, n_rows)

    def require(self, start: int, stop: int) -> None:
        """Raise unless exactly the rows start..stop-1 are covered."""
        expected = [(start, stop)] if stop > start else []
        if self.ranges != expected:
            raise DataError(
                f"the batches cover the rows {self.ranges}, not {start} to {stop - 1}",
                hint="the source must give the same rows each time it is read",
            )
