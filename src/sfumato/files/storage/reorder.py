"""Rows in the order of their sort words, in bounded memory: sorted runs on disk, joined bucket by bucket.

The words of a shuffle are random under the key, so a bucket is a range of words and all buckets are about equally
large. Runs hold released rows and their words only: no original value, and no row number.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.tiles import in_order
from sfumato.files.formats.plain import PLAIN_LAYOUT
from sfumato.files.formats.sinks import Sink
from sfumato.files.storage.workspace import Workspace, open_private

MEMORY_BYTES = 32 << 20
_MOST_BUCKETS = 4096


class Reorder:
    """Collect rows with a word each, and hand them on in the order of their words (ties: first come, first out).

    Parameters
    ----------
    workspace : Workspace
        Where runs are kept if the rows do not fit in memory.
    n_rows : int
        How many rows will come.
    top : int
        Number above every word (2^64 for random words, the number of rows for places).
    memory : int, optional
        Bytes of rows held in memory.
    """

    def __init__(
        self, sink: Sink, workspace: Workspace, n_rows: int, *, top: int = 1 << 64, memory: int | None = None
    ) -> None:
        self._sink, self._folder, self._n_rows, self._top = sink, workspace.folder, n_rows, top
        self._memory = MEMORY_BYTES if memory is None else memory
        self._held: list[pl.DataFrame] = []
        self._held_bytes = 0
        self._edges: NDArray[np.uint64] | None = None
        self._runs: list[tuple[Path, NDArray[np.int64]]] = []  # where each bucket's piece begins in a run, and its end
        self._word = ""

    def add(self, words: NDArray[np.uint64], frame: pl.DataFrame) -> None:
        """Take rows, as the sink packs them, and their words."""
        if not self._word:
            self._word = _free_name(frame.columns)
        packed = frame.with_columns(pl.Series(self._word, words))
        self._held.append(packed)
        # texts are counted without the 16 bytes that each takes where it is short
        texts = sum(dtype == pl.String for dtype in packed.dtypes)
        self._held_bytes += int(packed.estimated_size()) + 16 * packed.height * texts
        if self._held_bytes > self._memory:
            self._spill()

    def finish(self, threads: int = 1) -> None:
        """Hand all rows on.

        Parameters
        ----------
        threads : int
            So many buckets are sorted at a time.
        """
        if not self._runs:
            if self._held:
                self._sink.write(self._sink.encode(self._sorted(self._held).drop(self._word)))
            self._held = []
            return
        if self._held:
            self._spill()
        assert self._edges is not None
        for encoded in in_order(range(len(self._edges)), self._bucket, threads):
            if encoded is not None:
                self._sink.write(encoded)

    def _bucket(self, bucket: int) -> Any:
        places = [(path, int(starts[bucket]), int(starts[bucket + 1])) for path, starts in self._runs]
        parts = [_read_piece(path, start, stop - start) for path, start, stop in places if stop > start]
        return self._sink.encode(self._sorted(parts).drop(self._word)) if parts else None

    def _sorted(self, frames: list[pl.DataFrame]) -> pl.DataFrame:
        return pl.concat(frames).sort(self._word, maintain_order=True)

    def _spill(self) -> None:
        rows = self._sorted(self._held)
        if self._edges is None:
            whole = self._held_bytes / max(rows.height, 1) * self._n_rows
            # small ones: several are sorted at a time, sorting copies, and what was held before is not all given back
            buckets = int(min(_MOST_BUCKETS, max(2, np.ceil(6 * whole / self._memory))))
            self._edges = np.array([self._top * i // buckets for i in range(buckets)], dtype=np.uint64)
        places = np.searchsorted(rows[self._word].to_numpy(), self._edges)
        stops = np.append(places[1:], rows.height)
        path = self._folder / f"run-{len(self._runs)}"
        begins = [0]
        with open_private(path) as file:
            for start, stop in zip(places.tolist(), stops.tolist(), strict=True):
                if stop > start:
                    piece = io.BytesIO()
                    rows.slice(start, stop - start).write_ipc_stream(piece, compat_level=PLAIN_LAYOUT)
                    file.write(piece.getbuffer())
                begins.append(file.tell())
        self._runs.append((path, np.array(begins, dtype=np.int64)))
        self._held, self._held_bytes = [], 0


def _read_piece(path: Path, offset: int, size: int) -> pl.DataFrame:
    with path.open("rb") as file:
        file.seek(offset)
        return pl.read_ipc_stream(file.read(size))


def _free_name(names: list[str]) -> str:
    name = "word"
    while name in names:
        name += "_"
    return name
