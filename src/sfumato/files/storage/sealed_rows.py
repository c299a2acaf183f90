"""Rows that wait on disk until their bucket's turn, sealed under a key that lives in memory only.

Rows that have to meet are originals, and released rows beside their numbers tell the order of a shuffle: neither may
lie on a disk so that anybody can read it. Whatever happens to the process, what it leaves behind is noise.
"""

from __future__ import annotations

import secrets
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Integers
from sfumato.core.sealed import seal, unseal
from sfumato.exceptions import DataError
from sfumato.files.storage.workspace import open_private

Words = NDArray[np.uint64]  # of shape (words, rows): a row is a number of 64-bit words


class SealedRows:
    """Buckets of rows in one private file.

    Parameters
    ----------
    path : Path
        A new file in a folder that is swept.
    n_words : int
        Of each row.
    memory : int
        Bytes of rows that are held before they are sealed and written.
    """

    def __init__(self, path: Path, n_words: int, memory: int) -> None:
        self._path, self._words, self._memory = path, n_words, memory
        self._key = secrets.token_bytes(32)
        self._held: list[tuple[Integers, Words]] = []
        self._held_bytes = 0
        self._file: BinaryIO | None = None
        self._places: dict[int, list[tuple[int, int]]] = {}

    def add(self, buckets: Integers, rows: Words) -> None:
        """Take rows.

        Parameters
        ----------
        buckets : array of shape (n,)
            Where each of them goes.
        rows : array of shape (words, n)
        """
        if len(buckets):
            self._held.append((buckets, rows))
        self._held_bytes += rows.nbytes
        if self._held_bytes > self._memory:
            self._spill()

    def finish(self) -> None:
        """Write what is still held; buckets can be read from now on."""
        self._spill()
        if self._file is not None:
            self._file.close()

    def read(self, bucket: int) -> Words:
        """Return the rows of a bucket, in the order in which they came."""
        pieces = [np.empty((self._words, 0), dtype=np.uint64)]
        places = self._places.get(bucket, [])
        if places:
            with self._path.open("rb") as file:
                for offset, size in places:
                    file.seek(offset)
                    plain = unseal(self._key, file.read(size), _purpose(bucket))
                    if plain is None:
                        raise DataError("a temporary file was changed by somebody else", hint="release it again")
                    pieces.append(np.frombuffer(plain, dtype=np.uint64).reshape(self._words, -1))
        return np.concatenate(pieces, axis=1)

    def remove(self) -> None:
        """Delete the file."""
        self._path.unlink(missing_ok=True)

    def _spill(self) -> None:
        if not self._held:
            return
        if self._file is None:
            self._file = open_private(self._path)
        buckets = np.concatenate([one for one, _ in self._held])
        rows = np.concatenate([one for _, one in self._held], axis=1)
        self._held, self._held_bytes = [], 0
        order = np.argsort(buckets, kind="stable")
        ordered = buckets[order]
        edges = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1], True])
        for start, stop in pairwise(edges):
            bucket = int(ordered[start])
            sealed = seal(self._key, rows[:, order[start:stop]].tobytes(), _purpose(bucket))
            self._places.setdefault(bucket, []).append((self._file.tell(), len(sealed)))
            self._file.write(sealed)


def _purpose(bucket: int) -> bytes:
    return b"sfumato waiting rows %d" % bucket
