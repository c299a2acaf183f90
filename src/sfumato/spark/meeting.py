"""Rows that meet in groups on a cluster: one map says where each row goes, another releases what has come together.

The result of a group depends on its rows alone, not on who brought them or in which order; so any partitioning gives
the bytes of one machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.core.rows import Coverage, RowNumbers, RowRange, Rows
from sfumato.core.tiles import spans
from sfumato.files.finish import assemble, output_types
from sfumato.files.formats.arrow_rows import raw_rows, record_batches, whole_rows
from sfumato.files.numbers import NumberBatch
from sfumato.files.source import RawBatch
from sfumato.perturb.mechanism.grouping import Grouping
from sfumato.pipeline.engines.engine import Cells
from sfumato.pipeline.engines.last_pass import Tally, WriteJob, perturb_batch, require_relations
from sfumato.spark.coded import as_numbers, coded_of
from sfumato.spark.errand import cells_of, job_of
from sfumato.spark.task import Quiet, each, open_errand, partition, places, replay

GROUP, BUNDLE = "sfumato group", "sfumato bundle"
_ROWS = 1 << 13


def group_rows(
    sealed: Callable[[], bytes], transport: bytes, number: str | None, told: Any
) -> Callable[[Any], Iterator[Any]]:
    """Return the map of a partition to its rows as they are, each with its group and bundle.

    Parameters
    ----------
    sealed, transport, number, told
        See `write_rows`.
    """

    def group(batches: Any) -> Iterator[Any]:
        with Quiet():
            errand = open_errand(sealed(), transport)
            cells, coded, seen = cells_of(errand["cells"]), coded_of(errand["coded"]), Coverage()

        def grouped(raw: RawBatch) -> Iterable[Any]:
            grouping: Grouping = replay(errand["rounds"]).fitted
            batch, _ = cells.numbers(as_numbers(raw, coded, cells.what))
            groups = _groups(batch, grouping)
            extra = {GROUP: groups, BUNDLE: grouping.bundles(errand["bundle"])[groups]}
            if number is not None:
                seen.add(batch.start, batch.start + len(batch))
                extra[number] = np.arange(batch.start, batch.start + len(batch), dtype=np.int64)
            return record_batches(raw.frame, extra)

        yield from each(cells.present(raw_rows(batches, number)), grouped)
        if told is not None:
            told.add({-2 - partition(): [0, {}, {}, [0, 0], [list(span) for span in seen.ranges]]})

    return group


def release_rows(
    sealed: Callable[[], bytes], transport: bytes, number: str | None, told: Any
) -> Callable[[Any], Iterator[Any]]:
    """Return the map of whole bundles, one after the other, to released rows, each with its bucket and sort word.

    Parameters
    ----------
    sealed, transport, number, told
        See `write_rows`.
    """

    def release(batches: Any) -> Iterator[Any]:
        with Quiet():
            errand = open_errand(sealed(), transport)
            cells, coded, total = cells_of(errand["cells"]), coded_of(errand["coded"]), Tally()

        def released(frame: Any) -> Iterable[Any]:
            state = replay(errand["rounds"])
            raw = as_numbers(RawBatch(frame, 0, 0.0), coded, cells.what)
            job = job_of(errand["job"], state, dict(raw.frame.schema), cells.fills)
            groups = frame[GROUP].to_numpy().astype(np.int64)
            numbers = None if number is None else frame[number].to_numpy().astype(np.int64)
            rows, where, tally = _released(raw, groups, numbers, cells, job, state.fitted, errand["buckets"])
            require_relations(tally)
            total.merge(tally)
            return record_batches(coded.decode(rows, as_text=False)[0], where)

        yield from each(whole_rows(batches, BUNDLE), released)
        if told is not None:
            told.add({partition(): [total.rows, {}, {}, list(total.lanes), []]})

    return release


def _groups(batch: NumberBatch, grouping: Grouping) -> Integers:
    groups = np.empty(len(batch), dtype=np.int64)
    for start, stop in spans(len(batch), _ROWS):
        groups[start:stop] = grouping.groups(batch.tile(start, stop), batch.rows.part(start, stop).labels())
    return groups


def _released(
    raw: RawBatch,
    groups: Integers,
    numbers: Integers | None,
    cells: Cells,
    job: WriteJob,
    grouping: Grouping,
    buckets: int,
) -> tuple[Any, dict[str, Integers], Tally]:
    """Release the rows of some whole groups, in any order; say where they go."""
    batch, _ = cells.numbers(raw)
    named = batch.rows if cells.id_subkey is not None or numbers is None else RowNumbers(numbers)
    rows, _ = grouping.release(batch.tile(0, len(batch)), named.labels(), groups)
    here = NumberBatch(RowRange(0, len(batch)), batch.columns, batch.masks, 0)
    numbered = here.rows if numbers is None else RowNumbers(numbers)

    def find(_: Floats, part: Rows) -> Floats:
        assert isinstance(part, RowRange)
        return rows[:, part.start : part.stop]

    done = perturb_batch(here, job.with_kernel(find), numbered)
    columns = list(zip(job.columns, done.units, strict=True))
    types = output_types(job.columns, invertible=job.invertible)
    frame, _ = assemble(raw, job.order, columns, done.masks, as_text=False, types=types, exchanged=True)
    words = batch.rows if numbers is None else RowNumbers(numbers)
    return frame, places(words, numbers, job, buckets), done.tally
