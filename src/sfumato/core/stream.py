"""The keyed random streams of one release, and the keyed hashes that tell tables and rows apart.

A `Streams` object stands for one (key, release name, method, parameters, table); each purpose and column
has a stream of its own, and a row takes a fixed number of words from it. Changing any of these changes
every word, so two releases can never be subtracted to cancel their noise.

Two tables with one fingerprint would share their noise, so any change of a cell, of a row's place or of a
column's name must change it. It is a sum, so that blocks may be added in any order and any cut. The
multipliers are secret: nobody without the key can compute it, or test a guess about the table with it.

Using one row's words for two different values cancels the noise: T(a) - T(b) = a - b. The ledger keeps a
keyed hash of every row that a fitted object has released under explicit row numbers, and tells when a row
number comes back with other values. The same values again are harmless: they give the same release.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sfumato.core.fast import compiled_kernels
from sfumato.core.keys import Key, derive
from sfumato.core.rows import Labelled, RowRange, Rows, WordStream, round_keys
from sfumato.core.secret import Hidden
from sfumato.exceptions import SecretStateError

STREAM_VERSION = 1  # any change of a released bit raises this, and with it every golden digest
_MASK = (1 << 64) - 1
_31, _32 = np.uint64(31), np.uint64(32)
_REMEMBERED_ROWS = 10_000_000  # 80 MB; beyond it any overlap counts as reuse


def release_streams(key: Key, *, release: str, method: str, parameters: Any, table: bytes) -> Streams:
    """Return the streams of one release.

    Parameters
    ----------
    release : str
        Name of the release.
    method : str
        Catalogue id of the method.
    parameters : plain values
        The method's parameters, secret ones included: they only enter a keyed hash.
    table : bytes
        Keyed fingerprint of the fitted table.
    """
    return Streams(key.derive("stream", STREAM_VERSION, release, method, parameters, table))


class Streams:
    """Random words by purpose, column and row; shows and pickles nothing.

    Parameters
    ----------
    root : bytes
        32-byte subkey of the release.

    Examples
    --------
    >>> streams = Streams(bytes(32))
    >>> rows = RowRange(0, 4)
    >>> bool((streams.words("noise", "age", rows) == streams.words("noise", "wage", rows)).any())
    False
    """

    __slots__ = ("_children", "_root", "_streams", "_subkeys")

    def __init__(self, root: bytes) -> None:
        self._root = root
        self._subkeys: dict[tuple[str, str], bytes] = {}
        self._streams: dict[tuple[str, str], WordStream] = {}
        self._children: dict[str, Streams] = {}

    @property
    def root(self) -> bytes:
        """The 32-byte subkey of the release, for a process that computes some of its rows."""
        return self._root

    def child(self, purpose: str) -> Streams:
        """Return independent streams for a part of the method (the perturber inside `Enhanced`)."""
        if purpose not in self._children:
            self._children[purpose] = Streams(derive(self._root, "child", purpose))
        return self._children[purpose]

    def words(self, purpose: str, column: str, rows: Rows) -> NDArray[np.uint64]:
        """Return one uniform 64-bit word for each row.

        Parameters
        ----------
        purpose : str
            What the words are for; another purpose is another stream.
        column : str
            Column name, or "" for words that belong to the whole row.
        """
        name = (purpose, column)
        if name not in self._streams:
            self._streams[name] = WordStream(self.subkey(purpose, column))
        return rows.words(self._streams[name])

    def scalars(self, purpose: str, column: str, count: int) -> NDArray[np.uint64]:
        """Return `count` words that belong to a column as a whole (an angle, an offset)."""
        return RowRange(0, count).words(derive(self._root, "scalars", purpose, column))

    def subkey(self, purpose: str, column: str = "") -> bytes:
        """Return the 32-byte subkey of one purpose and column."""
        name = (purpose, column)
        if name not in self._subkeys:
            self._subkeys[name] = derive(self._root, "words", purpose, column)
        return self._subkeys[name]

    def round_keys(self, fast: Any, purpose: str, names: Sequence[str]) -> NDArray[np.uint64]:
        """Return what the compiled kernels need for the words of columns, shape (columns, 15, 2)."""
        return np.array([round_keys(fast, self.subkey(purpose, name)) for name in names])

    def __repr__(self) -> str:
        return "Streams(<hidden>)"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise SecretStateError("random streams cannot be pickled: they hold a secret subkey")


def table_hasher(key: Key, names: Sequence[str]) -> RowHasher:
    """Return the hasher of a table's fingerprint under a key.

    Parameters
    ----------
    names : sequence of str
        The confidential columns.
    """
    return RowHasher(key.derive("fingerprint", STREAM_VERSION), names)


class RowHasher(Hidden):
    """Hash rows under a subkey.

    Parameters
    ----------
    subkey : bytes
        32 bytes.
    names : sequence of str
        Column names; each column has multipliers of its own.

    Examples
    --------
    >>> hasher = RowHasher(bytes(32), ["a", "b"])
    >>> tile = np.array([[1.0, 2.0], [3.0, 4.0]])  # two columns of two rows
    >>> hasher.sums(tile, RowRange(0, 2)) == hasher.sums(tile[:, ::-1].copy(), RowRange(0, 2))
    False
    """

    __slots__ = ("_lanes", "_multipliers", "_names", "_spread", "_subkey")

    def __init__(self, subkey: bytes, names: Sequence[str]) -> None:
        self._subkey = subkey
        self._names = tuple(names)
        self._multipliers = np.array(
            [_odd_words(derive(subkey, "column", name), 1)[0] for name in names], dtype=np.uint64
        )
        self._spread = _odd_words(derive(subkey, "spread"), 1)[0]
        self._lanes = [_odd_words(derive(subkey, "lane", lane), 3) for lane in (0, 1)]

    def plain(self) -> tuple[bytes, tuple[str, ...]]:
        """Return the subkey and the names: what another process needs for the same hashes."""
        return self._subkey, self._names

    def rows(self, tile: NDArray[np.float64]) -> NDArray[np.uint64]:
        """Return one 64-bit hash for each row of a tile of shape (columns, rows)."""
        total = np.zeros(tile.shape[1], dtype=np.uint64)
        fast = compiled_kernels(tile.size)
        if fast is not None:
            fast.hash_rows(tile, self._multipliers, self._spread, total)
            return total
        values = np.empty(tile.shape[1])
        bits, high = values.view(np.uint64), np.empty_like(total)
        for column, multiplier in zip(tile, self._multipliers, strict=True):
            self._mix(column, multiplier, values, high)
            total += bits
        total *= self._spread  # the last spreading of each column, once for their sum
        return total

    def look(
        self, fast: Any, rows: NDArray[np.float64], first: int, ranges: tuple[Any, Any], hashes: NDArray[np.uint64]
    ) -> tuple[int, int]:
        """Return the lanes of consecutive rows of an array, and write their hashes and the ranges of their columns.

        Parameters
        ----------
        fast : module
            The compiled kernels.
        rows : array of shape (n, d)
        first : int
            Number of the first row.
        ranges : two arrays of shape (d,)
            Smallest and largest values so far.
        hashes : array of shape (n,)
        """
        sums = np.zeros(2, dtype=np.uint64)
        lanes = np.array(self._lanes)
        fast.look_at_rows(rows, self._multipliers, self._spread, lanes, first, *ranges, hashes, sums)
        return int(sums[0]), int(sums[1])

    def cells(self, tile: NDArray[np.float64]) -> NDArray[np.uint64]:
        """Return one 64-bit word for each cell of a tile; `of_cells` makes the hash of some columns of them."""
        values = np.empty(tile.shape)
        high = np.empty(tile.shape[1], dtype=np.uint64)
        for column, multiplier, out in zip(tile, self._multipliers, values, strict=True):
            self._mix(column, multiplier, out, high)
        return values.view(np.uint64)

    def of_cells(self, cells: NDArray[np.uint64], columns: Sequence[int], added: np.uint64) -> NDArray[np.uint64]:
        """Return the hash of each row in some columns only.

        Parameters
        ----------
        cells : array of shape (d, n)
            See `cells`.
        added : int
            Makes hashes of other columns others, even those of zeros.
        """
        total: NDArray[np.uint64] = cells[columns[0]] + added
        for column in columns[1:]:
            total += cells[column]
        total *= self._spread
        return total

    def _mix(
        self, column: NDArray[np.float64], multiplier: np.uint64, out: NDArray[np.float64], high: NDArray[np.uint64]
    ) -> None:
        """Write the words of a column's cells into the bits of an array of doubles."""
        bits = out.view(np.uint64)
        np.add(column, 0.0, out=out)  # -0.0 + 0.0 is 0.0: one value, one hash
        # whole numbers have empty low bits: bring the high bits down before and after the spreading
        bits ^= np.right_shift(bits, _31, out=high)
        bits *= self._spread
        bits ^= np.right_shift(bits, _32, out=high)
        bits *= multiplier
        bits ^= np.right_shift(bits, _32, out=high)

    def sums(self, tile: NDArray[np.float64], rows: Labelled) -> tuple[int, int]:
        """Return the two 64-bit lanes of a block; lanes of disjoint blocks add up modulo 2^64."""
        return self.lanes(self.rows(tile), rows)

    def lanes(self, hashes: NDArray[np.uint64], rows: Labelled) -> tuple[int, int]:
        """Return the two 64-bit lanes of a block whose rows have these hashes."""
        labels = rows.labels()
        fast = compiled_kernels(len(hashes))
        if fast is not None:
            one, other = (int(fast.lane_sum(hashes, labels, *lane)) for lane in self._lanes)
            return one, other
        out = []
        for place, first, second in self._lanes:
            mixed = hashes + labels * place
            mixed ^= mixed >> np.uint64(32)
            mixed *= first
            mixed ^= mixed >> np.uint64(29)
            mixed *= second
            mixed ^= mixed >> np.uint64(32)
            out.append(int(np.add.reduce(mixed, dtype=np.uint64)))
        return out[0], out[1]

    def digest(self, lanes: tuple[int, int], n_rows: int) -> bytes:
        """Return the 32-byte fingerprint of a table from its lanes and number of rows."""
        return derive(self._subkey, "table", lanes[0] & _MASK, lanes[1] & _MASK, n_rows, self._names)


def _odd_words(subkey: bytes, count: int) -> NDArray[np.uint64]:
    return RowRange(0, count).words(subkey) | np.uint64(1)


class Ledger:
    """Remember released rows; hold only keyed hashes of them.

    Examples
    --------
    >>> ledger = Ledger()
    >>> ledger.reused(0, np.array([1, 2, 3], dtype=np.uint64))
    0
    >>> ledger.reused(2, np.array([3, 4], dtype=np.uint64))  # row 2 again, with the same values
    0
    >>> ledger.reused(1, np.array([9], dtype=np.uint64))  # row 1 again, with others
    1
    """

    def __init__(self) -> None:
        self._segments: list[tuple[int, int, NDArray[np.uint64] | None]] = []
        self._remembered = 0

    def reused(self, start: int, hashes: NDArray[np.uint64]) -> int:
        """Record rows start, start+1, ... and return how many had been released with other values."""
        stop = start + len(hashes)
        reused = np.zeros(len(hashes), dtype=np.bool_)
        for low, high, known in self._segments:
            first, last = max(start, low), min(stop, high)
            if first < last:
                here = slice(first - start, last - start)
                reused[here] |= True if known is None else known[first - low : last - low] != hashes[here]
        keep = self._remembered + len(hashes) <= _REMEMBERED_ROWS
        self._remembered += len(hashes) if keep else 0
        self._segments.append((start, stop, hashes if keep else None))
        return int(np.count_nonzero(reused))
