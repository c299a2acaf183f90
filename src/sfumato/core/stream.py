"""The keyed random streams of one release.

A `Streams` object stands for one (key, release name, method, parameters, table); each purpose and column
has a stream of its own, and a row takes a fixed number of words from it. Changing any of these changes
every word, so two releases can never be subtracted to cancel their noise.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sfumato.core.keys import Key, derive
from sfumato.core.rows import RowRange, Rows, WordStream
from sfumato.exceptions import SecretStateError

STREAM_VERSION = 1  # any change of a released bit raises this, and with it every golden digest


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

    def __repr__(self) -> str:
        return "Streams(<hidden>)"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise SecretStateError("random streams cannot be pickled: they hold a secret subkey")
