"""`sfumato.audit`: put the tables side by side, attack, measure, judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attack.catalogue import attacks as attack_catalogue
from sfumato.attack.catalogue import entry
from sfumato.attack.engine.referee import Referee
from sfumato.attack.engine.result import Result
from sfumato.auditing.canaries import run_canaries
from sfumato.auditing.curve import measure_curve
from sfumato.auditing.densities import measure_densities
from sfumato.auditing.grading import judge
from sfumato.auditing.inversion import Inversion, invert
from sfumato.auditing.model import Audit, Inverted, attack_line
from sfumato.auditing.pair import Pair, read_pair
from sfumato.auditing.privacy import Privacy, measure_privacy
from sfumato.auditing.questions import Answer, answer_questions
from sfumato.auditing.utility.measure import measure_utility
from sfumato.auditing.verbatim import find_verbatim
from sfumato.exceptions import DataError, ParameterError
from sfumato.frames.frame import all_columns, is_dataframe, numbers_with_gaps
from sfumato.metrics import interval_disclosure
from sfumato.receipts.body import release_order
from sfumato.receipts.finding import receipt_of
from sfumato.receipts.released_rows import NOT_CHECKED, ReleasedRows, require_original_numbers

__all__ = ["audit"]

Floats = NDArray[np.float64]
Progress = Callable[[str, float], None]

_WORST = 20
_FEWEST = 8
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
    clusters: Sequence[int] = tuple(range(2, 9)),
    utility: bool = True,
    chameleon: bool = False,
    population: Any = None,
    releases: Iterable[Any] = (),
    seconds: float = 10.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> Audit:
    """Attack a release the way an adversary would, and measure what it is still good for.

    Parameters
    ----------
    original, released : dataframes or arrays
        The same people, row by row.
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
        The columns to audit; None takes all that are numeric in both tables.
    leave_out : sequence of str, optional
        Columns that are not audited: identifiers that the release keeps for a reason, say.
    attacks : sequence of str, optional
        Ids of the attacks to run; None runs all.
    clusters : sequence of int
        Numbers of k-means clusters for utility.
    utility : bool
        Whether to measure utility.
    chameleon : bool
        Whether to cluster with Chameleon too.
    population : dataframe or array, optional
        People of the same population who are not in the table (rung 2).
    releases : iterable of tables, optional
        Further releases of the same table.
    seconds : float
        Time budget of one attack.
    seed : int
        Chooses known people, targets and starts; the audit repeats exactly with the same one.
    progress : callable, optional
        Called with (what is being done, share done).

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
    tell = progress or (lambda _what, _share: None)
    if isinstance(attacks, str):
        attacks = [attacks]
    if attacks is not None and not attacks:
        raise ParameterError("attacks is empty: an audit without attacks says nothing", hint="leave it out to run all")
    for name in attacks or ():
        entry(name)  # raises with the nearest name before any work is done
    if isinstance(original, str | Path) or isinstance(released, str | Path):
        raise ParameterError("audit takes tables, not paths", hint="read them first, or use: sfumato audit FILE FILE")
    order, public, unknown = _aligned(key, receipt, order, original, released)
    chosen: dict[str, Any] = {"columns": columns, "leave_out": leave_out}
    pair = read_pair(original, released, order=order, **chosen)
    if len(pair.original) < _FEWEST:
        raise DataError(
            f"{len(pair.original)} rows are too few for an audit; it needs {_FEWEST}",
            hint="with so few people every release singles someone out: do not hand it out",
        )
    if not (pair.original.max(axis=0) > pair.original.min(axis=0)).any():
        raise DataError("every column of the original is constant: there is nothing to protect and nothing to attack")
    described, insecure = describe_method(method if method is not None or public is None else public)
    method_id = described.pop("method", None)
    referee = Referee(
        pair.original,
        pair.released,
        columns=pair.names,
        method=method_id,
        parameters=described,
        population=None if population is None else read_pair(population, population, **chosen).original,
        releases=[read_pair(original, other, order=order, **chosen).released for other in releases],
        seed=seed,
        seconds=seconds,
    )
    tell("canaries", 0.0)
    canaries = run_canaries(pair.original, seed=seed)
    results = _run_attacks(referee, attacks, known_rows, tell)
    tell("records known", 0.6)
    curve = measure_curve(referee, *pair.original.shape)
    verbatim = find_verbatim(pair.original, pair.released, seed=seed) if pair.same_columns else None
    judgement = judge(results, *pair.original.shape, curve=curve, verbatim=verbatim, seed=seed)
    tell("inversion", 0.65)
    inversion = invert(referee, results, pair.released, seconds=seconds) if pair.same_columns else _nothing(pair)
    tell("utility", 0.7)
    useful = None
    if utility:
        useful = measure_utility(
            pair.original,
            pair.released,
            clusters=clusters,
            chameleon=chameleon,
            seed=seed,
            same_columns=pair.same_columns,
            progress=lambda what, share: tell(what, 0.7 + 0.25 * share),
        )
    tell("figures", 0.95)
    privacy = measure_privacy(pair.names, pair.original, pair.released, results, same_columns=pair.same_columns)
    answers = _questions(pair.original, pair.released, pair.same_columns, seed)
    inverted = _inverted(pair, inversion, seed)
    tell("done", 1.0)
    return Audit(
        grade=judgement.grade,  # type: ignore[arg-type]  # one of the literals
        verdict=judgement.verdict + _laid_open(judgement.grade, privacy) + _asked(attacks),
        trustworthy=all(canary.passed is not False for canary in canaries),
        canaries=canaries,
        n_rows=len(pair.original),
        columns=pair.names,
        method=method_id,
        insecure_seed=insecure,
        strongest=tuple(
            attack_line(one) for one in (judgement.cheap, judgement.many, judgement.linkage) if one is not None
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
        curve=curve,
        utility=useful,
        densities=measure_densities(pair.original, pair.released) if pair.same_columns else None,
        privacy=privacy,
        questions=answers,
        inverted=inverted,
        worst_records=worst_records(pair, results),
        notes=(*pair.notes, *unknown),
        call=_call(method_id, known_rows, attacks, clusters, utility, seed),
    )


def _aligned(
    key: Any, receipt: Any, order: Any, original: Any, released: Any
) -> tuple[Any, dict[str, Any] | None, tuple[str, ...]]:
    """Return the order of the rows, the public method, and what could not be checked, from key and receipt."""
    if key is None and receipt is None:
        return order, None, ()
    if order is not None:
        raise ParameterError("give order, or the key and receipt that know it, not both")
    if key is None:
        raise ParameterError("a receipt is opened with its key", hint='pass key=sfumato.Key.load("...")')
    opened, body = receipt_of(key, receipt, n_rows=len(released))
    place = release_order(opened, body)
    if is_dataframe(original):
        require_original_numbers(original, opened, body)
    seen = ReleasedRows(opened, body)
    unknown: str | None = NOT_CHECKED
    if seen.known and is_dataframe(released) and set(seen.names) <= set(all_columns(released)):
        seen.add(numbers_with_gaps(released, seen.names), place)
        unknown = seen.require("the release")
    return place, {"method": body.method, **body.public}, () if unknown is None else (unknown,)


def _call(
    method: str | None,
    known: int | Sequence[int] | None,
    attacks: Sequence[str] | None,
    clusters: Sequence[int],
    utility: bool,
    seed: int,
) -> str:
    """Return what repeats the audit; tables and whatever is large keep their names."""
    given = [] if method is None else [f"method={method!r}"]
    if known is not None:
        given.append(f"known_rows={known!r}" if isinstance(known, int) else "known_rows=known_rows")
    if attacks is not None:
        given.append(f"attacks={list(attacks)!r}")
    if tuple(clusters) != tuple(range(2, 9)) and utility:
        given.append(f"clusters={list(clusters)!r}")
    if not utility:
        given.append("utility=False")
    return ", ".join(["sfumato.audit(original, released", *given, f"seed={seed})"])


def describe_method(method: Any) -> tuple[dict[str, Any], bool]:
    """Return what is public about a method, and whether it was run with a seed for tests.

    Parameters
    ----------
    method : perturber, str, mapping or None
    """
    if method is None:
        return {}, False
    if isinstance(method, str):
        return {"method": method}, False
    if isinstance(method, Mapping):
        return dict(method), False
    if hasattr(method, "method_id") and hasattr(method, "catalogue_row"):
        public = {
            parameter.name: getattr(method, parameter.name)
            for parameter in method.catalogue_row().parameters
            if not parameter.secret and parameter.kind != "perturber"
        }
        return {"method": method.method_id, **public}, method.insecure_seed is not None
    raise ParameterError(
        f"method must be a perturber, a method's id or a mapping, got {type(method).__name__}",
        hint='for instance method="ina", or method={"method": "adp", "scale": 0.1}',
    )


def worst_records(pair: Pair, results: Sequence[Result]) -> tuple[int, ...]:
    """Return the positions of records released as they are, and of those that most attacks recovered or linked.

    Parameters
    ----------
    pair : Pair
    results : sequence of Result
    """
    count: Counter[int] = Counter()
    if pair.same_columns:
        untouched = np.flatnonzero((pair.original == pair.released).all(axis=1))
        count.update({int(row): len(results) for row in untouched})
    for result in results:
        if result.scores is not None and (result.lift_low or 0.0) > 0.0:
            won = result.scores.attack > result.scores.baseline
            count.update(int(row) for row in result.scores.rows[won])
    twice = [item for item in count.items() if item[1] > 1]  # one attack alone hits someone by luck
    worst = sorted(twice, key=lambda item: (-item[1], item[0]))[:_WORST]
    return tuple(int(pair.positions[row]) for row, _ in worst)


def _run_attacks(
    referee: Referee, names: Sequence[str] | None, known: int | Sequence[int] | None, tell: Progress
) -> list[Result]:
    rows = [row for row in attack_catalogue() if names is None or row.id in names]
    results = []
    for i, row in enumerate(rows):
        tell(f"attack: {row.name}", 0.05 + 0.55 * i / len(rows))
        results.append(referee.run(row.id))
        if known is not None and row.goal == "values" and {"records", "pairs"} & set(row.needs):
            # beside the attack's own number of known people: knowing more must never look safer
            results.append(referee.run(row.id, known))
    return results


def _asked(names: Sequence[str] | None) -> str:
    every = len(attack_catalogue())
    return "" if names is None else f" Only {len(set(names))} of {every} attacks were asked for."


def _laid_open(grade: str, privacy: Privacy) -> str:
    """Return a warning about columns that an attack gives away although few whole records are recovered."""
    names = [column.name for column in privacy.columns if column.residual is not None and column.residual < 0.05]
    if grade not in {"A", "B"} or not names:
        return ""
    listed = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f" But {len(names)} of {len(privacy.columns)} columns are laid open almost exactly: {listed}."


def _nothing(pair: Pair) -> Inversion:
    return Inversion("as-released", 0, np.empty(0, dtype=np.int64), np.empty((0, pair.original.shape[1])))


def _questions(original: Floats, released: Floats, same: bool, seed: int) -> tuple[Answer, ...]:
    if not same or original.shape[1] < 2 or len(original) < 8:
        return ()
    return answer_questions(original, released, seed=seed)


def _inverted(pair: Pair, inversion: Inversion, seed: int) -> Inverted:
    """Return linkage and disclosure before and after inversion, on the same rows and the same people."""
    rows = inversion.rows
    truth, released = pair.original[rows], pair.released[rows]
    enough = len(rows) >= 8
    before = Referee(truth, released, seed=seed).run("nearest").rate if enough else None
    after = Referee(truth, inversion.guess, seed=seed).run("nearest").rate if enough else None
    return Inverted(
        attack=inversion.attack,
        known=inversion.known,
        rows=len(rows),
        linked_as_released=before,
        linked_inverted=after,
        disclosed_as_released=interval_disclosure(truth, released) if enough else None,
        disclosed_inverted=interval_disclosure(truth, inversion.guess) if enough else None,
        questions=_questions(truth, inversion.guess, enough, seed),
    )
