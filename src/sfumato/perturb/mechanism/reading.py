"""A table that a method reads again and again: in memory or in batches, with all its rows or without some."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.passes import Facts, fill, survey
from sfumato.core.rows import Coverage
from sfumato.core.secret import Hidden
from sfumato.core.stream import RowHasher
from sfumato.core.summaries import Summary
from sfumato.exceptions import DataError, ParameterError
from sfumato.frames.frame import Frame, is_empty, read_frame

S = TypeVar("S", bound=Summary)


@dataclass(frozen=True, repr=False)
class Reading(Hidden):
    """A table that can be read from its beginning, any number of times.

    Attributes
    ----------
    frames : callable
        Starts a new reading.
    shape : Frame
        Names and kinds of the columns; its rows are not looked at.
    threads : int
    hashes : array of shape (n,), optional
        Room for a hash of each row, which the survey fills.
    """

    frames: Callable[[], Iterable[Frame]]
    shape: Frame
    threads: int
    hashes: NDArray[np.uint64] | None = None

    def survey(self, hasher: RowHasher) -> Facts:
        """Return what a first look says of the table."""
        shape = self.shape
        return survey(self.frames(), shape.names, shape.kinds, hasher, threads=self.threads, hashes=self.hashes)

    def fill(self, wanted: S) -> tuple[S, Coverage]:
        """Read the table once; see `sfumato.core.passes.fill`."""
        return fill(wanted, self.frames(), threads=self.threads)

    def without(self, held: NDArray[np.int64]) -> Reading:
        """Return the same table without some of its rows.

        Parameters
        ----------
        held : array of int
            Their numbers, sorted.
        """

        def frames() -> Iterable[Frame]:
            return (left for left in (frame.without(held) for frame in self.frames()) if len(left))

        hashes = None if self.hashes is None else self.hashes[: len(self.hashes) - len(held)]
        return replace(self, frames=frames, hashes=hashes)


def read_table(frame: Frame, threads: int) -> Reading:
    """Return the reading of a table in memory, with room for the hashes of its rows."""
    return Reading(lambda: [frame], frame, threads, np.empty(len(frame), dtype=np.uint64))


def read_batches(
    batches: Iterable[Any] | Callable[[], Iterable[Any]], columns: Sequence[str | int] | None, threads: int, owner: str
) -> Reading:
    """Return the reading of a table that comes in batches.

    Parameters
    ----------
    batches : iterable of tables that can be read again, or a function that returns one
    columns : sequence of str or int, optional
        The columns that are read; None reads all.
    owner : str
        Who reads, for errors.
    """
    if not callable(batches) and iter(batches) is batches:
        raise ParameterError(
            f"{owner}: fit_batches reads the table several times, and an iterator can be read once",
            hint="pass a list, or a function that starts a new iteration: fit_batches(lambda: read('file.csv'))",
        )

    def frames() -> Iterable[Frame]:
        start = 0
        for table in batches() if callable(batches) else batches:
            if is_empty(table):
                continue
            frame = read_frame(table, columns, row_start=start, what=f"the batch at row {start}")
            start += len(frame)
            yield frame

    first: Frame | None = None
    kinds: tuple[str, ...] = ()
    for frame in frames():
        if first is None:
            first, kinds = frame, frame.kinds
        elif frame.names != first.names:
            raise DataError(f"the batches do not have the same columns: {frame.names} after {first.names}")
        kinds = tuple(a if a == b else "float64" for a, b in zip(kinds, frame.kinds, strict=True))
    if first is None:
        raise DataError("no batches: the table is empty", hint="check the source")
    return Reading(frames, Frame(first.names, kinds, [], first.rows, first.all_names, first.native), threads)
