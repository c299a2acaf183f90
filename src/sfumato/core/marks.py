"""Rows of persons that did not change since an earlier release, and the noise that they keep.

The words of a row belong to its person. An update that used them for other values would tell the difference of the two
exactly: T(b) - T(a) = b - a. So a release of persons keeps a keyed mark of each row (person and values together). In an
update, a row whose mark is known keeps the words of its person; every other row takes words of the person *and* the
values, which no other values share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.core.keys import derive
from sfumato.core.rows import RecordIds, Rows, WordStream
from sfumato.core.secret import Hidden
from sfumato.core.stream import RowHasher
from sfumato.core.summaries import Summary
from sfumato.core.tiles import tile_rows


class Marker(Hidden):
    """Make marks under a subkey.

    Parameters
    ----------
    subkey : bytes
        32 bytes.
    names : sequence of str
        The columns of the tiles.
    """

    def __init__(self, subkey: bytes, names: Sequence[str]) -> None:
        self._subkey, self._names = subkey, tuple(names)
        self._hasher = RowHasher(derive(subkey, "values"), names)
        self._person = WordStream(derive(subkey, "person"))
        self._halves = [WordStream(derive(subkey, "digest", half)) for half in (0, 1)]

    def plain(self) -> tuple[bytes, tuple[str, ...]]:
        """Return the subkey and the names: what another process needs for the same marks."""
        return self._subkey, self._names

    def marks(self, tile: Floats, rows: Rows) -> NDArray[np.uint64]:
        """Return one 64-bit mark for each row of a tile of shape (columns, rows)."""
        assert isinstance(rows, RecordIds)
        blocks = np.zeros((len(rows), 2), dtype="<u8")
        blocks[:, 0] = self._hasher.rows(tile)
        blocks[:, 1] = rows.words(self._person)
        return self._person.of_digests(blocks.view(np.uint8).reshape(-1, 16))

    def renamed(self, tile: Floats, rows: Rows, known: NDArray[np.uint64]) -> RecordIds:
        """Return the rows with names of their own wherever their mark is not known.

        Parameters
        ----------
        known : array
            Marks of the earlier release, rising.
        """
        assert isinstance(rows, RecordIds)
        marks = self.marks(tile, rows)
        changed = ~_among(marks, known)
        digests = rows.digests.copy()
        blocks = np.ascontiguousarray(rows.digests[changed]).view("<u8")
        blocks = blocks ^ np.stack([marks[changed], np.zeros(len(blocks), dtype=np.uint64)], axis=1)
        plain = blocks.astype("<u8").view(np.uint8).reshape(-1, 16)
        halves = np.stack([half.of_digests(plain) for half in self._halves], axis=1)
        digests[changed] = halves.astype("<u8").view(np.uint8).reshape(-1, 16)
        return RecordIds(digests, rows.persons)


class Marks(Summary):
    """The marks of all rows of a table.

    Examples
    --------
    >>> marks = Marks(Marker(bytes(32), ["a"]))
    >>> marks.add(np.array([[3.0, 1.0]]), RecordIds.of(["ann", "bob"], subkey=bytes(32)))
    >>> len(marks.rising()), marks.known(marks.rising()[:1])
    (2, 1)
    """

    learnt: ClassVar[tuple[str, ...]] = ("_parts",)

    def __init__(self, marker: Marker) -> None:
        self._marker = marker
        self._parts: list[Any] = []

    @property
    def marker(self) -> Marker:
        """What makes the marks."""
        return self._marker

    @property
    def block_rows(self) -> int:
        return tile_rows(len(self._marker.plain()[1]))

    def fresh(self) -> Self:
        return type(self)(self._marker)

    def add(self, tile: Floats, rows: Rows) -> None:
        self._parts.append(self._marker.marks(tile, rows))

    def merge(self, other: Self) -> None:
        self._parts += other._parts

    def rising(self) -> NDArray[np.uint64]:
        """Return all marks, sorted."""
        out: NDArray[np.uint64] = np.sort(np.concatenate([*self._parts, np.empty(0, dtype=np.uint64)]))
        return out

    def known(self, known: NDArray[np.uint64]) -> int:
        """Return how many rows have a mark among some others, which rise."""
        return int(np.count_nonzero(_among(self.rising(), known)))


def _among(marks: NDArray[np.uint64], known: NDArray[np.uint64]) -> NDArray[np.bool_]:
    if not len(known):
        return np.zeros(len(marks), dtype=np.bool_)
    found: NDArray[np.bool_] = known[np.minimum(np.searchsorted(known, marks), len(known) - 1)] == marks
    return found
