"""Several owners, one release: summaries that are exchanged, merged, and released from, under a shared key."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sfumato.core.keys import Key
from sfumato.core.passes import Survey
from sfumato.core.secret import Hidden
from sfumato.core.stream import table_hasher
from sfumato.core.summaries import Together
from sfumato.core.system import processors
from sfumato.exceptions import ParameterError, SharedKeyWarning
from sfumato.files.opening import file_kind, open_source
from sfumato.files.shared_file import NamedTypes, SharedFile, read_shared, type_names, write_shared
from sfumato.files.source import Described, Source
from sfumato.files.storage.outputs import check_outputs, inputs
from sfumato.files.storage.workspace import Workspace
from sfumato.perturb.catalogue import DEFAULT_METHOD, method
from sfumato.pipeline.engines.engine import Watch
from sfumato.pipeline.engines.joint import JointEngine, NextPassError, OffsetSource, merged_learnt, own_answer
from sfumato.pipeline.engines.last_pass import Tally
from sfumato.pipeline.engines.local import LocalEngine
from sfumato.pipeline.fit import fit, known_as_of
from sfumato.pipeline.history import History
from sfumato.pipeline.job import ReleaseJob
from sfumato.pipeline.keys import choose_key
from sfumato.pipeline.lookback import LookBack
from sfumato.pipeline.plan import Plan, make_plan, settle_policy
from sfumato.policy.model import Policy


@dataclass(frozen=True, repr=False)
class Joined(Hidden):
    """What the owners have so far.

    Attributes
    ----------
    passes : int
        Passes that are merged.
    ready : bool
        Whether every owner can release now; otherwise each summarizes once more.
    owners : tuple of str
    n_rows : int
    """

    passes: int
    ready: bool
    owners: tuple[str, ...]
    n_rows: int


def summarize(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    policy: Policy | str | os.PathLike[str] | None = None,
    key: str | os.PathLike[str] | Key | None = None,
    *,
    owner: str,
    joint: str | os.PathLike[str] | None = None,
    force: bool = False,
    **options: Any,
) -> int:
    """Write one owner's summary of the next pass, sealed under the shared key, and return its number from 1.

    Parameters
    ----------
    source : path
        The owner's own table.
    target : path
        The summary file to write.
    policy : Policy or path, optional
        The same for all owners; after the first pass it is taken from `joint`.
    key : Key or path
        The shared key.
    owner : str
        Name of this owner, the same in every pass.
    joint : path, optional
        What `merge` has written; None for the first pass.
    **options
        method, parameters, identifier, keep and name, as in `sfumato.release`; for the first pass.
    """
    shared = _shared_key(key)
    check_outputs({"the summary": Path(target)}, inputs(source, policy, key, joint), force=force)
    table = open_source(source)
    before = None if joint is None else read_shared(Path(joint), shared, "joint")
    if before is None:
        settled = settle_policy(policy, **options)
        settled.release.history = []  # folders of one owner
        _check_method(settled)
    else:
        settled = Policy.model_validate(before.policy)
    rows = _own_rows(table, before, owner)
    plan = make_plan(table, settled, shared)
    local = LocalEngine(rows, Workspace(Path(target)), Path(target), threads=processors(), watch=Watch(2))
    stages = [] if before is None else before.stages
    learnt = None
    try:
        mine = None if before is None else _own_numbers(before, owner)
        fit(table, plan, shared, JointEngine(stages, own_answer(local, mine)), Watch(2))
    except NextPassError as wanted:
        learnt = wanted.learnt
    if learnt is None:
        raise ParameterError("every pass is merged already", hint=f"release now: sfumato release ... --joint {joint}")
    names, types = tuple(table.names), type_names(table.types, str(table.path))
    owners = ((owner, learnt[0]),) if before is None else before.owners
    made = SharedFile("summary", settled.model_dump(mode="json"), names, types, owners, [*stages, learnt], owner)
    write_shared(Path(target), shared, made)
    return len(made.stages)


def merge(
    summaries: Sequence[str | os.PathLike[str]],
    target: str | os.PathLike[str],
    key: str | os.PathLike[str] | Key,
    *,
    force: bool = False,
) -> Joined:
    """Join the summaries of all owners for one pass; the order of the first merge is the order of the rows.

    Parameters
    ----------
    target : path
        The joint file to write.
    key : Key or path
        The shared key.
    """
    shared = _shared_key(key)
    check_outputs({"the joint file": Path(target)}, inputs(key, *summaries), force=force)
    files = [read_shared(Path(path), shared, "summary") for path in summaries]
    if len({file.owner for file in files}) < max(len(files), 2):
        raise ParameterError("a merge joins summaries of at least two different owners", hint="check the list of files")
    first = files[0]
    for path, file in zip(summaries, files, strict=True):
        if file.agreed(shared) != first.agreed(shared):
            raise ParameterError(
                f"{path}: made with another policy, other columns or another joint file than {summaries[0]}",
                hint="all owners need the same policy, the same columns and types, and the same joint file",
            )
    number = len(first.stages)
    owners = tuple(file.owners[0] for file in files) if number == 1 else first.owners
    if sorted(name for name, _ in owners) != sorted(file.owner for file in files):
        raise ParameterError(
            "not the owners of the first merge: " + ", ".join(file.owner for file in files),
            hint="they were: " + ", ".join(name for name, _ in owners),
        )
    answers = [file.stages[-1] for file in files]
    table: Described = NamedTypes(first.names, first.types)
    settled = Policy.model_validate(first.policy)
    stages, ready = _joined(table, settled, shared, first.stages[:-1], answers)
    made = SharedFile("joint", first.policy, first.names, first.types, owners, stages, "")
    write_shared(Path(target), shared, made)
    return Joined(len(stages), ready, tuple(name for name, _ in owners), sum(rows for _, rows in owners))


def release_joint(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    key: str | os.PathLike[str],
    joint: str | os.PathLike[str],
    *,
    owner: str,
    repeated: str | None = None,
    history: Sequence[str | os.PathLike[str]] = (),
    force: bool = False,
) -> tuple[Plan, Tally]:
    """Release one owner's rows as they would be in the release of all owners' rows.

    Parameters
    ----------
    key : path
        The shared key.
    joint : path
        What the last `merge` has written.
    repeated, history
        As in `sfumato.release`: this owner's own rows are looked up in this owner's own history.
    """
    target = Path(target)
    check_outputs({"the release": target}, inputs(source, key, joint), force=force)
    held = choose_key(_existing(key), target)
    file = read_shared(Path(joint), held.key, "joint")
    table = open_source(source)
    rows = _own_rows(table, file, owner)
    settled = settle_policy(Policy.model_validate(file.policy), repeated=repeated)
    job = ReleaseJob(table, settled, held, watch=Watch(1))
    file_kind(target)
    with History(held.folder) as past, Workspace(target) as workspace:
        local = LocalEngine(rows, workspace, target, threads=processors(), watch=job.watch)
        _finish_fit(job, JointEngine(file.stages, None, local))
        # this owner's own table: its labels find their way back by it, and its history knows it
        facts, cells, lookback = job.fitted.facts, job.fitted.cells, LookBack(past, history)
        hashers = [table_hasher(held.key, facts.names), *lookback.hashers(facts.names)]
        alone = LocalEngine(table, workspace, target, threads=1, watch=job.watch)
        surveys, _ = alone.fill(cells, Together([Survey(hasher, facts.n_columns) for hasher in hashers]))
        sketches = Together([*lookback.sketches(table, job.plan.roles)])
        people, _ = alone.fill(replace(cells, fills=None), sketches)
        first, *known = surveys.parts
        assert isinstance(first, Survey)
        job.look_back(lookback, *known_as_of([*known, *people.parts]))
        tally = job.write(local, workspace, rows=dict(file.owners)[owner])
        own = {"first_row": _first(file, owner), "fingerprint": first.fingerprint().hex()}
        job.commit_file(workspace, None, force=force, changes=own)
    return job.plan, tally


def _joined(
    table: Described, policy: Policy, key: Key, stages: list[Any], answers: list[Any]
) -> tuple[list[Any], bool]:
    """Return the stages with the merged answers, and whether the fit is complete with them."""
    left = [answers]

    def answer(_cells: Any, empty: Any) -> Any:
        if not left:
            raise NextPassError(None)
        return merged_learnt(empty, left.pop())

    engine = JointEngine(stages, answer)
    try:
        fit(table, make_plan(table, policy, key), key, engine, Watch(2))
    except NextPassError:
        return engine.stages, False
    return engine.stages, True


def _finish_fit(job: ReleaseJob, engine: JointEngine) -> None:
    """Fit a release from the passes that all owners have made, or raise if another one is wanted."""
    complete = True
    try:
        job.fit(engine)
    except NextPassError:
        complete = False
    if not complete:
        raise ParameterError(
            "the owners have not finished: another pass is wanted",
            hint="every owner runs `sfumato summarize` with this joint file, then `sfumato merge` joins them",
        )


def _own_rows(table: Source, joint: SharedFile | None, owner: str) -> Source:
    return table if joint is None else OffsetSource(table, _first(joint, owner))


def _own_numbers(joint: SharedFile, owner: str) -> tuple[int, int]:
    first = _first(joint, owner)
    return first, first + dict(joint.owners)[owner]


def _first(joint: SharedFile, owner: str) -> int:
    before = 0
    for name, rows in joint.owners:
        if name == owner:
            return before
        before += rows
    raise ParameterError(
        f"{owner!r} is not among the owners", hint="they are: " + ", ".join(name for name, _ in joint.owners)
    )


def _check_method(policy: Policy) -> None:
    """Refuse methods that owners with one key can undo, and tables' neighbours; say what noise is worth here."""
    row = method(policy.method.name if policy.method else DEFAULT_METHOD)
    if row.invertible:
        raise ParameterError(
            f"{row.name} can be undone with the key, and here every owner has it",
            hint="choose one-d or mix; `sfumato methods` says which can be undone",
        )
    if row.draws_rows:
        raise ParameterError(
            f"{row.name} adds its noise once, and several owners would each add their own",
            hint="let one owner release the tables together, or choose one-d or mix",
        )
    if row.tier == "table" or row.load().exchanges:
        raise ParameterError(
            f"{row.name} groups rows with their neighbours, who belong to other owners", hint="choose one-d or mix"
        )
    if policy.columns.record_id is not None:
        raise ParameterError("record ids are not for releases of several owners", hint="leave out record_id=...")
    if not row.hides_from_key_holders:
        warnings.warn(
            f"{row.name} adds noise that the key makes: owners who share it can subtract it from one another's rows. "
            "Between owners, one-d and mix protect.",
            SharedKeyWarning,
            stacklevel=3,
        )


def _shared_key(key: Any) -> Key:
    return key if isinstance(key, Key) else Key.load(_existing(key))


def _existing(key: Any) -> Any:
    if key is None:
        raise ParameterError("owners share a key", hint="one of them makes it: sfumato key new shared.key")
    return key
