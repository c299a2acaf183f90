"""The engine of one machine: batches in order, blocks on threads, rows sorted in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sfumato.core.passes import Facts, Survey, fill
from sfumato.core.rows import Coverage
from sfumato.core.summaries import Summary
from sfumato.core.tiles import in_order
from sfumato.exceptions import DataError
from sfumato.files.coded import CodedColumns, CodedSource
from sfumato.files.finish import KeptCombinations, assemble, output_types, plain_numbers
from sfumato.files.formats.sinks import Sink, open_sink
from sfumato.files.formulas import count_cells_with_breaks
from sfumato.files.numbers import NumberBatch
from sfumato.files.opening import file_kind
from sfumato.files.row_ids import with_row_ids
from sfumato.files.schema import Look
from sfumato.files.source import RawBatch, Source
from sfumato.files.storage.reorder import Reorder
from sfumato.files.storage.workspace import Workspace, guarded_writes
from sfumato.perturb.mechanism.grouping import Everyone, Grouping
from sfumato.perturb.mechanism.keyed import Kernel, KeyedMethod
from sfumato.pipeline.engines import meeting
from sfumato.pipeline.engines.engine import Cells, Watch
from sfumato.pipeline.engines.last_pass import Tally, WriteJob, perturb_batch

S = TypeVar("S", bound=Summary)


class LocalEngine:
    """Run a release on this machine.

    Parameters
    ----------
    workspace : Workspace
        Where the release is written before it is renamed.
    target : Path
        Its name says the kind of file.
    threads : int
        Workers; the release does not depend on it.
    watch : Watch
        Progress and cancelling.
    memory : int, optional
        Bytes of released rows that are held in memory while they are shuffled.
    """

    def __init__(
        self,
        source: Source,
        workspace: Workspace,
        target: Path,
        *,
        threads: int,
        watch: Watch,
        memory: int | None = None,
    ) -> None:
        self._source, self._workspace, self._target = source, workspace, target
        self._threads, self._watch = threads, watch
        self._memory = memory

    def look(self, cells: Cells, empty: Look) -> Look:
        """Take the first look at all rows; see `Engine`."""
        look = empty.fresh()

        def part(raw: RawBatch) -> Look:
            seen = empty.fresh().expecting(look)
            seen.add(*cells.looked_at(raw))
            return seen

        for seen in in_order(self._read("reading", cells, cells.read_columns, cells.plain), part, self._threads):
            look.merge(seen)
        return look

    @property
    def holds_back(self) -> bool:
        """Yes; see `Engine`."""
        return True

    def begin_rounds(self, keyed: KeyedMethod, facts: Facts, *, finding: bool = False) -> None:
        """Need not know the method: it stands in the same process; see `Engine`."""

    def fill(self, cells: Cells, empty: S) -> tuple[S, Coverage]:
        """Fill a summary over all rows; see `Engine`."""
        return fill(empty, self._numbers("fitting", cells), threads=self._threads)

    def look_again(self, cells: Cells, empty: Survey, n_rows: int) -> Survey:
        """Survey the rows that are left; see `Engine`."""
        seen, coverage = self.fill(cells, empty)
        coverage.require_whole(n_rows)
        return seen

    def meet(self, cells: Cells, grouping: Grouping, facts: Facts) -> Kernel:
        """Let rows meet, in memory or in sealed files; see `Engine`."""
        cells_held = meeting.MOST_CELLS if self._memory is None else self._memory // 8
        if facts.n_rows * facts.n_columns <= cells_held or cells.id_subkey is not None:
            everyone, seen = self.fill(cells, Everyone(grouping, facts.n_columns, facts.n_rows))
            seen.require_whole(facts.n_rows)
            return meeting.meet_in_memory(everyone, grouping, self._threads, self._watch.at)
        with guarded_writes(self._target):
            return meeting.meet_on_disk(
                self._numbers("fitting", cells),
                grouping,
                facts,
                self._workspace.folder,
                threads=self._threads,
                tell=self._watch.at,
                memory=self._memory,
            )

    def write(self, cells: Cells, job: WriteJob) -> Tally:
        """Write the released rows; see `Engine`."""
        kind = file_kind(self._target)
        as_text = kind.startswith("csv")
        types = output_types(job.columns, invertible=job.invertible)
        shuffled = job.order_subkey is not None
        coded = self._source.coded if isinstance(self._source, CodedSource) else CodedColumns()
        numbers = plain_numbers(job.columns) if as_text else frozenset[str]()
        numbers -= {*coded.codes, *coded.commas}
        # a gappy column stays text, so that its gaps come back as they were written
        plain = frozenset(cells.plain)
        whole = [column.name for column in job.columns if not column.missing and column.name in plain]
        sink = open_sink(kind, self._workspace, job.file_columns, self._source.style, numbers)

        def perturb(raw: RawBatch) -> tuple[NumberBatch, Any, Tally]:
            batch, _ = cells.numbers(raw)
            done = perturb_batch(batch, job)
            released = list(zip(job.columns, done.units, strict=True))
            frame, done.tally.neutralised = assemble(
                raw,
                job.order,
                released,
                done.masks,
                as_text=as_text,
                types=types,
                numbers=numbers,
                exchanged=job.gaps is not None,
            )
            frame, neutralised = coded.decode(frame, as_text=as_text)
            done.tally.neutralised += neutralised
            if job.id_subkey is not None:
                frame = with_row_ids(frame, batch.numbered.words(job.id_subkey))
            done.tally.kept = KeptCombinations.of(raw.frame[list(cells.roles.keep)])
            if raw.text is not None:
                kept = (raw.frame[name] for name in cells.roles.keep)
                done.tally.broken = sum(count_cells_with_breaks(one, self._source.style.separator) for one in kept)
            packed = sink.pack(frame)
            return batch, packed if shuffled else sink.encode(packed), done.tally

        try:
            out = self._ordered(sink, job)
            total = Tally()
            raws = self._read("releasing", cells, None, whole if job.same_columns else cells.plain)
            for batch, packed, tally in in_order(raws, perturb, self._threads):
                total.merge(tally)
                out(batch, packed)
            if total.rows != job.n_rows:
                raise DataError(
                    f"{self._source.path}: {total.rows:,} rows now, {job.n_rows:,} at the first look: it has changed",
                    hint="release a file that nobody is writing to",
                )
            if isinstance(out, _Sorted):
                out.reorder.finish(self._threads)
        finally:
            sink.close()
        return total

    def _ordered(self, sink: Sink, job: WriteJob) -> Callable[[NumberBatch, Any], None]:
        if job.order_subkey is None:
            return lambda _batch, encoded: sink.write(encoded)
        return _Sorted(Reorder(sink, self._workspace, job.n_rows, memory=self._memory), job)

    def _numbers(self, step: str, cells: Cells) -> Iterator[NumberBatch]:
        raws = self._read(step, cells, cells.read_columns, cells.plain)
        yield from in_order(raws, lambda raw: cells.numbers(raw)[0], self._threads)

    def _read(
        self, step: str, cells: Cells, columns: Sequence[str] | None, numbers: Sequence[str] = ()
    ) -> Iterator[RawBatch]:
        self._watch.begin(step)
        for raw in cells.present(self._source.batches(columns, numbers)):
            self._watch.at(raw.share)
            yield raw
        self._watch.end()


class _Sorted:
    def __init__(self, reorder: Reorder, job: WriteJob) -> None:
        self.reorder, self._job = reorder, job

    def __call__(self, batch: NumberBatch, packed: Any) -> None:
        assert self._job.order_subkey is not None
        self.reorder.add(batch.numbered.words(self._job.order_subkey), packed)
