"""`sfumato.release`: from a file and a policy to a protected file, a key and a receipt."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.core.keys import Key
from sfumato.exceptions import DataError, ParameterError, RepeatedReleaseWarning, UnchangedCellsWarning
from sfumato.files.finish import new_columns
from sfumato.files.formats.postgresql import PostgresSource, copy_to_table, is_postgres
from sfumato.files.opening import file_kind, open_released, open_source
from sfumato.files.source import Described, Source
from sfumato.files.storage.outputs import check_outputs, inputs
from sfumato.files.storage.workspace import Workspace, check_target, file_digest, guarded_writes
from sfumato.pipeline.engines.engine import Engine, Tally, WriteJob
from sfumato.pipeline.engines.local import LocalEngine
from sfumato.pipeline.fit import Fit, fit
from sfumato.pipeline.history import History
from sfumato.pipeline.keys import ReleaseKey, choose_key
from sfumato.pipeline.plan import Plan, make_plan, settle_policy
from sfumato.pipeline.undo import undo_map
from sfumato.pipeline.watch import Watch
from sfumato.policy.model import Policy
from sfumato.receipts.body import ReceiptBody, order_subkey, release_identity, seal_receipt
from sfumato.receipts.finding import receipt_path, write_private
from sfumato.receipts.released_rows import rows_hasher
from sfumato.receipts.shown import Receipt

__all__ = ["REPEATED", "EngineMaker", "commit", "receipt_body", "release", "write_job"]

Progress = Callable[[str, float], None]
EngineMaker = Callable[[Source, Workspace, Path, Watch], Engine]


def release(
    source: str | os.PathLike[str] | PostgresSource,
    target: str | os.PathLike[str],
    policy: Policy | str | os.PathLike[str] | None = None,
    key: Key | str | os.PathLike[str] | None = None,
    *,
    method: Any = None,
    parameters: Mapping[str, Any] | None = None,
    identifier: Sequence[str] = (),
    keep: Sequence[str] = (),
    record_id: str | None = None,
    name: str | None = None,
    shuffle: bool | None = None,
    receipt: str | os.PathLike[str] | None = None,
    report: str | os.PathLike[str] | None = None,
    force: bool = False,
    threads: int | None = None,
    batch_rows: int | None = None,
    progress: Progress | None = None,
    cancel: Any = None,
    engine: EngineMaker | None = None,
    query: str | None = None,
    table_name: str | None = None,
) -> Receipt:
    r"""Release a file: read it in passes, perturb it, and write a protected file, a key and a sealed receipt.

    The table may be far larger than memory (methods of the table tier hold its confidential columns). The same
    file, policy and key give the same bytes, whatever the number of threads and the size of the batches. Nothing
    appears at the target before it is complete.

    Parameters
    ----------
    source : path, or address of a PostgreSQL database
        A CSV (gzip too), Parquet or Arrow/Feather file, or a folder of Parquet files. A `CsvFile` says how a CSV file
        is written that is not an ordinary one.
    target : path, or address of a PostgreSQL database
        The file to write; its ending says the kind. An existing one is refused unless `force`.
    policy : Policy or path, optional
        Columns, method and limits; see docs/guide/policy.md. None perturbs every column with the default method.
    key : Key or path, optional
        An existing key file is used, a new path gets a new key, None makes one in the user's own folder of keys.
    method : str or perturber, optional
        A catalogue id, or a perturber with its parameters (its own key and columns are not used).
    parameters : mapping, optional
        The method's parameters, over those of the policy.
    identifier, keep : sequences of str
        Columns to drop and columns to release unchanged, added to those of the policy.
    record_id : str, optional
        A column that names a person: the noise is the same in all rows of one person.
    name : str, optional
        Name of the release, mixed into the noise ("r0").
    shuffle : bool, optional
        Whether the rows are shuffled by the key; they are unless the policy says otherwise.
    receipt : path, optional
        Where the sealed receipt is written; by default beside the key.
    report : path, optional
        Audit the release and write the owner's report to this HTML file. With limits in the policy's [audit] the
        audit always runs, and before the file appears: limits that are not met raise, and nothing is released.
    force : bool
        Whether an existing target, report and receipt are replaced; a key never is.
    threads : int, optional
        Workers; by default one for each processor.
    batch_rows : int, optional
        About how many rows are read at a time.
    progress : callable, optional
        Called with (what is being done, share done).
    cancel : callable or threading.Event, optional
        The release stops, and leaves nothing, when it says true.
    engine : callable, optional
        Makes who computes, from (source, workspace, target, watch); by default this process on its threads.
    query : str, optional
        The rows to release, if the source is a database.
    table_name : str, optional
        The table to make, if the target is a database; it appears with all its rows or not at all.

    Returns
    -------
    Receipt
        What was done; it shows no secret.

    Examples
    --------
    >>> import tempfile, pathlib, sfumato as sf
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> rows = "".join(f"{i},{20 + i % 50},{i * 7 % 90}.5\n" for i in range(99))
    >>> _ = (folder / "people.csv").write_text("id,age,wage\n" + rows)
    >>> receipt = sf.release(folder / "people.csv", folder / "out.csv", identifier=["id"], key=folder / "my.key")
    >>> receipt.n_rows, receipt.perturbed, receipt.dropped
    (99, ('age', 'wage'), ('id',))
    """
    given = dict(locals())
    if is_postgres(source) or is_postgres(target):
        return _with_database(given)
    given.pop("query")
    given.pop("table_name")
    return _release(**given)


def _release(
    source: str | os.PathLike[str] | PostgresSource,
    target: str | os.PathLike[str],
    policy: Policy | str | os.PathLike[str] | None,
    key: Key | str | os.PathLike[str] | None,
    *,
    method: Any,
    parameters: Mapping[str, Any] | None,
    identifier: Sequence[str],
    keep: Sequence[str],
    record_id: str | None,
    name: str | None,
    shuffle: bool | None,
    receipt: str | os.PathLike[str] | None,
    report: str | os.PathLike[str] | None,
    force: bool,
    threads: int | None,
    batch_rows: int | None,
    progress: Progress | None,
    cancel: Any,
    engine: EngineMaker | None,
    deliver: Callable[[Path], None] | None = None,
) -> Receipt:
    """Release a file; `deliver` puts the finished part in its place, instead of renaming it to the target."""
    target = Path(target)
    watch = Watch(2, progress, cancel)
    new_key = key if isinstance(key, str | os.PathLike) and not os.path.lexists(key) else None
    check_outputs(
        {
            "the release": target,
            "the report": None if report is None else Path(report),
            "the receipt": None if receipt is None else Path(receipt),
            "the new key": None if new_key is None else Path(new_key),
        },
        inputs(source, policy, None if new_key is not None else key),
        force=force,
        folders=["the release"] if engine is not None else [],
    )
    file_kind(target)
    table = source if isinstance(source, PostgresSource) else open_source(source, batch_rows=batch_rows)
    owner = choose_key(key, target)
    perturber = None if method is None or isinstance(method, str) else method
    settled = settle_policy(
        policy,
        method=method if isinstance(method, str) else None,
        parameters=parameters,
        identifier=identifier,
        keep=keep,
        record_id=record_id,
        name=name,
        shuffle=shuffle,
    )
    plan = make_plan(table, settled, owner.key, perturber)
    watch.passes = plan.drive.passes
    watch.reach = 1.0 if settled.audit is None and report is None else 0.3
    history = History(owner.folder)
    notes: list[str] = []
    with Workspace(target) as workspace:
        if engine is None:
            runner: Engine = LocalEngine(table, workspace, target, threads=threads or os.cpu_count() or 1, watch=watch)
        else:
            runner = engine(table, workspace, target, watch)
        fitted = fit(table, plan, owner.key, runner, watch, history.hasher(plan.roles.confidential))
        identity = release_identity(
            owner.key, settled.release.name, plan.drive.method, plan.drive.parameters, fitted.facts.fingerprint
        )
        if fitted.known_as is not None and history.released_otherwise(fitted.known_as, identity):
            notes.append(REPEATED)
            warnings.warn(REPEATED, RepeatedReleaseWarning, stacklevel=2)
        job = write_job(plan, fitted, owner.key, identity)
        with guarded_writes(target):
            tally = runner.write(fitted.cells, job)
            digest = file_digest(workspace.part, owner.key.derive("released"))
        unchanged = mostly_unchanged(tally, fitted)
        if unchanged:
            notes.append(unchanged)
            warnings.warn(unchanged, UnchangedCellsWarning, stacklevel=2)
        body = receipt_body(table, plan, fitted, tally, identity, job, digest)
        place = Path(receipt) if receipt is not None else receipt_path(owner.folder, target, body)
        found, page = None, b""
        if settled.audit is not None or report is not None:
            separator = table.style.separator
            part = open_released(workspace.part, ours=True, separator=separator, kind=file_kind(target))
            known = None if settled.audit is None else settled.audit.known_rows
            found = _audit(table, part, owner.key, body, watch, known_rows=known)
            if settled.audit is not None:
                from sfumato.pipeline.audited import check_limits

                check_limits(settled.audit, found)
            page = b"" if report is None else found.to_html().encode()
        files = {place: seal_receipt(owner.key, body)}
        if report is not None:
            files[Path(report)] = page
        noted = [] if fitted.known_as is None else [(fitted.known_as, identity)]
        commit(workspace, owner, files, history, noted, force=force, deliver=deliver)
    watch.finish()
    return Receipt(
        target=target,
        key_path=owner.path,
        receipt_path=place,
        key_fingerprint=owner.key.fingerprint,
        method=plan.drive.method,
        parameters=plan.drive.public,
        release=settled.release.name,
        n_rows=tally.rows,
        perturbed=plan.roles.confidential,
        kept=plan.roles.keep,
        dropped=plan.roles.identifier,
        missing=fitted.schema.missing,
        neutralised=tally.neutralised,
        broken=tally.broken,
        shuffled=settled.release.shuffle,
        passes=watch.done,
        notes=tuple(notes),
        audit=found,
        body=body,
    )


REPEATED = (
    "this table was released before with other noise: whoever has both releases can average them. "
    "Hand out one of them only, or repeat the first with its key, method and parameters."
)


def _with_database(given: dict[str, Any]) -> Receipt:
    """Release from a query, or to a table of a database: a released file first, then its rows in one transaction."""
    source, target, name, query = (given.pop(one) for one in ("source", "target", "table_name", "query"))
    if is_postgres(source):
        if query is None:
            raise ParameterError("a database needs a query", hint="--query 'SELECT ... ORDER BY ...'")
        with closing(PostgresSource(source, query)) as table:
            return release(table, target, table_name=name, query=None, **given)
    if not name:
        raise ParameterError("a database needs the name of the table to make", hint="--table released_people")
    with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:  # only its owner may enter; released rows only
        part = Path(folder) / f"{name}.parquet"
        receipt = _release(source, part, deliver=lambda done: copy_to_table(done, target, name), **given)
    return replace(receipt, target=Path(f"table {name}"))


def write_job(plan: Plan, fitted: Fit, key: Key, identity: bytes) -> WriteJob:
    """Return the last pass of a release.

    Parameters
    ----------
    plan : Plan
    fitted : Fit
    key : Key
    identity : bytes
        See `release_identity`.
    """
    drive = plan.drive
    names = drive.names_out(fitted.facts.names)
    if names is None:
        columns, order = fitted.schema.numbers, plan.order
    else:
        columns, order = new_columns(fitted.schema, names), (*plan.roles.keep, *names)
        clash = sorted(set(names) & set(plan.roles.keep))
        if clash:
            raise DataError(f"the released column {clash[0]!r} has the name of a kept one", hint="rename that column")
    return WriteJob(
        kernel=fitted.kernel,
        rows_per_tile=fitted.rows_per_tile,
        columns=columns,
        order=order,
        same_columns=names is None,
        invertible=drive.invertible,
        undo=undo_map(drive.inverse(fitted.fitted), fitted.cells.fills) if drive.invertible else None,
        order_subkey=order_subkey(key, identity) if plan.policy.release.shuffle else None,
        n_rows=fitted.schema.n_rows,
        hasher=rows_hasher(key, identity, [column.name for column in columns]),
    )


def receipt_body(
    source: Described, plan: Plan, fitted: Fit, tally: Tally, identity: bytes, job: WriteJob, digest: str
) -> ReceiptBody:
    """Return what the receipt of a release holds."""
    drive = plan.drive
    columns = tuple(
        {
            "name": column.name,
            "kind": column.kind,
            "decimals": column.decimals,
            "fewest": column.fewest,
            "type": None if column.dtype is None else str(column.dtype),
            "missing_values": list(column.rules.missing_values),
        }
        for column in fitted.schema.numbers
    )
    return ReceiptBody(
        release=plan.policy.release.name,
        method=drive.method,
        parameters=drive.parameters,
        n_rows=tally.rows,
        fingerprint=fitted.facts.fingerprint.hex(),
        identity=identity.hex(),
        shuffled=plan.policy.release.shuffle,
        source_columns=source.names,
        dropped=plan.roles.identifier,
        kept=plan.roles.keep,
        columns=columns,
        released_columns=job.order,
        released_digest=digest,
        public={name: value for name, value in drive.public.items() if not isinstance(value, dict)},
        fills=None if fitted.cells.fills is None else tuple(fitted.cells.fills.tolist()),
        record_id=plan.roles.record_id,
        fitted=drive.save(fitted.fitted) if drive.invertible else None,
        errors=tally.errors,
        released_rows=job.hasher.digest(tally.lanes, tally.rows).hex() if digest else "",
    )


def mostly_unchanged(tally: Tally, fitted: Fit) -> str | None:
    """Return a warning about columns of which most cells came out as they went in."""
    same = [
        column.name
        for column in fitted.schema.numbers
        if column.high > column.low and tally.unchanged.get(column.name, 0) > (tally.rows - column.missing) / 2
    ]
    if not same:
        return None
    return (
        f"{len(same)} column(s) come out mostly as they went in: {', '.join(same[:5])}"
        f"{' ...' if len(same) > 5 else ''}. Rounding undoes noise that is small against the step of a column: "
        "raise the noise, or choose another method."
    )


def _audit(
    original: Source, released: Source, key: Key, body: ReceiptBody, watch: Watch, known_rows: int | None = None
) -> Any:
    from sfumato.pipeline.audited import audit_files  # loads scikit-learn's clusterers and every attack

    return audit_files(original, released, key, body, trusted=True, known_rows=known_rows, progress=watch.after)


def commit(
    workspace: Workspace,
    owner: ReleaseKey,
    files: Mapping[Path, bytes],
    history: History | None = None,
    noted: Sequence[tuple[bytes, bytes]] = (),
    *,
    force: bool,
    deliver: Callable[[Path], None] | None = None,
) -> None:
    """Write key, receipt, report and history, and then the release: whoever sees it has all of them.

    Parameters
    ----------
    workspace : Workspace
        With the finished part.
    owner : ReleaseKey
    files : mapping from paths to bytes
        What stands beside the release: the sealed receipt, and the report if one was asked for.
    history : History, optional
    noted : sequence of (table, noise)
        What the history is told.
    force : bool
        Whether an existing release may be replaced.
    deliver : callable, optional
        Puts the finished part in its place; None renames it to the target.
    """
    check_target(workspace.target, force=force, folder=workspace.part.is_dir())
    fresh = [path for path in files if not path.exists()]
    owner.save()
    try:
        for path, content in files.items():
            write_private(path, content)
        for table, noise in noted:
            assert history is not None
            history.add(table, noise)
        if deliver is None:
            workspace.commit()
        else:
            deliver(workspace.part)
    except BaseException:
        owner.forget()
        for path in fresh:
            path.unlink(missing_ok=True)
        for table, noise in noted:
            assert history is not None
            history.forget(table, noise)
        raise
