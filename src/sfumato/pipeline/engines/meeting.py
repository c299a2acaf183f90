"""Rows that meet in groups on one machine: in memory, or in sealed files when the table is too large for that."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.core.passes import Facts
from sfumato.core.rows import Coverage, RowRange, Rows
from sfumato.core.tiles import in_order
from sfumato.files.numbers import NumberBatch
from sfumato.files.storage.sealed_rows import SealedRows, Words
from sfumato.perturb.mechanism.collected import Stored
from sfumato.perturb.mechanism.grouping import Everyone, Grouping, release_in_place
from sfumato.perturb.mechanism.keyed import Kernel

MOST_CELLS = 1 << 25  # of a table that meets in memory
_HELD_BYTES = 64 << 20
_BUCKET_BYTES = 32 << 20

Tell = Callable[[float], None]


def meet_in_memory(everyone: Everyone, grouping: Grouping, threads: int, tell: Tell) -> Kernel:
    """Release all rows where they are, and return the map that finds them.

    Parameters
    ----------
    everyone : Everyone
        Filled.
    tell : callable
        Is told which share is done.
    """
    labels, values, groups = everyone.together()
    release_in_place(grouping, labels, values, groups, threads=threads, tell=tell)
    stored = Stored(labels, values)

    def find(tile: Floats, rows: Rows) -> Floats:  # noqa: ARG001  # the whole table is released already
        return values[:, rows.start : rows.stop] if isinstance(rows, RowRange) else stored.find(rows.labels())

    return find


def meet_on_disk(
    batches: Iterable[NumberBatch],
    grouping: Grouping,
    facts: Facts,
    folder: Path,
    *,
    threads: int,
    tell: Tell,
    memory: int | None = None,
) -> Kernel:
    """Release all rows bucket by bucket, and return the map that finds them.

    Parameters
    ----------
    batches : iterable of NumberBatch
        The table, once; rows have numbers.
    folder : Path
        Where the sealed files are kept.
    memory : int, optional
        Bytes of rows held at a time.
    """
    held = _HELD_BYTES if memory is None else memory
    rows_each = max((_BUCKET_BYTES if memory is None else memory) // (8 * (facts.n_columns + 2)), 1)
    bucket_of = grouping.bundles(rows_each)
    waiting = SealedRows(folder / "waiting", facts.n_columns + 2, held)
    seen = Coverage()
    for batch, groups, words in in_order(batches, lambda one: _grouped(one, grouping), threads):
        seen.add(batch.start, batch.start + len(batch))
        waiting.add(bucket_of[groups], words)
    waiting.finish()
    seen.require_whole(facts.n_rows)
    done = SealedRows(folder / "done", facts.n_columns + 1, held)
    buckets = range(int(bucket_of[-1]) + 1)
    for bucket in buckets:
        words = waiting.read(bucket)
        labels, groups, values = words[0], words[1].astype(np.int32), words[2:].view(np.float64)
        release_in_place(grouping, labels, values, groups, threads=threads)
        tell(bucket / len(buckets))
        done.add(labels.astype(np.int64) // rows_each, np.concatenate([labels[None, :], words[2:]]))
    done.finish()
    waiting.remove()
    return _Found(done, facts, rows_each, threads).find


def _grouped(batch: NumberBatch, grouping: Grouping) -> tuple[NumberBatch, Integers, Words]:
    words = np.empty((len(batch.columns) + 2, len(batch)), dtype=np.uint64)
    groups = np.empty(len(batch), dtype=np.int64)
    for start, stop in _spans(len(batch)):
        tile, labels = batch.tile(start, stop), batch.rows.part(start, stop).labels()
        groups[start:stop] = grouping.groups(tile, labels)
        words[0, start:stop], words[2:, start:stop] = labels, tile.view(np.uint64)
    words[1] = groups.astype(np.uint64)
    return batch, groups, words


def _spans(n_rows: int) -> Iterator[tuple[int, int]]:
    step = 1 << 13
    return ((start, min(start + step, n_rows)) for start in range(0, n_rows, step))


class _Found:
    """Released rows by their numbers, from buckets of neighbours; a few of them are held."""

    def __init__(self, done: SealedRows, facts: Facts, rows_each: int, threads: int) -> None:
        self._done, self._facts, self._each, self._most = done, facts, rows_each, threads + 2
        self._held: OrderedDict[int, Floats] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, tile: Floats, rows: Rows) -> Floats:
        """Return the released rows of a tile."""
        assert isinstance(rows, RowRange)
        out = np.empty_like(tile)
        for bucket in range(rows.start // self._each, (rows.stop - 1) // self._each + 1 if len(rows) else 0):
            first = bucket * self._each
            begin, end = max(rows.start, first), min(rows.stop, first + self._each)
            out[:, begin - rows.start : end - rows.start] = self._bucket(bucket)[:, begin - first : end - first]
        return out

    def _bucket(self, bucket: int) -> Floats:
        with self._lock:
            if bucket not in self._held:
                words = self._done.read(bucket)
                values = np.empty((self._facts.n_columns, words.shape[1]))
                values[:, words[0].astype(np.int64) - bucket * self._each] = words[1:].view(np.float64)
                self._held[bucket] = values
                while len(self._held) > self._most:
                    self._held.popitem(last=False)
            self._held.move_to_end(bucket)
            return self._held[bucket]
