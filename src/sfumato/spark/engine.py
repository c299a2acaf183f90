"""The Spark engine: passes as `mapInArrow` jobs whose sealed summaries are merged on the driver.

The errand of a pass travels sealed, in a broadcast; the key that opens it travels with the function, and lives in
memory only. So neither a plan, a log, an event file nor a temporary file holds a subkey or a sum over originals.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeVar

from sfumato import exceptions
from sfumato._arrays import Floats
from sfumato.core.passes import Facts, Survey
from sfumato.core.rows import Coverage, Rows
from sfumato.core.sealed import seal, unseal
from sfumato.core.sharing import Workers
from sfumato.core.summaries import Summary
from sfumato.core.travel import filled_summary, learnt_of, pack, unpack
from sfumato.exceptions import DataError, ParameterError, SfumatoError
from sfumato.files.finish import output_types
from sfumato.files.formats.arrow_rows import arrow_schema
from sfumato.files.schema import Look
from sfumato.perturb.mechanism.grouping import BUNDLE_ROWS, Grouping
from sfumato.perturb.mechanism.keyed import Kernel, KeyedMethod
from sfumato.pipeline.engines.engine import Cells, Watch
from sfumato.pipeline.engines.last_pass import Tally, WriteJob
from sfumato.spark.coded import coded_data
from sfumato.spark.errand import cells_data, job_data, rounds_data, summary_data
from sfumato.spark.meeting import BUNDLE, GROUP, group_rows, release_rows
from sfumato.spark.outcome import Outcomes
from sfumato.spark.table import NUMBER, SparkTable, quoted
from sfumato.spark.task import BUCKET, ERRAND, ERROR, RESULT, WORD, summarise_rows, write_rows

S = TypeVar("S", bound=Summary)
T = TypeVar("T")
DRAWN_ROWS = 1_000_000  # in a part of a release whose rows are drawn anew


class SparkEngine:
    """Run the passes of a release on a Spark session.

    Parameters
    ----------
    save : callable, optional
        Saves the released DataFrame (the last pass of a release to a file).
    """

    def __init__(self, table: SparkTable, watch: Watch, save: Callable[[Any], None] | None = None) -> None:
        self._table, self._watch, self._save = table, watch, save
        self._context = table.session.sparkContext
        self._transport = secrets.token_bytes(32)
        self._rounds: dict[str, Any] | None = None
        self._last: Summary | None = None  # the last round's: read when it travels, not before
        self._n_rows: int | None = None
        self._meets = self._drawn = False
        self.repeated = 0

    def look(self, cells: Cells, empty: Look) -> Look:
        """Take the first look at all rows; see `Engine`."""
        assert empty.also is not None
        self._rounds = self._last = self._n_rows = None
        found = empty.fresh()
        errand = {"look": summary_data(empty.also)}
        if empty.people is not None:
            errand["people"] = summary_data(empty.people)
        for learnt in self._summaries("reading", cells, errand):
            found.merge(empty.filled(learnt))
        self._n_rows = found.n_rows
        return found

    @property
    def holds_back(self) -> bool:
        """Yes, of rows that have numbers; see `Engine`."""
        return bool(self._table.numbered)

    def begin_rounds(self, keyed: KeyedMethod, facts: Facts, *, finding: bool = False) -> None:
        """Learn which method it is; see `Engine`."""
        if keyed.tier == "table":
            raise ParameterError(
                f"{type(keyed.perturber).__name__} groups rows with their neighbours, wherever they are stored",
                hint="choose a method of the row tier (`sfumato methods`), or leave out engine=...",
            )
        self._drawn = keyed.draws_rows
        self._rounds = {**rounds_data(keyed, facts), "finding": finding, "run": secrets.token_bytes(16), "learnt": []}
        self._last = None

    def fill(self, cells: Cells, empty: S) -> tuple[S, None]:
        """Fill a summary over all rows; see `Engine`. Each pass checks what its partitions say they saw."""
        errand = {"summary": summary_data(empty)} if self._rounds is None else {"rounds": self._learnt()}
        filled = empty.fresh()
        for learnt in self._summaries("fitting", cells, errand):
            filled.merge(filled_summary(empty, learnt))
        if self._rounds is not None:
            filled.conclude()
        self._last = filled
        return filled, None

    def _learnt(self) -> dict[str, Any]:
        """Return the rounds so far, as they travel: a summary that was released with noise travels as released."""
        assert self._rounds is not None
        if self._last is not None:
            self._rounds = {**self._rounds, "learnt": [*self._rounds["learnt"], learnt_of(self._last)]}
            self._last = None
        return self._rounds

    def look_again(self, cells: Cells, empty: Survey, n_rows: int) -> Survey:
        """Survey the rows that are left; see `Engine`."""
        self._n_rows = n_rows
        filled = empty.fresh()
        for learnt in self._summaries("fitting", cells, {"summary": summary_data(empty)}):
            filled.merge(filled_summary(empty, learnt))
        return filled

    def meet(self, cells: Cells, grouping: Grouping, facts: Facts) -> Kernel:  # noqa: ARG002
        """Let rows meet when they are released; see `Engine`."""
        from pyspark.sql import functions as sql

        self._meets = True
        person = cells.roles.record_id
        if person is not None:
            ids = self._table.rows((person,)).agg(sql.count_distinct(sql.col(quoted(person))))
            if self._run(ids.first)[0] < facts.n_rows:
                raise DataError(
                    "several rows have one record id, and this method gives every row a place of its own",
                    hint="leave out the record id: exchanged rows carry no noise that would average out",
                )

        def nowhere(tile: Floats, rows: Rows) -> Floats:  # noqa: ARG001
            raise AssertionError("rows are released where they meet")

        return nowhere

    def write(self, cells: Cells, job: WriteJob) -> Tally:
        """Write the released rows; see `Engine`."""
        assert self._save is not None
        outcomes = Outcomes(self._context)
        released = self.released(cells, job, outcomes.accumulator)
        self._watch.begin("releasing")
        self._run(lambda: self._save(released))  # type: ignore[misc]
        tally = outcomes.tally()
        if self._table.numbered:
            outcomes.coverage().require_whole(job.n_rows)
        self._require_rows(tally.rows)
        self._watch.end()
        return tally

    def released(self, cells: Cells, job: WriteJob, told: Any = None) -> Any:
        """Return the released rows as a DataFrame that has not been computed yet.

        Parameters
        ----------
        told : accumulator, optional
            See `write_rows`.
        """
        if job.id_subkey is not None:
            raise ParameterError(
                "Spark writes no row ids", hint="release with the local engine, or without row_id=True"
            )
        from pyspark.sql import functions as sql
        from pyspark.sql.pandas.types import from_arrow_schema

        assert self._rounds is not None
        # of rows that are drawn anew, how many parts the table had is nobody's business
        buckets = 1 + job.n_rows // DRAWN_ROWS if self._drawn else self._table.n_partitions
        errand: dict[str, Any] = {"cells": cells_data(cells), "rounds": self._learnt(), "job": job_data(job)}
        errand |= {"buckets": buckets, "bundle": BUNDLE_ROWS, "coded": coded_data(self._table)}
        stored = self._table.stored_types
        types = stored | output_types(job.columns, invertible=job.invertible)
        types |= {name: stored[name] for name in self._table.coded.codes}
        schema = from_arrow_schema(arrow_schema({name: types[name] for name in job.order}))
        with_places = schema.add(BUCKET, "long").add(WORD, "long")
        number = NUMBER if self._table.numbered else None
        how = (self._sent(errand), self._transport, number, told)
        read = tuple(dict.fromkeys([*cells.read_columns, *cells.roles.keep]))
        rows = self._table.rows(read)
        if self._meets:
            grouped = from_arrow_schema(arrow_schema({name: stored[name] for name in self._order(read)}))
            for name in (GROUP, BUNDLE, *([NUMBER] if number is not None else [])):
                grouped = grouped.add(name, "long")
            rows = _mapped(rows, group_rows(*how), grouped)
            rows = rows.repartition(buckets, quoted(BUNDLE)).sortWithinPartitions(quoted(BUNDLE))
            rows = _mapped(rows, release_rows(*how), with_places)
        else:
            rows = _mapped(rows, write_rows(*how), with_places)
        bucket = sql.col(f"`{BUCKET}`").cast("int")
        if hasattr(rows, "repartitionById"):
            rows = rows.repartitionById(buckets, bucket)
        else:
            rows = rows.repartitionByRange(buckets, f"`{BUCKET}`")  # samples the rows first, so it computes them twice
        # rows of one person have one word: without an order their own values decide
        ties = () if self._table.numbered else tuple(quoted(name) for name in job.order)
        ordered = rows.sortWithinPartitions(f"`{WORD}`", *ties)
        return ordered.select(*(quoted(name) for name in job.order))

    def _order(self, columns: tuple[str, ...]) -> list[str]:
        """Return some columns in the order of the table."""
        return [name for name in self._table.names if name in columns]

    def _summaries(self, step: str, cells: Cells, errand: dict[str, Any]) -> Iterable[Any]:
        """Run a pass and yield what each partition has learnt, once."""
        errand = {**errand, "cells": cells_data(cells), "coded": coded_data(self._table)}
        number = NUMBER if self._table.numbered else None
        task = summarise_rows(self._sent(errand), self._transport, number)
        self._watch.begin(step)
        rows = self._table.rows(cells.read_columns)
        answers = self._run(lambda: _mapped(rows, task, "result binary").collect())
        seen, parts, count = Coverage(), set(), 0
        for answer in answers:
            plain = unseal(self._transport, bytes(answer["result"]), RESULT)
            if plain is None:
                raise DataError("a summary came back damaged", hint="run it again")
            message = unpack(plain)
            if message["part"] in parts:  # a task that ran twice: its rows are counted already
                self.repeated += 1
                continue
            parts.add(message["part"])
            for start, stop in message["ranges"]:
                seen.add(start, stop)
            count += message["rows"]
            yield message["learnt"]
        if self._table.numbered:
            seen.require_whole(count)
        self._require_rows(count)
        self._watch.end()

    def _require_rows(self, count: int) -> None:
        if self._n_rows is not None and count != self._n_rows:
            raise DataError(
                f"{self._table.path}: {count:,} rows now, {self._n_rows:,} at the first look: it has changed",
                hint="release a table that nobody is writing to",
            )

    def _sent(self, errand: dict[str, Any]) -> Callable[[], bytes]:
        sealed = self._context.broadcast(seal(self._transport, pack(errand), ERRAND))
        return lambda: sealed.value

    def _run(self, action: Callable[[], T]) -> T:
        """Run a Spark job and watch it from this thread: progress, and the place where it is stopped."""
        group = f"sfumato {secrets.token_hex(4)}"

        def work() -> T:
            self._context.setJobGroup(group, "sfumato", interruptOnCancel=True)
            return action()

        problem: Exception
        with Workers(1) as workers:
            task = workers.submit(work)
            try:
                while not task.done():
                    time.sleep(0.05)
                    self._watch.at(_share_done(self._context, group))
                return task.result()
            except BaseException as error:
                if not task.done():
                    self._context.cancelJobGroup(group)
                    with suppress(Exception):
                        task.result()
                if isinstance(error, SfumatoError) or not isinstance(error, Exception):
                    raise
                problem = _error_of(error)
        raise problem  # without the context: Spark's own words may quote rows


def _mapped(rows: Any, task: Any, schema: Any) -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # about the version of pandas, which is not used here
        return rows.mapInArrow(task, schema)


def _share_done(context: Any, group: str) -> float:
    tracker = context.statusTracker()
    done = tasks = 0
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info else ():
            facts = tracker.getStageInfo(stage)
            if facts:
                done, tasks = done + facts.numCompletedTasks, tasks + facts.numTasks
    return done / tasks if tasks else 0.0


def _error_of(error: Exception) -> SfumatoError:
    """Return what went wrong on the executors, in our own words."""
    _, found, rest = str(error).partition(ERROR)
    if found:
        told, _ = json.JSONDecoder().raw_decode(rest)
        kind = getattr(exceptions, told["kind"], None)
        if kind is not None:
            return kind(told["message"], hint=told["hint"])  # type: ignore[no-any-return]
        return SfumatoError(f"a Spark task failed: {told['message']}", hint="please report it")
    return SfumatoError(
        f"the Spark job failed ({type(error).__name__})", hint="the log of the driver says more; run it again"
    )
