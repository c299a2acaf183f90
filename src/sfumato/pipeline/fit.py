"""First look, medians of gappy columns, survey, and the rounds of the method; then the last pass is settled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.core.keys import Key
from sfumato.core.marks import Marks
from sfumato.core.passes import Facts, Survey, run_rounds
from sfumato.core.people import People, PeopleSketch
from sfumato.core.rows import RowRange, Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import table_hasher
from sfumato.core.summaries import Gathered, Summary, Together
from sfumato.core.tiles import tile_rows
from sfumato.exceptions import DataError, ParameterError
from sfumato.files.coded import CodedColumns
from sfumato.files.finish import new_columns
from sfumato.files.row_ids import ROW_ID
from sfumato.files.schema import Look, NumberColumn, Schema, coarse_range
from sfumato.files.source import Described
from sfumato.perturb.mechanism.keyed import KeyedMethod
from sfumato.pipeline.drawn import public_fills, public_schema
from sfumato.pipeline.engines.engine import Cells, Engine, Watch
from sfumato.pipeline.engines.last_pass import WriteJob
from sfumato.pipeline.fills import Medians, median_fills
from sfumato.pipeline.lookback import LookBack
from sfumato.pipeline.plan import Plan
from sfumato.pipeline.undo import undo_map
from sfumato.pipeline.update import Update, can_be_updated, marker_of
from sfumato.receipts.body import order_subkey, row_id_subkey, rows_hasher


@dataclass(frozen=True, repr=False)
class Fit(Hidden):
    """A fitted release.

    Attributes
    ----------
    schema : Schema
    cells : Cells
        With the values that stand for missing cells.
    facts : Facts
    known_as : bytes, optional
        Fingerprint of the table in the history.
    people : tuple of People
        Hashes of its people, for each history.
    marks : Marks, optional
        Of its rows, if it can be updated.
    fitted : object
        The method's fitted state.
    kernel : callable
        (tile, rows) -> released tile.
    rows_per_tile : int
    n_rows : int
        Rows of the whole table, those that are held back among them.
    """

    schema: Schema
    cells: Cells
    facts: Facts
    known_as: bytes | None
    people: tuple[People, ...]
    fitted: Any
    kernel: Callable[[Floats, Rows], Floats]
    rows_per_tile: int
    marks: Marks | None = None
    n_rows: int = 0

    @property
    def held_back(self) -> tuple[int, ...]:
        """Numbers of the rows that are not released."""
        return () if self.cells.held_back is None else tuple(self.cells.held_back.tolist())


def survey_table(
    source: Described,
    plan: Plan,
    key: Key,
    engine: Engine,
    watch: Watch,
    lookback: LookBack | None = None,
    update: Update | None = None,
    held: NDArray[np.int64] | None = None,
) -> tuple[Schema, Cells, Facts, list[Summary]]:
    """Look at a table and return its schema, its cells with fills, its facts, and how histories and updates know it.

    Parameters
    ----------
    lookback : LookBack, optional
    update : Update, optional
        Says what stands for missing cells.
    held : array of int, sorted, optional
        Numbers of rows that are held back.
    """
    names = plan.roles.confidential
    hashers = [table_hasher(key, names), *([] if lookback is None else lookback.hashers(names))]
    marks = [Marks(marker_of(key, plan))] if lookback is not None and can_be_updated(plan) else []
    surveys = Together([*(Survey(hasher, len(names)) for hasher in hashers), *marks])
    people = None if lookback is None else Together([*lookback.sketches(source, plan.roles)])
    cells = plan.cells if held is None else replace(plan.cells, held_back=held)
    persons = replace(cells, persons=people is not None and plan.roles.record_id is not None)
    look = engine.look(persons, Look(names, source.types, cells.rules, surveys, people))
    schema = look.schema(plan.order, str(source.path))
    if schema.n_rows < 2:
        raise DataError(
            f"{source.path}: {schema.n_rows} row(s): a table of fewer than two has no clusters to keep",
            hint="bring more rows",
        )
    seen = look.also
    if schema.missing and update is not None and update.fills is not None:
        cells = replace(cells, fills=update.fills)
    elif plan.keyed.draws_rows:
        if schema.missing:
            cells = replace(cells, fills=public_fills(schema, plan.keyed))
    elif schema.missing:
        watch.passes += 1
        medians, _ = engine.fill(cells, Medians(*_ranges(schema)))
        cells = replace(cells, fills=median_fills(medians.medians(), schema, apart=plan.keyed.exchanges))
    if seen is None:
        watch.passes += 1
        seen, _ = engine.fill(cells, surveys)
    assert isinstance(seen, Together)
    first, *more = seen.parts
    assert isinstance(first, Survey)
    if plan.keyed.draws_rows:
        schema = public_schema(schema, plan.keyed)
    facts = Facts(schema.names, schema.kinds, first.n_rows, first.low, first.high, first.fingerprint())
    found = look.people.parts if isinstance(look.people, Together) else []
    return schema, cells, facts, [*more, *found]


def known_as_of(filled: Sequence[Summary]) -> tuple[bytes | None, tuple[People, ...]]:
    """Return the fingerprint of a table in its history, and its people."""
    table = next((part.fingerprint() for part in filled if isinstance(part, Survey)), None)
    return table, tuple(part.people() for part in filled if isinstance(part, PeopleSketch))


def fit(
    source: Described,
    plan: Plan,
    key: Key,
    engine: Engine,
    watch: Watch,
    lookback: LookBack | None = None,
    update: Update | None = None,
) -> Fit:
    """Run every pass but the last.

    Parameters
    ----------
    watch : Watch
        Its expected passes are corrected when cells are missing.
    lookback : LookBack, optional
        The histories of earlier releases.
    update : Update, optional
        The earlier release whose noise is kept: nothing is fitted then.
    """
    if plan.keyed.draws_rows:
        settle_drawn(plan, getattr(source, "coded", CodedColumns()))
    schema, cells, facts, seen = survey_table(source, plan, key, engine, watch, lookback, update)
    known_as, people = known_as_of(seen)
    marks = next((part for part in seen if isinstance(part, Marks)), None)
    keyed = plan.keyed
    if schema.missing and keyed.names_out(facts.names) is not None:
        raise ParameterError(
            f"{schema.missing:,} cells are missing, and the released columns are new ones: they cannot stay missing",
            hint="fill or drop those rows first, or choose another method",
        )
    keyed.check(facts)
    rows_per_tile, n_rows = tile_rows(facts.n_columns), facts.n_rows
    if update is not None:
        _settle(keyed, schema, cells, plan)
        fitted = keyed.resume(update.fitted, update.table)
        cells = replace(cells, kept=(marker_of(key, plan), update.marks))
        return Fit(schema, cells, facts, known_as, people, fitted, keyed.kernel(fitted), rows_per_tile, marks, n_rows)
    held = _exposed(plan, schema, cells, facts, engine)
    if held is not None and len(held):
        watch.passes += 1
        schema, cells, facts, _ = survey_table(source, plan, key, engine, watch, held=held)
    _settle(keyed, schema, cells, plan)
    engine.begin_rounds(keyed, facts)
    fitted = run_rounds(keyed.rounds(facts), lambda wanted: engine.fill(cells, wanted), facts.n_rows)
    drawn = keyed.rows_drawn(fitted)
    if drawn is not None and drawn < facts.n_rows:  # the fit has seen all; only as many are released
        left = np.setdiff1d(np.arange(n_rows), [] if cells.held_back is None else cells.held_back)
        cells = replace(cells, held_back=np.setdiff1d(np.arange(n_rows), left[:drawn]))
        again = engine.look_again(cells, Survey(table_hasher(key, facts.names), facts.n_columns), drawn)
        schema, facts = replace(schema, n_rows=drawn), replace(facts, n_rows=drawn, fingerprint=again.fingerprint())
    kernel = engine.meet(cells, keyed.grouping(fitted), facts) if keyed.meets else keyed.kernel(fitted)
    if keyed.tier == "table":
        gathered, _ = engine.fill(cells, Gathered())
        whole = kernel(gathered.values(), RowRange(0, facts.n_rows))

        def kernel(tile: Floats, rows: Rows) -> Floats:  # noqa: ARG001  # the whole table is perturbed already
            assert isinstance(rows, RowRange)
            return whole[:, rows.start : rows.stop]

    return Fit(schema, cells, facts, known_as, people, fitted, kernel, rows_per_tile, marks, n_rows)


def plan_last_pass(plan: Plan, fitted: Fit, key: Key, identity: bytes, taken: Sequence[str]) -> WriteJob:
    """Return what becomes of every row in the last pass.

    Parameters
    ----------
    identity : bytes
        Of the release.
    taken : sequence of str
        All columns of the table, whose names a new column cannot have.
    """
    names = plan.keyed.names_out(fitted.facts.names)
    if names is None:
        columns, order = fitted.schema.numbers, plan.order
    else:
        columns, order = new_columns(fitted.schema, names), (*plan.roles.keep, *names)
        clash = sorted(set(names) & set(plan.roles.keep))
        if clash:
            raise DataError(f"the released column {clash[0]!r} has the name of a kept one", hint="rename that column")
    named = plan.policy.release.row_id
    if named and ROW_ID in (*order, *taken):
        raise DataError(f"the table has a column {ROW_ID!r} of its own", hint="rename that column")
    undo = undo_map(plan.keyed.inverse(fitted.fitted), fitted.cells.fills) if plan.keyed.invertible else None
    return WriteJob(
        kernel=fitted.kernel,
        rows_per_tile=fitted.rows_per_tile,
        columns=columns,
        order=order,
        same_columns=names is None,
        invertible=plan.keyed.invertible,
        undo=undo,
        order_subkey=order_subkey(key, identity) if plan.policy.release.shuffle else None,
        n_rows=fitted.schema.n_rows,
        hasher=rows_hasher(key, identity, [column.name for column in columns]),
        gaps=_gap_numbers(fitted.schema, fitted.cells) if plan.keyed.exchanges else None,
        relations=plan.relations or () if names is None else (),
        id_subkey=row_id_subkey(key, identity) if named else None,
    )


def _exposed(plan: Plan, schema: Schema, cells: Cells, facts: Facts, engine: Engine) -> NDArray[np.int64] | None:
    """Return the numbers of the rows that must not be released; None if nobody looks for them."""
    finder = plan.keyed.copy()  # decimals and bounds of the release are those of the rows that are left
    _settle(finder, schema, cells, plan)
    if plan.keyed.draws_rows:
        wanted = cells.id_subkey is not None  # who has more rows than count
        if not engine.holds_back:
            raise ParameterError(
                "the rows of this table have no numbers, and without them nobody can leave some out",
                hint="name a column of row numbers (row_number=...), or release it as a file",
            )
    else:
        wanted = engine.holds_back and cells.id_subkey is None
    rounds = finder.exposed_rounds(facts) if wanted else None
    if rounds is None:
        return None
    engine.begin_rounds(finder, facts, finding=True)
    held: NDArray[np.int64] = run_rounds(rounds, lambda wanted: engine.fill(cells, wanted), facts.n_rows)
    return held


def settle_drawn(plan: Plan, coded: CodedColumns) -> None:
    """Tell a method that draws rows what the policy says of the columns, before a row is read."""
    perturber, names = plan.keyed.perturber, plan.roles.confidential
    own: Any = perturber.bounds
    own = own if own is None or isinstance(own, Mapping) else dict.fromkeys(names, own)
    bounds = {name: rules.bounds for name, rules in plan.cells.rules.items() if rules.bounds is not None}
    last = {name: (0.0, float(len(codes.levels))) for name, codes in coded.codes.items()}
    perturber.bounds = {**bounds, **(own or {}), **last} or None
    plan.keyed.settle({}, {}, coded.kinds)
    for name in names:
        perturber.bounds_of(name)


def _settle(keyed: KeyedMethod, schema: Schema, cells: Cells, plan: Plan) -> None:
    """Tell a method what is known of the released columns."""
    if keyed.draws_rows:
        return
    keyed.settle(
        {column.name: column.decimals for column in schema.numbers if column.decimals is not None},
        _bounds(schema, plan),
        plan.kinds,
        _gaps(schema, cells),
        None if plan.relations is None else [one.text for one in plan.relations],
    )


def _bounds(schema: Schema, plan: Plan) -> dict[str, tuple[float, float]]:
    """Return the bounds of columns: those of the policy, and for a method that nobody chose those that one can see."""
    out = {}
    for column in schema.numbers:
        if column.rules.bounds is not None:
            _require_room(column)
            out[column.name] = column.rules.bounds
        elif plan.policy.method is None:
            out[column.name] = coarse_range(column.low, column.high)
    return out


def _require_room(column: NumberColumn) -> None:
    """Raise if no number with the column's decimals lies within its bounds."""
    assert column.rules.bounds is not None
    decimals = 0 if column.kind == "integer" else column.decimals
    if decimals is None or decimals > 15:
        return
    low, high = (round(bound * 10**decimals, 6) for bound in column.rules.bounds)
    if ceil(low) > floor(high):
        raise ParameterError(
            f"no value of column {column.name!r} lies within its bounds: it has {decimals} decimals",
            hint="widen the bounds in the policy, or give the column more decimals",
        )


def _gaps(schema: Schema, cells: Cells) -> dict[str, float]:
    """Return the number that stands for a missing cell, of every column that has some."""
    if cells.fills is None:
        return {}
    pairs = zip(schema.numbers, cells.fills.tolist(), strict=True)
    return {column.name: fill for column, fill in pairs if column.missing}


def _gap_numbers(schema: Schema, cells: Cells) -> Floats:
    """Return the number that stands for a missing cell of each column; nothing is equal to it where none is missing."""
    if cells.fills is None:
        return np.full(len(schema.numbers), np.nan)
    return np.where([column.missing > 0 for column in schema.numbers], cells.fills, np.nan)


def _ranges(schema: Schema) -> tuple[Floats, Floats]:
    return np.array([column.low for column in schema.numbers]), np.array([column.high for column in schema.numbers])
