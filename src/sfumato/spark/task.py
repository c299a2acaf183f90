"""What runs inside a Spark task: open the errand, read rows, and hand back a sealed summary or released rows.

Errors leave a task without a cell in them: Spark writes them into logs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.rows import Coverage, Rows
from sfumato.core.sealed import seal, unseal
from sfumato.core.summaries import Summary
from sfumato.core.tiles import spans
from sfumato.core.travel import learnt_of, pack, unpack
from sfumato.exceptions import SfumatoError
from sfumato.files.finish import assemble, output_types
from sfumato.files.formats.arrow_rows import raw_rows, record_batches
from sfumato.files.numbers import NumberBatch
from sfumato.files.schema import Look
from sfumato.files.source import RawBatch
from sfumato.perturb.mechanism.recipe import Replay
from sfumato.pipeline.engines.engine import Cells
from sfumato.pipeline.engines.last_pass import Tally, WriteJob, perturb_batch, require_relations
from sfumato.spark.coded import as_numbers, coded_of
from sfumato.spark.errand import cells_of, first_summary, job_of, replay_of

ERRAND, RESULT = b"sfumato errand", b"sfumato result"
ERROR = "sfumato-error:"
BUCKET, WORD = "sfumato bucket", "sfumato word"

T = TypeVar("T")

_replays: dict[bytes, Replay] = {}  # a worker process serves many tasks of one release


def summarise_rows(sealed: Callable[[], bytes], transport: bytes, number: str | None) -> Callable[[Any], Iterator[Any]]:
    """Return the map of a partition to one row: its sealed summary.

    Parameters
    ----------
    sealed : callable
        Gives the sealed errand.
    transport : bytes
        The subkey under which errand and result travel.
    number : str, optional
        The column of row numbers.
    """

    def summarise(batches: Any) -> Iterator[Any]:
        import pyarrow as pa

        with Quiet():
            message = _summary(open_errand(sealed(), transport), batches, number)
        if message is not None:
            closed = seal(transport, pack({"part": partition(), **message}), RESULT)
            yield pa.RecordBatch.from_pydict({"result": pa.array([closed], type=pa.binary())})

    return summarise


def write_rows(
    sealed: Callable[[], bytes], transport: bytes, number: str | None, told: Any
) -> Callable[[Any], Iterator[Any]]:
    """Return the map of a partition to its released rows, each with its bucket and sort word.

    Parameters
    ----------
    sealed, transport, number
        See `summarise_rows`.
    told : accumulator or None
        Is told what was counted, by partition: a task that runs again tells the same once more.
    """

    def write(batches: Any) -> Iterator[Any]:
        with Quiet():
            errand = open_errand(sealed(), transport)
            cells, total, seen = cells_of(errand["cells"]), Tally(), Coverage()

        @cache  # all batches of a table have the same columns
        def job_for(types: tuple[tuple[str, Any], ...]) -> WriteJob:
            return job_of(errand["job"], replay(errand["rounds"]), dict(types), cells.fills)

        def released(raw: RawBatch) -> Iterable[Any]:
            job = job_for(tuple(raw.frame.schema.items()))
            batch, _ = cells.numbers(raw)
            if number is not None:
                seen.add(batch.start, batch.start + len(batch))
            done = perturb_batch(batch, job)
            columns = list(zip(job.columns, done.units, strict=True))
            types = output_types(job.columns, invertible=job.invertible)
            exchanged = job.gaps is not None
            frame, _ = assemble(raw, job.order, columns, done.masks, as_text=False, types=types, exchanged=exchanged)
            require_relations(done.tally)
            total.merge(done.tally)
            return record_batches(frame, _batch_places(batch, job, errand["buckets"], numbered=number is not None))

        yield from each(cells.present(raw_rows(batches, number)), released)
        if told is not None:
            ranges = [list(r) for r in seen.ranges]
            counted = [total.rows, dict(total.unchanged), dict(total.errors), list(total.lanes), ranges]
            told.add({partition(): counted})

    return write


def each(items: Iterator[T], work: Callable[[T], Iterable[Any]]) -> Iterator[Any]:
    """Yield what becomes of each item; what goes wrong on the way here is said as `Quiet` says it."""
    while True:
        with Quiet():
            item = next(items, None)
            if item is None:
                return
            out = work(item)
        yield from out


def _summary(errand: dict[str, Any], batches: Any, number: str | None) -> dict[str, Any] | None:
    cells: Cells = cells_of(errand["cells"])
    coded, seen = coded_of(errand["coded"]), Coverage()
    filled: Any = None
    rows = 0
    for stored in cells.present(raw_rows(batches, number)):
        raw = as_numbers(stored, coded, cells.what)
        batch, texts = cells.numbers(raw)
        rows += len(batch)
        if number is not None:
            seen.add(batch.start, batch.start + len(batch))
        if "look" in errand:
            if filled is None:
                also = first_summary(errand["look"])
                people = first_summary(errand["people"]) if "people" in errand else None
                filled = Look(cells.roles.confidential, dict(raw.frame.schema), cells.rules, also, people)
            filled.add(batch, texts)
        else:
            if filled is None:
                filled = _wanted(errand).fresh()
            for start, stop in spans(len(batch), filled.block_rows):
                filled.add(batch.tile(start, stop), batch.rows.part(start, stop))
    if filled is None:
        return None
    learnt = filled.learnt_values() if isinstance(filled, Look) else learnt_of(filled)
    return {"rows": rows, "ranges": [list(span) for span in seen.ranges], "learnt": learnt}


def _wanted(errand: dict[str, Any]) -> Summary:
    return first_summary(errand["summary"]) if "summary" in errand else replay(errand["rounds"]).wanted


def replay(rounds: dict[str, Any]) -> Replay:
    """Return the rounds of a method where they stand now, from where this process left them if it has seen them."""
    run, learnt = rounds["run"], rounds["learnt"]
    known = _replays.get(run)
    if known is None or known.done > len(learnt):
        _replays.clear()
        known = _replays[run] = replay_of(rounds)
    known.advance(learnt)
    return known


def places(rows: Rows, numbers: NDArray[np.int64] | None, job: WriteJob, buckets: int) -> dict[str, NDArray[np.int64]]:
    """Return where each row goes: a bucket that grows with its word, and the word as a signed number.

    Parameters
    ----------
    numbers : array of shape (n,), optional
        The row numbers, of tables that have some.
    """
    if job.order_subkey is None and numbers is not None:
        return {BUCKET: numbers * buckets // max(job.n_rows, 1), WORD: numbers}
    words = rows.words(job.order_subkey if job.order_subkey is not None else bytes(32))
    high = (words >> np.uint64(32)) * np.uint64(buckets) >> np.uint64(32)
    return {BUCKET: high.astype(np.int64), WORD: (words ^ np.uint64(1 << 63)).view(np.int64)}


def _batch_places(batch: NumberBatch, job: WriteJob, buckets: int, *, numbered: bool) -> dict[str, NDArray[np.int64]]:
    if not numbered:
        return places(batch.rows, None, job, buckets)
    return places(batch.numbered, batch.numbered.labels().astype(np.int64), job, buckets)


def open_errand(sealed: bytes, transport: bytes) -> dict[str, Any]:
    """Return what a task is told."""
    plain = unseal(transport, sealed, ERRAND)
    if plain is None:
        raise SfumatoError("an errand arrived damaged")
    errand: dict[str, Any] = unpack(plain)
    return errand


def partition() -> int:
    """Return the number of the partition that this task works on."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return -1 if context is None else int(context.partitionId())


class Quiet:
    """Let no error out of a task but those of our own, whose words hold no cell and no secret."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or not isinstance(error, Exception):
            return
        if isinstance(error, SfumatoError):
            told = {"kind": type(error).__name__, "message": error.message, "hint": error.hint}
        else:
            assert trace is not None
            while trace.tb_next is not None:
                trace = trace.tb_next
            place = f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"
            told = {"kind": "", "message": f"{type(error).__name__} at {place}", "hint": None}
        # spark retries a task, and then gives up with the words of its last error
        raise RuntimeError(f"{ERROR}{json.dumps(told)}") from None
