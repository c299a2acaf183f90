"""One release, step by step: plan, fit, write, audit, commit. Whoever releases anything drives this.

The steps are the same for a file, a Spark DataFrame, a table of a database and one owner among several; what differs is
who computes (the engine) and where the finished rows go.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sfumato.core.passes import stoppable
from sfumato.core.people import People
from sfumato.core.secret import Hidden
from sfumato.exceptions import (
    ParameterError,
    SingledOutWarning,
    UnchangedCellsWarning,
)
from sfumato.files.coded import CodedColumns, CodedSource
from sfumato.files.codes import Codes
from sfumato.files.finish import singled_out
from sfumato.files.opening import open_released
from sfumato.files.source import Described
from sfumato.files.storage.workspace import Workspace, check_target, file_digest, guarded_writes
from sfumato.perturb.mechanism.checks import about_followed, about_held_back, about_unchanged, warn_caller
from sfumato.pipeline.books import Books, all_or_nothing
from sfumato.pipeline.engines.engine import Engine, Watch
from sfumato.pipeline.engines.last_pass import Tally, WriteJob, require_relations
from sfumato.pipeline.fit import Fit, fit, plan_last_pass
from sfumato.pipeline.keys import ReleaseKey
from sfumato.pipeline.lookback import LookBack
from sfumato.pipeline.plan import make_plan
from sfumato.pipeline.scaled import ROUND_RANGE, Scale, about_scale, rows_digest, scale_file, scale_path, scale_text
from sfumato.pipeline.update import Update, check_update, saved_update, with_decimals
from sfumato.policy.model import Policy
from sfumato.receipts.body import (
    ReceiptBody,
    receipt_path,
    release_identity,
    seal_receipt,
)
from sfumato.receipts.shown import Receipt


class ReleaseJob(Hidden):
    """A release under way; making one plans it, and refuses what cannot be.

    Parameters
    ----------
    policy : Policy
        With everything that overrides it.
    perturber : Perturber, optional
        Used instead of the policy's method.
    watch : Watch, optional
        Progress and cancelling.
    lookback : LookBack, optional
        Is asked for earlier releases of the same people, and told of this one when it stands.
    as_of : ReceiptBody, optional
        Of an earlier release, which this one updates: unchanged rows keep its noise.
    """

    def __init__(
        self,
        table: Described,
        policy: Policy,
        owner: ReleaseKey,
        *,
        perturber: Any = None,
        watch: Watch | None = None,
        lookback: LookBack | None = None,
        as_of: ReceiptBody | None = None,
    ) -> None:
        self.plan = make_plan(table, policy, owner.key, perturber)
        self._update: Update | None = None
        if as_of is not None:
            check_update(self.plan, as_of)
            self.plan, self._update = with_decimals(self.plan, as_of), Update.of(as_of)
        self.watch = watch or Watch(2)
        self.watch.passes = self.plan.keyed.passes
        self.notes: list[str] = []
        self.found: Any = None
        self._table, self._policy, self._owner, self._lookback = table, policy, owner, lookback
        self._books = Books(self.plan, owner, lookback)
        self._fitted: Fit | None = None
        self._tally, self._digest = Tally(), ""
        self._scale: Scale = {}
        self._side: dict[Path, bytes] = {}  # what is handed out beside the release
        self._scaled_rows = ""
        if policy.release.scale and self.plan.keyed.invertible:
            raise ParameterError(
                "a scaled release cannot be undone, and this method is for that", hint="leave scale out"
            )
        if isinstance(table, CodedSource):
            self.notes += [_about_rare(one) for one in table.coded.codes.values() if one.rare]

    def fit(self, engine: Engine) -> Fit:
        """Run every pass but the last.

        Parameters
        ----------
        engine : Engine
            Who computes.
        """
        self.notes += self._books.afford()
        key, watch = self._owner.key, self.watch
        with stoppable(watch.check):
            self._fitted = fit(self._table, self.plan, key, engine, watch, self._lookback, self._update)
        self.notes += self.plan.keyed.notes(self._fitted.fitted)
        held = len(self._fitted.held_back)
        if held:
            self.notes += () if self.plan.keyed.draws_rows else (about_held_back(held, self._fitted.n_rows),)
        if self._update is not None and self._fitted.marks is not None:
            kept, n_rows = self._fitted.marks.known(self._update.marks), self._fitted.facts.n_rows
            self.notes.append(f"{kept:,} of {n_rows:,} rows keep their noise; {n_rows - kept:,} are new or changed")
        self.notes += self._books.look_back(self.fitted, self._noises)
        return self._fitted

    def look_back(self, lookback: LookBack, known_as: bytes | None, people: tuple[People, ...]) -> None:
        """Look up the rows of one owner among several, whose history is its own.

        Parameters
        ----------
        known_as, people
            How the histories know these rows; see `Fit`.
        """
        self._fitted = replace(self.fitted, known_as=known_as, people=people)
        self._books = Books(self.plan, self._owner, lookback)
        self.notes += self._books.look_back(self.fitted, self._noises)

    def write(self, engine: Engine, workspace: Workspace, *, rows: int | None = None) -> Tally:
        """Run the last pass: the released rows go to the unfinished file of a workspace.

        Parameters
        ----------
        rows : int, optional
            How many rows are written here, if not all: those of one owner among several.
        """
        job = self.last_pass if rows is None else replace(self.last_pass, n_rows=rows)
        with guarded_writes(workspace.target):
            self._tally = engine.write(self.fitted.cells, job)
            self._digest = file_digest(workspace.part, self._owner.key.derive("released"))
        require_relations(self._tally)
        keyed = self.plan.keyed
        unchanged = [] if keyed.draws_rows else self._tally.mostly_unchanged(self.fitted.schema.numbers)
        if unchanged and keyed.exchanges:
            self.notes.append(about_followed(unchanged))
        elif unchanged:
            self._warn(about_unchanged(unchanged, keyed.method), UnchangedCellsWarning)
        warned = singled_out(self._tally.kept, self._tally.rows, self.plan.roles.keep)
        if warned:
            self._warn(warned, SingledOutWarning)
        return self._tally

    def audit(self, part: Path, kind: str) -> Any:
        """Attack the unfinished file, and raise if a limit of the policy is not met.

        Parameters
        ----------
        kind : str
            See `file_kind`.

        Returns
        -------
        Audit
        """
        from sfumato.pipeline.audited import audit_files, check_limits  # load scikit-learn and every attack

        original: Any = self._table
        limits = self._policy.audit
        released = open_released(part, self.last_pass.file_columns, ours=True, kind=kind)
        self.found = audit_files(
            original,
            released,
            self._owner.key,
            self.body,
            trusted=True,
            known_rows=None if limits is None else limits.known_rows,
            effort="normal" if limits is None else limits.effort,
            progress=self.watch.after,
        )
        if limits is not None and not self.plan.keyed.draws_rows:  # which says of the rows whether it stands
            check_limits(limits, self.found)
        return self.found

    def scale(self, workspace: Workspace, kind: str, how: str) -> None:
        """Scale the finished file, after it was audited; see `pipeline/scaled.py`.

        Parameters
        ----------
        kind : str
            See `file_kind`.
        how : "std" or "range"
        """
        key, facts = self._owner.key, self.fitted.facts
        coded: CodedColumns = getattr(self._table, "coded", CodedColumns())
        columns = [one for one in self.last_pass.columns if one.name not in (*coded.codes, *coded.commas)]
        # only where clusterings are named in these units: elsewhere, as with differential privacy, the release is all
        named = self.plan.keyed.public.get("scaling") == ROUND_RANGE
        spans = dict(zip(facts.names, (facts.high - facts.low).tolist(), strict=True)) if named else {}
        with guarded_writes(workspace.target):
            self._scale = scale_file(workspace, kind, self.last_pass.order, columns, how, spans)
            self._digest = file_digest(workspace.part, key.derive("released"))
        self._scaled_rows = rows_digest(key, self.body, workspace.part, kind)
        self._side[scale_path(workspace.target)] = scale_text(how, self._scale).encode()
        self.notes.append(about_scale(how, self._scale, workspace.target))

    def commit(
        self,
        receipt: Path,
        report: Path | None = None,
        deliver: Callable[[], None] = lambda: None,
        stands: Callable[[], bool] = lambda: False,
        changes: Mapping[str, Any] | None = None,
    ) -> None:
        """Write key, receipt, report and history, and then deliver the release: whoever sees it has all of them.

        If one of them fails, none is left.

        Parameters
        ----------
        receipt : Path
            Where the sealed receipt goes.
        report : Path, optional
            Where the owner's report of the audit goes.
        deliver : callable
            Puts the finished rows in their place.
        stands : callable
            Tells whether they are there, however `deliver` ended.
        changes : mapping, optional
            Fields of the receipt that are otherwise here.
        """
        files: dict[Path, bytes] = {receipt: seal_receipt(self._owner.key, replace(self.body, **(changes or {})))}
        if report is not None:
            files[report] = self.found.to_html().encode()
        files |= self._side
        with all_or_nothing(self._owner, self._books, files, stands):
            self.notes += self._books.write(self.fitted, self.identity, receipt.name)
            deliver()
        with contextlib.suppress(Exception):  # everything stands: a listener that fails now changes nothing
            self.watch.finish()

    def commit_file(
        self,
        workspace: Workspace,
        receipt: Path | None,
        report: Path | None = None,
        *,
        force: bool,
        deliver: Callable[[Path], None] | None = None,
        changes: Mapping[str, Any] | None = None,
    ) -> Path:
        """Commit a release whose finished part lies in a workspace, and return the path of its receipt.

        Parameters
        ----------
        receipt : Path, optional
            None puts the receipt beside the key.
        report : Path, optional
        force : bool
            Whether an existing file may be replaced.
        deliver : callable, optional
            Takes the finished part; None renames it to its target.
        changes : mapping, optional
            See `commit`.
        """
        place = receipt if receipt is not None else self.receipt_path(workspace.target)
        put = workspace.commit if deliver is None else lambda: deliver(workspace.part)
        with workspace.alone():  # of two releases to one target the second finds the first one's, and is refused
            check_target(workspace.target, force=force, folder=workspace.part.is_dir())
            self.commit(place, report, put, lambda: workspace.committed, changes)
        return place

    def receipt_path(self, target: Path) -> Path:
        """Return where the receipt goes if nobody says otherwise: beside the key, named after the release."""
        return receipt_path(self._owner.folder, target, self.body)

    def receipt(self, target: Path, place: Path | None) -> Receipt:
        """Return what the caller of a release gets: what was done, and no secret.

        Parameters
        ----------
        place : Path, optional
            Where the sealed receipt stands; None after a dry run.
        """
        plan, fitted = self.plan, self.fitted
        return Receipt(
            target=target,
            key_path=None if place is None else self._owner.path,
            receipt_path=place,
            key_fingerprint=self._owner.key.fingerprint,
            method=plan.keyed.method,
            parameters=plan.keyed.public,
            release=self._policy.release.name,
            n_rows=self._tally.rows,
            held_back=len(fitted.held_back),
            perturbed=plan.roles.confidential,
            kept=plan.roles.keep,
            dropped=plan.roles.identifier,
            missing=fitted.schema.missing,
            neutralised=self._tally.neutralised,
            broken=self._tally.broken,
            shuffled=self._policy.release.shuffle,
            passes=self.watch.done,
            notes=tuple(self.notes),
            audit=self.found,
            body=self.body,
        )

    @property
    def fitted(self) -> Fit:
        """The fitted release."""
        assert self._fitted is not None, "fit comes first"
        return self._fitted

    @cached_property
    def identity(self) -> bytes:
        """A keyed hash of everything that decides the noise."""
        keyed, name = self.plan.keyed, self._policy.release.name
        table = self.fitted.facts.fingerprint
        if self._update is not None:
            table += self._update.table  # the same table with other noise
        return release_identity(self._owner.key, name, keyed.method, keyed.parameters, table)

    @property
    def _noises(self) -> set[bytes]:
        """Identities of this release, and of those whose noise it keeps."""
        return {self.identity, *(() if self._update is None else self._update.chain)}

    @cached_property
    def last_pass(self) -> WriteJob:
        """What becomes of every row."""
        return plan_last_pass(self.plan, self.fitted, self._owner.key, self.identity, self._table.names)

    @property
    def body(self) -> ReceiptBody:
        """What the receipt holds; rows that were not written here are not known to it."""
        plan, fitted, keyed = self.plan, self.fitted, self.plan.keyed
        written = self._digest != ""
        lanes, rows = self._tally.lanes, self._tally.rows
        return ReceiptBody(
            release=self._policy.release.name,
            method=keyed.method,
            parameters=keyed.parameters,
            n_rows=rows if written else fitted.schema.n_rows,
            fingerprint=fitted.facts.fingerprint.hex(),
            identity=self.identity.hex(),
            shuffled=self._policy.release.shuffle,
            source_columns=self._table.names,
            dropped=plan.roles.identifier,
            kept=plan.roles.keep,
            columns=tuple(column.described() for column in fitted.schema.numbers),
            released_columns=self.last_pass.order,
            released_digest=self._digest,
            public={name: value for name, value in keyed.public.items() if not isinstance(value, dict)},
            fills=None if fitted.cells.fills is None else tuple(fitted.cells.fills.tolist()),
            record_id=plan.roles.record_id,
            held_back=fitted.held_back,
            fitted=keyed.save(fitted.fitted) if keyed.invertible else None,
            errors=self._tally.errors,
            released_rows=self._scaled_rows or (self.last_pass.hasher.digest(lanes, rows).hex() if written else ""),
            scale=self._scale,
            coded=_saved_codes(self._table),
            update=self._for_updates(),
            row_id=self._policy.release.row_id,
        )

    def _for_updates(self) -> dict[str, Any]:
        """Return what the receipt says for updates of this release."""
        if self._update is not None:
            return self._update.saved()
        fitted = self.fitted
        if fitted.marks is None:
            return {}
        return saved_update(fitted.facts.fingerprint, self.plan.keyed.save(fitted.fitted), fitted.marks.rising(), ())

    def _warn(self, note: str, kind: type[Warning]) -> None:
        self.notes.append(note)
        warn_caller(note, kind)


def _about_rare(codes: Codes) -> str:
    """Say what became of the rare categories of a column; which they are is nobody's business."""
    became = "missing" if codes.common is None else repr(codes.common)
    return (
        f"column {codes.name!r}: {len(codes.rare)} rare value(s) of {codes.people} people are {became} in the release; "
        f"{len(codes.levels)} values are left"
    )


def _saved_codes(table: Described) -> dict[str, Any]:
    """Return how the columns of a table are counted, for the receipt; nothing where all hold numbers."""
    coded: CodedColumns = getattr(table, "coded", CodedColumns())
    return coded.saved() if coded.codes or coded.commas or isinstance(table, CodedSource) else {}
