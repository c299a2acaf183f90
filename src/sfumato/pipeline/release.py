"""`sfumato.release`: from a file and a policy to a protected file, a key and a receipt."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.core.keys import Key
from sfumato.core.sharing import shared_by
from sfumato.core.tiles import workers
from sfumato.exceptions import ParameterError
from sfumato.files.formats.postgresql import PostgresSource, copy_to_table
from sfumato.files.opening import file_kind, is_postgres, open_source
from sfumato.files.source import Source
from sfumato.files.spelled import require_text
from sfumato.files.storage.outputs import check_outputs, inputs
from sfumato.files.storage.workspace import Workspace
from sfumato.pipeline.engines.engine import Engine, Watch
from sfumato.pipeline.engines.local import LocalEngine
from sfumato.pipeline.history import History, reserved_files
from sfumato.pipeline.job import ReleaseJob
from sfumato.pipeline.keys import ReleaseKey, choose_key, key_folder
from sfumato.pipeline.lookback import LookBack
from sfumato.pipeline.plan import read_every_kind, settle_policy
from sfumato.pipeline.problems import told_at_once
from sfumato.pipeline.scaled import scale_path
from sfumato.policy.model import Policy
from sfumato.receipts.body import ReceiptBody
from sfumato.receipts.finding import read_receipt
from sfumato.receipts.shown import Receipt

Progress = Callable[[str, float], None]
EngineMaker = Callable[[Source, Workspace, Path, Watch], Engine]
PathLike = str | os.PathLike[str]


def release(
    source: PathLike | PostgresSource,
    target: PathLike,
    policy: Policy | PathLike | None = None,
    key: Key | PathLike | None = None,
    *,
    method: Any = None,
    parameters: Mapping[str, Any] | None = None,
    detail: str | Mapping[str, Any] | None = None,
    clusterings: Sequence[int | str] | None = None,
    identifier: Sequence[str] = (),
    keep: Sequence[str] = (),
    record_id: str | None = None,
    name: str | None = None,
    shuffle: bool | None = None,
    row_id: bool | None = None,
    scale: str | None = None,
    repeated: str | None = None,
    history: Sequence[PathLike] = (),
    as_of: Receipt | PathLike | None = None,
    receipt: PathLike | None = None,
    report: PathLike | None = None,
    force: bool = False,
    threads: int | None = None,
    n_jobs: int | None = None,
    batch_rows: int | None = None,
    progress: Progress | None = None,
    cancel: Any = None,
    engine: EngineMaker | None = None,
    query: str | None = None,
    table_name: str | None = None,
    dry_run: bool = False,
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
    detail : "coarse", "medium", "fine", or mapping of str to number, optional
        How finely the ladder of kept clusterings may cut the table; see `AtomMixing`. More detail keeps more of the
        clusters and hides less.
    clusterings : sequence of int or str, optional
        What the release keeps: "ladder", numbers of k-means clusters, other clusterers by name, as "ward 5". Default:
        the ladder.
    identifier, keep : sequences of str
        Columns to drop and columns to release unchanged, added to those of the policy. Default: none.
    record_id : str, optional
        A column that names a person: the noise is the same in all rows of one person.
    name : str, optional
        Name of the release, mixed into the noise ("r0").
    shuffle : bool, optional
        Whether the rows are shuffled by the key; they are unless the policy says otherwise.
    row_id : bool, optional
        Whether every released row gets a random id in a column `row_id`, by which `sfumato.join` finds its way back
        when a miner filters or reorders rows. The key draws it: it says nothing about the order of the original. Rows
        have none unless the policy says otherwise.
    scale : "std" or "range", optional
        Release columns of numbers already scaled, so that a miner need not: by means and standard deviations of the
        release, or by ranges rounded up to one digit. The scale stands beside the release, in a file that ends in
        ".scale.json" and may be handed out.
    repeated : "warn" or "error", optional
        What is done if people of the table were released before with other noise, or if that cannot be known: a
        `RepeatedReleaseWarning`, or a `RepeatedReleaseError` before anything is written. Default: what the policy says.
    history : sequence of paths
        Folders of other keys whose releases are looked up, too; added to those of the policy. Default: none.
    as_of : Receipt or path, optional
        The receipt of an earlier release with this key, which this one updates: rows that have not changed keep their
        noise and come out as before. For methods that add noise to each row by itself, with a record id.
    receipt : path, optional
        Where the sealed receipt is written; by default beside the key.
    report : path, optional
        Audit the release and write the owner's report to this HTML file. With limits in the policy's [audit] the
        audit always runs, and before the file appears: limits that are not met raise, and nothing is released.
    force : bool
        Whether an existing target, report and receipt are replaced; a key never is. Default: False.
    threads, n_jobs : int, optional
        Workers; by default one for each processor. `n_jobs` is scikit-learn's name for it, and -1 means the default.
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
    dry_run : bool
        Whether everything is checked and measured and nothing is left behind: no release, no key, no receipt, no
        report, no line in the history. A new key would draw other noise, so figures differ a little. Default: False.

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
    shared = workers(threads, n_jobs)
    chosen = None if method is None or isinstance(method, str) else method
    reserved = reserved_files(key_folder(key))
    settled = settle_policy(
        policy,
        method,
        parameters,
        identifier,
        keep,
        record_id=record_id,
        name=name,
        shuffle=shuffle,
        row_id=row_id,
        scale=scale,
        detail=detail,
        clusterings=clusterings,
        repeated=repeated,
        history=history,
    )
    sealed, page = (None if path is None else Path(path) for path in (receipt, report))
    with _target(target, table_name) as place:
        new_key = Path(key) if isinstance(key, str | os.PathLike) and not os.path.lexists(key) else None
        check_outputs(
            {
                "the release": place.path,
                "the report": page,
                "the receipt": sealed,
                "the new key": new_key,
                "the scale": scale_path(place.path) if settled.release.scale else None,
            },
            inputs(source, policy, key if new_key is None else None, as_of),
            force=force,
            folders=["the release"] if engine is not None else [],
            reserved=reserved,
        )
        kind = file_kind(place.path)
        if settled.release.scale and (engine is not None or place.deliver is not None):
            raise ParameterError("only files that this process writes can be scaled", hint="leave out scale")
        with _table(source, query, batch_rows) as plain, told_at_once(plain, settled, chosen):
            if kind not in ("parquet", "arrow"):
                kept = settled.columns.keep
                require_text({name: dtype for name, dtype in plain.types.items() if name in kept}, str(place.shown))
            table, settled = read_every_kind(plain, settled, chosen)
            owner = choose_key(key, place.path, trial=dry_run)
            watch = Watch(2, progress, cancel)
            watch.reach = 1.0 if settled.audit is None and page is None else 0.3
            with (
                shared_by(shared),
                _remembering(History(owner.folder), dry_run) as own,
                _workspace(place.path, dry_run) as workspace,
            ):
                lookback = LookBack(own, settled.release.history)
                job = ReleaseJob(
                    table,
                    settled,
                    owner,
                    perturber=chosen,
                    watch=watch,
                    lookback=lookback,
                    as_of=_earlier(as_of, owner, engine),
                )
                runner = (
                    LocalEngine(table, workspace, place.path, threads=shared, watch=watch)
                    if engine is None
                    else engine(table, workspace, place.path, watch)
                )
                job.fit(runner)
                job.write(runner, workspace)
                if settled.audit is not None or page is not None:
                    job.audit(workspace.part, kind)
                if dry_run:
                    watch.finish()
                    return job.receipt(place.shown, None)
                if settled.release.scale:
                    job.scale(workspace, kind, settled.release.scale)
                watch.check()  # the last moment: what is handed out stands
                stands = job.commit_file(workspace, sealed, page, force=force, deliver=place.deliver)
        return job.receipt(place.shown, stands)


def _earlier(as_of: Receipt | PathLike | None, owner: ReleaseKey, engine: EngineMaker | None) -> ReceiptBody | None:
    """Return the receipt of the release that is updated."""
    if as_of is None:
        return None
    if engine is not None:
        raise ParameterError("updates are released by this process", hint="leave out engine=...")
    if owner.new:
        raise ParameterError("an update needs the key of the earlier release", hint="name it with key=...")
    if not isinstance(as_of, Receipt):
        return read_receipt(Path(as_of), owner.key)
    if as_of.key_fingerprint != owner.key.fingerprint:
        raise ParameterError("the earlier release was made with another key", hint="name its key with key=...")
    return as_of.body


@dataclass(frozen=True)
class _Target:
    """Where a release goes: the file that is made, how it is called, and what is done with it at the end."""

    path: Path
    shown: Path
    deliver: Callable[[Path], None] | None = None


@contextmanager
def _target(target: PathLike, table_name: str | None) -> Iterator[_Target]:
    """Yield where a release goes; for a database that is a file whose rows are copied in one transaction."""
    if not isinstance(target, str) or not is_postgres(target):
        yield _Target(Path(target), Path(target))
        return
    if not table_name:
        raise ParameterError("a database needs the name of the table to make", hint="table_name='released_people'")
    with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:  # only its owner may enter; released rows only
        yield _Target(
            Path(folder) / f"{table_name}.parquet",
            Path(f"table {table_name}"),
            lambda part: copy_to_table(part, target, table_name),
        )


@contextmanager
def _workspace(target: Path, dry_run: bool) -> Iterator[Workspace]:
    """Yield where a release is made: beside its target, or in a folder of its own that is gone afterwards."""
    if not dry_run:
        with Workspace(target) as workspace:
            yield workspace
        return
    with tempfile.TemporaryDirectory(prefix="sfumato-") as folder, Workspace(Path(folder) / target.name) as workspace:
        yield workspace


def _remembering(history: History, dry_run: bool) -> AbstractContextManager[History]:
    """Return a history that is begun if there is none; a dry run only reads it."""
    return nullcontext(history) if dry_run else history


@contextmanager
def _table(source: PathLike | PostgresSource, query: str | None, batch_rows: int | None) -> Iterator[Any]:
    """Yield the table to release: a file, or the rows of a query."""
    if isinstance(source, PostgresSource):
        yield source
    elif isinstance(source, str) and is_postgres(source):
        if query is None:
            raise ParameterError("a database needs a query", hint="query='SELECT ... ORDER BY ...'")
        with closing(PostgresSource(source, query)) as table:
            yield table
    else:
        yield open_source(source, batch_rows=batch_rows)
