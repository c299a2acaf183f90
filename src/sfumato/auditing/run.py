"""`sfumato.audit`: put the tables side by side, attack, measure, judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.attack.catalogue import attacks as attack_catalogue
from sfumato.attack.catalogue import entry
from sfumato.attack.engine.result import without_order
from sfumato.auditing.aligned import columns_in_both
from sfumato.auditing.canaries import run_canaries
from sfumato.auditing.claimed import measure_claim
from sfumato.auditing.densities import measure_densities
from sfumato.auditing.effort import effort_named, left_out
from sfumato.auditing.method import describe_method, without_held_back
from sfumato.auditing.model import Audit, attack_line
from sfumato.auditing.order.unordered import as_many_rows
from sfumato.auditing.privacy import about_told, worst_records
from sfumato.auditing.session import AuditSession
from sfumato.auditing.spread import spread_out
from sfumato.auditing.whole.mixed_utility import measure_mixed_utility
from sfumato.core.sharing import shared_by
from sfumato.core.tiles import workers
from sfumato.exceptions import ParameterError, nearest_name
from sfumato.frames.coded import count_both
from sfumato.frames.frame import is_dataframe, numeric_in_both, take_rows
from sfumato.receipts.body import about_left, release_order
from sfumato.receipts.finding import receipt_of
from sfumato.receipts.released_rows import require_original_numbers, require_released_numbers
from sfumato.receipts.scaled import table_in_units

Progress = Callable[[str, float], None]

_IDLE = {"ineffective"}


def audit(
    original: Any,
    released: Any,
    key: Any = None,
    receipt: Any = None,
    method: Any = None,
    known_rows: int | Sequence[int] | None = None,
    *,
    order: Any = None,
    columns: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    attacks: Sequence[str] | None = None,
    clusters: Sequence[int] | None = None,
    utility: bool = True,
    chameleon: bool = False,
    population: Any = None,
    releases: Iterable[Any] = (),
    categories: Sequence[str] = (),
    kept: Sequence[str] = (),
    shadows: int = 0,
    effort: str = "normal",
    seconds: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    threads: int | None = None,
    n_jobs: int | None = None,
) -> Audit:
    """Attack a release the way an adversary would, and measure what it is still good for.

    Parameters
    ----------
    original, released : dataframes or arrays
        Rows of the same people, in any order; synthetic tables may have another number of rows.
    key : Key or path, optional
        Aligns the rows of a shuffled release file; releases made in memory keep their order and need none.
    receipt : Receipt or path, optional
        The receipt of a shuffled release file; None looks for it with the key.
    method : perturber, str or mapping, optional
        What the attacker may read about the method: a perturber (its secret parameters stay secret), a catalogue id, or
        {"method": id, parameter: value, ...}. Knowing more makes attacks stronger, so say it if it is public.
    known_rows : int or sequence of int, optional
        How many people the attacker knows, or which rows; by default as many as each attack's rung stands for.
    order : sequence of int, optional
        `order[i]` is the original row that stands in row i of the release.
    columns : sequence of str, optional
        The columns to audit; None takes all that stand in both tables.
    leave_out : sequence of str, optional
        Columns that are not audited: identifiers that the release keeps for a reason, say.
    attacks : sequence of str, optional
        Ids of the attacks to run; None runs all.
    clusters : sequence of int, optional
        Numbers of k-means clusters for utility; None is 2 to 8, and with effort="thorough" 2 to 20.
    utility : bool
        Whether to measure utility. Default: True.
    chameleon : bool
        Whether to cluster with Chameleon too. Default: False.
    population : dataframe or array, optional
        People of the same population who are not in the table (rung 2).
    releases : iterable of tables, optional
        Further releases of the same table.
    categories : sequence of str
        Columns of numbers that stand for categories (0, 1, ...); text, flags and dates of a release by exchange are
        counted without it. Default: none.
    kept : sequence of str
        Columns that the release holds as they are on purpose: attackers join on them, and nobody need guess them.
        Columns that are equal in every row are joined on without being named; categories among them cap the grade at B
        unless they are named. Default: none.
    shadows : int
        Shadow releases to make with the method, which must be a perturber: they tell who is in the table, and what one
        person changes. 64 are enough; each takes as long as a release. Default: 0, none.
    effort : str
        How hard attacks and utility try: "quick", "normal" or "thorough". It counts rows, starts and cells, never
        seconds, so the same tables give the same audit on any machine; `left_out` says what was not looked at.
        Default: "normal".
    seconds : float, optional
        Has no meaning any more, and warns: use effort.
    seed : int
        Chooses known people, targets and starts; the audit repeats exactly with the same one. Default: 0.
    progress : callable, optional
        Called with (what is being done, share done).
    threads, n_jobs : int, optional
        Workers; the audit does not depend on it. `n_jobs` is scikit-learn's name for it. Default: one for each
        processor that the process may use.

    Returns
    -------
    Audit

    Examples
    --------
    >>> import numpy as np
    >>> import sfumato as sf
    >>> table = np.random.default_rng(0).normal(size=(200, 3)) * [1, 10, 100]
    >>> rotated = sf.perturb.Rotation(insecure_seed=1).fit_transform(table)
    >>> report = sf.audit(table, rotated, utility=False)
    >>> report.grade
    'F'
    >>> print(report.verdict)
    Someone who knows 5 of the 200 people recovers every value of the others.
    """
    if isinstance(attacks, str):
        attacks = [attacks]
    if attacks is not None and not attacks:
        raise ParameterError("attacks is empty: an audit without attacks says nothing", hint="leave it out to run all")
    for name in attacks or ():
        entry(name)  # raises with the nearest name before any work is done
    if isinstance(original, str | Path) or isinstance(released, str | Path):
        raise ParameterError("audit takes tables, not paths", hint="read them first, or use: sfumato audit FILE FILE")
    _require_columns(kept, original, released)
    original, released, order, public, unknown, stay = _aligned(key, receipt, order, original, released)
    about = method if method is not None or public is None else public
    original = without_held_back(original, released, method) if order is None else original
    as_read = original, released
    if describe_method(about)[0].get("method") == "exchange" or not numeric_in_both(original, released):
        original, released, counted = count_both(original, released)
        categories = (*categories, *counted)
    uneven = ""
    if order is None:
        original, released, uneven = as_many_rows(original, released, seed=seed)
        order = "not known" if uneven else None
        unknown = (*unknown, uneven) if uneven else unknown
    with shared_by(workers(threads, n_jobs)):
        session = AuditSession(
            original,
            released,
            method=about,
            order=order,
            columns=columns,
            leave_out=leave_out,
            population=population,
            releases=releases,
            categories=categories,
            kept=(*kept, *stay),
            seed=seed,
            effort=effort_named(effort, seconds=seconds).name,
            shadows=shadows,
            as_read=as_read,
        )
        return run_session(
            session,
            attacks,
            known_rows,
            utility=({"chameleon": chameleon} | ({} if clusters is None else {"clusters": clusters}))
            if utility
            else None,
            notes=unknown,
            call=_call(session.method, known_rows, attacks, clusters, utility, effort, seed),
            progress=progress,
        )


def run_session(
    session: AuditSession,
    names: Sequence[str] | None = None,
    known: int | Sequence[int] | None = None,
    *,
    utility: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    call: str = "",
    progress: Progress | None = None,
) -> Audit:
    """Run every step of a session and return the audit.

    Parameters
    ----------
    names, known
        See `AuditSession.attack`.
    utility : mapping, optional
        Options of `measure_utility`. None (default) does not measure it.
    notes : sequence of str
        What the caller has to add. Default: nothing.
    call : str
        What repeats the audit, in Python.
    progress : callable, optional
        Called with (what is being done, share done).
    """
    session.require_enough()
    with spread_out(session):
        return _every_step(session, names, known, utility, notes, call, progress or (lambda _what, _share: None))


def _every_step(
    session: AuditSession,
    names: Sequence[str] | None,
    known: int | Sequence[int] | None,
    utility: Mapping[str, Any] | None,
    notes: Sequence[str],
    call: str,
    tell: Progress,
) -> Audit:
    tell("canaries", 0.0)
    canaries = run_canaries(session.tables.original, seed=session.seed)
    rows = [row for row in attack_catalogue() if (row in session.attacks if names is None else row.id in names)]
    tell(f"attack: {rows[0].name}", 0.05)
    for row, _ in session.attack(names, known):
        tell(f"attacked: {row.name}", min(0.6, 0.05 + 0.55 * (rows.index(row) + 1) / len(rows)))
    tell("records known", 0.6)
    judgement = session.grade()
    tell("inversion", 0.65)
    inverted = session.inversion()
    tell("utility", 0.7)
    useful = None
    if utility is not None:
        useful = session.utility(**utility, progress=lambda what, share: tell(what, 0.7 + 0.25 * share))
    whole = session.whole_figures
    if session.whole is not None and whole is not None and utility is not None:
        whole = replace(whole, utility=measure_mixed_utility(session.whole, seed=session.seed))
    tell("figures", 0.95)
    privacy = session.privacy()
    tables = session.tables
    results = session.results if session.order_is_known else [without_order(result) for result in session.results]
    claim = measure_claim(session.method, session.parameters, session.effort.name)
    if claim is not None:  # a guarantee that is found not to hold is worth nothing, whatever attacks get
        grade = "F" if claim.status == "exceeded" else judgement.grade
        judgement = replace(judgement, grade=grade, verdict=f"{claim.words} {judgement.verdict}")
    found = Audit(
        grade=judgement.grade,  # type: ignore[arg-type]  # one of the literals
        verdict=judgement.verdict
        + privacy.laid_open(
            judgement.grade, [name for name, _ in session.open_columns], session.left_by_clusters.tolist()
        )
        + _asked(names, len(session.attacks)),
        trustworthy=all(canary.passed is not False for canary in canaries),
        canaries=canaries,
        n_rows=len(tables.original),
        columns=tables.names,
        method=session.method,
        insecure_seed=session.insecure_seed,
        strongest=tuple(
            attack_line(one)
            for one in (judgement.cheap, judgement.many, judgement.joined, judgement.linkage)
            if one is not None
        ),
        attacks=tuple(attack_line(result) for result in sorted(results, key=lambda r: -(r.lift_low or -1.0))),
        found_nothing=tuple(
            f"{result.attack}: {result.reason}" for result in results if result.rate is None and result.status in _IDLE
        ),
        did_not_run=tuple(
            f"{result.attack}: {result.status}, {result.reason}"
            for result in results
            if result.rate is None and result.status not in _IDLE
        ),
        curve=session.curve,
        utility=useful,
        densities=measure_densities(tables.original, tables.released) if tables.same_columns else None,
        privacy=privacy,
        questions=session.questions(),
        inverted=inverted,
        worst_records=worst_records(tables, session.results),
        notes=(*tables.notes, *notes, *about_told(tables.names, session.left_by_clusters)),
        call=call,
        effort=session.effort.name,
        left_out=left_out(
            session.effort, len(tables.original), session.results, () if useful is None else useful.notes
        ),
        exposed=session.exposed,
        equality=session.equality,
        shadows=session.shadowed,
        claim=claim,
        whole=whole,
        order=_order(session),  # type: ignore[arg-type]  # one of the literals
        copies=session.copies,
    )
    tell("done", 1.0)
    return found


def _require_columns(kept: Sequence[str], original: Any, released: Any) -> None:
    if not (is_dataframe(original) and is_dataframe(released)):
        return
    shared = columns_in_both(original, released)
    for name in kept:
        if name not in shared:
            hint = nearest_name(name, shared) or f"there are: {', '.join(shared) or 'none'}"
            raise ParameterError(f"kept: no column {name!r} in both tables", hint=hint)


def _aligned(
    key: Any, receipt: Any, order: Any, original: Any, released: Any
) -> tuple[Any, Any, Any, dict[str, Any] | None, tuple[str, ...], tuple[str, ...]]:
    """Return the rows of the original that are released, the release in its units, the order, and what else is known.

    That is: the public method, what could not be checked, and the kept columns.
    """
    if key is None and receipt is None:
        return original, released, order, None, (), ()
    if order is not None:
        raise ParameterError("give order, or the key and receipt that know it, not both")
    if key is None:
        raise ParameterError("a receipt is opened with its key", hint='pass key=sfumato.Key.load("...")')
    opened, body = receipt_of(key, receipt, n_rows=len(released))
    released = table_in_units(released, body)
    place = release_order(opened, body)
    if body.held_back:
        left = np.ones(len(original), dtype=np.bool_)
        left[list(body.held_back)] = False
        original = take_rows(original, left)
    checks = (require_original_numbers(original, opened, body), require_released_numbers(released, opened, body, place))
    told = (*(note for note in checks if note is not None), *about_left(body))
    return original, released, place, {"method": body.method, **body.public}, told, tuple(body.kept)


def _call(
    method: str | None,
    known: int | Sequence[int] | None,
    attacks: Sequence[str] | None,
    clusters: Sequence[int] | None,
    utility: bool,
    effort: str,
    seed: int,
) -> str:
    """Return what repeats the audit; tables and whatever is large keep their names."""
    given = [] if method is None else [f"method={method!r}"]
    if known is not None:
        given.append(f"known_rows={known!r}" if isinstance(known, int) else "known_rows=known_rows")
    if attacks is not None:
        given.append(f"attacks={list(attacks)!r}")
    if clusters is not None and utility:
        given.append(f"clusters={list(clusters)!r}")
    if not utility:
        given.append("utility=False")
    if effort != "normal":
        given.append(f"effort={effort!r}")
    return ", ".join(["sfumato.audit(original, released", *given, f"seed={seed})"])


def _order(session: AuditSession) -> str:
    """Return how it is known who is who, in the light of what attacks got."""
    known = "assumed" if session.order == "not known" else session.order
    return known if session.order_is_known else "not known"


def _asked(names: Sequence[str] | None, every: int) -> str:
    return "" if names is None else f" Only {len(set(names))} of {every} attacks were asked for."
