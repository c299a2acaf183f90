"""One release, step by step: plan, fit, write, audit, commit. Whoever releases anything drives this.

The steps are the same for a file, a Spark DataFrame, a table of a database and one owner among several; what differs is
who computes (the engine) and where the finished rows go.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sfumato.core.passes import stoppable
from sfumato.core.people import People
from sfumato.core.secret import Hidden
from sfumato.exceptions import (
    DataError,
    ParameterError,
    RepeatedReleaseError,
    RepeatedReleaseWarning,
    SfumatoError,
    SingledOutWarning,
    UnchangedCellsWarning,
)
from sfumato.files.coded import CodedColumns, CodedSource
from sfumato.files.codes import Codes
from sfumato.files.finish import new_columns, singled_out
from sfumato.files.opening import open_released
from sfumato.files.row_ids import ROW_ID
from sfumato.files.source import Described
from sfumato.files.storage.workspace import Workspace, check_target, file_digest, guarded_writes
from sfumato.perturb.mechanism.checks import about_held_back, about_unchanged
from sfumato.pipeline.budget import Claim, PrivacyLedger
from sfumato.pipeline.engines.engine import Engine, Watch
from sfumato.pipeline.engines.last_pass import Tally, WriteJob, require_relations
from sfumato.pipeline.fit import Fit, fit, gap_numbers
from sfumato.pipeline.keys import ReleaseKey
from sfumato.pipeline.lookback import LookBack, notes_of, problems_of, warning_of
from sfumato.pipeline.plan import make_plan
from sfumato.pipeline.scaled import ROUND_RANGE, Scale, about_scale, rows_digest, scale_file, scale_path, scale_text
from sfumato.pipeline.undo import undo_map
from sfumato.pipeline.update import Update, check_update, saved_update, with_decimals
from sfumato.policy.model import Policy
from sfumato.receipts.body import (
    ReceiptBody,
    order_subkey,
    receipt_path,
    release_identity,
    row_id_subkey,
    rows_hasher,
    seal_receipt,
    write_private,
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
        self._check_budget()
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
        self._look_back()
        return self._fitted

    def look_back(self, lookback: LookBack, known_as: bytes | None, people: tuple[People, ...]) -> None:
        """Look up the rows of one owner among several, whose history is its own.

        Parameters
        ----------
        known_as, people
            How the histories know these rows; see `Fit`.
        """
        self._lookback, self._fitted = lookback, replace(self.fitted, known_as=known_as, people=people)
        self._look_back()

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
        unchanged = _mostly_unchanged(self._tally, self.fitted, self.plan.keyed.method)
        if unchanged:
            self._warn(unchanged, UnchangedCellsWarning)
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
        earlier = {path: path.read_bytes() if path.exists() else None for path in files}
        noted, counted = False, ""
        try:
            self._owner.save()
            for path, content in files.items():
                write_private(path, content)
            noted = self._note(receipt.name)
            counted = self._count_privacy(receipt.name)
            deliver()
        except BaseException:
            if not stands():  # once the release is in its place, what belongs to it stays
                self._owner.forget()
                for path, before in earlier.items():
                    _put_back(path, before)
                if counted:
                    PrivacyLedger(self._owner.folder).forget(counted)
                if noted and self._lookback is not None and self.fitted.known_as is not None:
                    self._lookback.forget(self.fitted.known_as, self.identity)
            raise
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

    @cached_property
    def last_pass(self) -> WriteJob:
        """What becomes of every row."""
        plan, fitted, key = self.plan, self.fitted, self._owner.key
        names = plan.keyed.names_out(fitted.facts.names)
        if names is None:
            columns, order = fitted.schema.numbers, plan.order
        else:
            columns, order = new_columns(fitted.schema, names), (*plan.roles.keep, *names)
            clash = sorted(set(names) & set(plan.roles.keep))
            if clash:
                raise DataError(
                    f"the released column {clash[0]!r} has the name of a kept one", hint="rename that column"
                )
        named = self._policy.release.row_id
        if named and ROW_ID in (*order, *self._table.names):
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
            order_subkey=order_subkey(key, self.identity) if self._policy.release.shuffle else None,
            n_rows=fitted.schema.n_rows,
            hasher=rows_hasher(key, self.identity, [column.name for column in columns]),
            gaps=gap_numbers(fitted.schema, fitted.cells) if plan.keyed.exchanges else None,
            relations=plan.relations or () if names is None else (),
            id_subkey=row_id_subkey(key, self.identity) if named else None,
        )

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
        warnings.warn(note, kind, stacklevel=4)

    def _look_back(self) -> None:
        """Say which earlier releases hold the same people, or refuse to release them again if the policy says so."""
        if self._lookback is None:
            return
        mine = {self.identity, *(() if self._update is None else self._update.chain)}
        past = self._lookback.past(self.fitted.people, self.fitted.known_as, mine)
        if past.problems:
            self._repeated(problems_of(past.problems))
        said = warning_of(past)
        if said is not None:
            self._repeated(said)
            self.notes += notes_of(past)

    def _repeated(self, said: str) -> None:
        if self._policy.release.repeated == "error":
            raise RepeatedReleaseError(
                f"nothing was released: {said}", hint='repeated = "warn" in the policy releases it all the same'
            )
        self._warn(said, RepeatedReleaseWarning)

    @property
    def _claim(self) -> Claim | None:
        """What a method with a formal guarantee promises here."""
        keyed = self.plan.keyed
        if keyed.claim is None:
            return None
        public = getattr(keyed.perturber, "count", "private") == "public"
        return Claim(*keyed.claim, replaced=public, person=self.plan.roles.record_id is not None)

    def _check_budget(self) -> None:
        """Refuse a private release that the policy's budget does not cover, before a row is read."""
        if self._claim is not None:
            after = PrivacyLedger(self._owner.folder).require(self._claim, self._policy.release.budget)
            self.notes.append(after.words)

    def _count_privacy(self, name: str) -> str:
        """Write a private release into the ledger, and return its line there; empty if it is none."""
        ledger, claim = PrivacyLedger(self._owner.folder), self._claim
        return "" if claim is None else ledger.note(name, claim, self._policy.release.budget)

    def _note(self, name: str) -> bool:
        """Tell the history of this release; return whether it did not know it yet."""
        if self._lookback is None:
            return False
        problem = "its key cannot be read"
        if self.fitted.known_as is not None:
            try:
                return self._lookback.note(self.fitted.known_as, self.identity, self.fitted.people, name)
            except (OSError, SfumatoError) as error:
                problem = getattr(error, "message", None) or str(getattr(error, "strerror", None))
        self._repeated(f"the history does not know this release: {problem}")
        return False


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


def _put_back(path: Path, content: bytes | None) -> None:
    """Leave a file as it was before a commit that failed: as it stood, or not at all."""
    with contextlib.suppress(OSError, SfumatoError):
        if content is None:
            path.unlink(missing_ok=True)
        elif path.read_bytes() != content:
            write_private(path, content)


def _mostly_unchanged(tally: Tally, fitted: Fit, method_id: str) -> str | None:
    """Return a warning about columns of which most cells came out as they went in, beyond chance."""
    same = [
        column.name
        for column in fitted.schema.numbers
        if column.high > column.low and tally.unchanged.get(column.name, 0) > (tally.rows - column.missing) / 2
    ]
    return about_unchanged(same, method_id) if same else None
