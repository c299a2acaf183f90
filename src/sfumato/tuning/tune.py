"""`sfumato.tune`: search methods and parameters for the best release within a limit on misclassification."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from sfumato.auditing.effort import effort_named
from sfumato.auditing.grading import GRADES
from sfumato.core.sharing import shared_by
from sfumato.core.tiles import workers
from sfumato.exceptions import DataError, ParameterError
from sfumato.perturb.catalogue import DEFAULT_METHOD, method
from sfumato.perturb.catalogue import methods as catalogue
from sfumato.policy.model import Limits, Policy
from sfumato.tuning.asked import PolicyLike, asked_policy, marked_table, policy_bounds, policy_setting
from sfumato.tuning.assess import TableAssessor
from sfumato.tuning.budget import time_left
from sfumato.tuning.dial import measure_dial
from sfumato.tuning.held_out import Confirmed, confirm, holds
from sfumato.tuning.policy_text import tuned_policy
from sfumato.tuning.search import Searched, search
from sfumato.tuning.settings import KMEANS, Setting
from sfumato.tuning.space import candidates as candidate_stream
from sfumato.tuning.spread import spread_over
from sfumato.tuning.subject import MOST_ROWS, Subject, opened, other_columns, read_subject
from sfumato.tuning.trial import ABOUT_DRAWN, EXCHANGE, draws_rows, quiet_threads
from sfumato.tuning.tuned import DialPoint, Finalist, Tried, Tuned, figures_of

Progress = Callable[[str, float], None]

REPETITIONS = 3
FINALISTS = 5
MOST_MISCLASSIFIED = 0.01  # unless somebody says otherwise
_LOOKS = {"quick": 32, "normal": 64, "thorough": 256}
_NEW_COLUMNS = (
    "its columns are new ones, so its clusters compare unscaled only, and its figures do not compare with the others'"
)
_DRAWN = "its rows are drawn anew with fresh noise, so the same seed does not find the same again"
_SEARCHING = 0.7  # share of the progress bar, and of the budget, before the held-out repetitions


def tune(
    table: Any,
    max_misclassification: float | None = None,
    *,
    min_grade: str | None = None,
    methods: Sequence[str] | None = None,
    identifier: Sequence[str] = (),
    keep: Sequence[str] = (),
    policy: PolicyLike = None,
    clusters: Sequence[int] = KMEANS,
    effort: str = "normal",
    budget: str | float | None = None,
    candidates: int | None = None,
    max_rows: int = MOST_ROWS,
    seed: int = 0,
    dial: bool = False,
    progress: Progress | None = None,
    threads: int | None = None,
    n_jobs: int | None = None,
) -> Tuned:
    """Search methods and parameters: misclassification within a limit, then the best grade, then the most hidden.

    Many settings (Sobol points of the ranges in the catalogue) are released in memory and clustered with little
    effort; the better half of each method is attacked; closer settings around the best are tried; the clusters of the
    best are checked with more effort and keys; five finalists get a full audit. Then they are repeated, best first,
    with keys and seeds that the search never saw, and the first that meets the limits in every repetition wins, so
    that the winner is not the luckiest one.

    On a table with texts, flags or dates only the methods that take them (`exchange`) are searched; if none of those
    asked for does, the columns of numbers are, and the policy drops the others.

    Parameters
    ----------
    table : dataframe, array or path of a CSV, Parquet or Arrow file
        The table to find a method for.
    max_misclassification : float, optional
        Most rows in another cluster beyond a re-run, as a share (mean over the numbers of clusters). Default: what the
        policy says, or 0.01.
    min_grade : "A" to "F", optional
        Worst grade that will do; by default what the policy says.
    methods : sequence of str, optional
        Ids or class names; None searches all that keep the columns and whose rows correspond, or, where the policy
        names a method with a guarantee, that one: its epsilon and delta stay as they are.
    identifier, keep : sequences of str
        Columns that the release drops, and those that it leaves as they are. Default: none.
    policy : Policy or path, optional
        Says the same, what stands for a missing value, and the limits. The policy that is found says everything that
        this one says, with another method.
    clusters : sequence of int
        Numbers of k-means clusters. Default: 2 to 8.
    effort : str
        How many settings to look at first: "quick" (32), "normal" (64) or "thorough" (256). Default: "normal".
    budget : str or float, optional
        Time for the search ("60s", "5m", or seconds), as older versions took it. It warns: with a time the result
        depends on the machine, without it the same seed gives the same result on any.
    candidates : int, optional
        How many settings to look at first, instead of what the effort says.
    max_rows : int
        Larger tables are sampled. Default: 10000.
    seed : int
        Repeats the search. Default: 0.
    dial : bool
        Whether to measure the dial, too: what the levels of detail (coarse, medium, fine) of a release that keeps the
        ladder hide and keep on this table. Default: False.
    progress : callable, optional
        Called with (what is being done, share done).
    threads, n_jobs : int, optional
        Workers; without a budget of time the result does not depend on it. `n_jobs` is scikit-learn's name for it.
        Default: one for each processor that the process may use.

    Returns
    -------
    Tuned
        With `met`, `chosen`, `policy`, and the finalists' figures both ways.

    Examples
    --------
    >>> import numpy as np
    >>> import sfumato as sf
    >>> rng = np.random.default_rng(0)
    >>> table = (rng.normal(size=(120, 2)) + 8 * rng.integers(0, 2, (120, 1))).round(2)
    >>> found = sf.tune(table, 0.05, methods=["adp"], clusters=[2], candidates=4)
    >>> found.met, found.chosen.method, 'name = "adp"' in found.policy
    (True, 'adp', True)
    """
    tell = progress or (lambda _what, _share: None)
    wanted = asked_policy(policy, identifier, keep)
    identifier, keep, limits = wanted.columns.identifier, wanted.columns.keep, wanted.audit or Limits()
    if max_misclassification is None:
        said = limits.max_misclassification
        max_misclassification = MOST_MISCLASSIFIED if said is None else said
    min_grade = min_grade or limits.min_grade
    limit = _checked(max_misclassification, min_grade, candidates)
    left = time_left(budget, time.monotonic)
    if candidates is None and budget is None:
        candidates = _LOOKS[effort_named(effort).name]
    if isinstance(methods, str):
        methods = [methods]
    fixed = policy_setting(wanted)
    if methods is None and fixed is not None and draws_rows(fixed):
        methods = [fixed.method]  # who asks for a guarantee is not offered a method without one
    names = [row.id for row in catalogue() if row.row_preserving and not row.draws_rows] if methods is None else methods
    names = [method(name).id for name in names]
    if not names:
        raise ParameterError("methods is empty: there is nothing to search", hint="leave it out to search all")
    table = marked_table(opened(table), wanted)
    others = other_columns(table, (*identifier, *keep))
    every_kind = bool(others) and EXCHANGE in names
    numbers_only = [name for name in names if every_kind and name != EXCHANGE]
    names = [name for name in names if name not in numbers_only]
    told: dict[str, Any] = {"identifier": identifier, "keep": keep, "max_rows": max_rows, "seed": seed}
    subject = read_subject(table, **told, every_kind=every_kind, bounds=policy_bounds(wanted))
    tell("clusters of the original", 0.0)
    shared = workers(threads, n_jobs)
    assess, most = TableAssessor(subject, clusters, seed, limit, fixed), shared if budget is None else 1
    with quiet_threads(), shared_by(shared), spread_over(assess, most, FINALISTS, REPETITIONS) as spread:
        if budget is None:
            assess.prepare()
        found = search(
            candidate_stream(seed, names),
            spread,
            limit=limit,
            time_left=left,
            most=candidates,
            finalists=FINALISTS,
            seed=seed,
            progress=lambda what, share: tell(what, _SEARCHING * share),
        )
        if not found.finalists:
            raise DataError("no method applies to this table", hint="see: sfumato compare")

        def repeating(candidate: Any, number: int) -> None:
            done = _SEARCHING + (0.95 - _SEARCHING) * number / REPETITIONS
            tell(f"repeating {candidate.method} with another key", done)

        confirmed = confirm(
            found.finalists,
            spread.repeat,
            limit=limit,
            min_grade=min_grade,
            repetitions=REPETITIONS,
            tell=repeating,
        )
        ladders = [name for name in (*names, *numbers_only) if name == (EXCHANGE if subject.kinds else DEFAULT_METHOD)]
        points = (
            measure_dial(subject, ladders[0], seed, lambda what, share: tell(what, 0.95 + 0.05 * share))
            if (dial and ladders)
            else ()
        )
    tell("done", 1.0)
    notes = [*subject.notes, *_refused(numbers_only, others), *_left_out([*names, *numbers_only])]
    notes += [note for name in names if method(name).draws_rows for note in ABOUT_DRAWN]
    return _outcome(subject, assess, found, confirmed, limit, min_grade, seed, notes, wanted, points)


def _refused(names: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return why methods that take numbers only were not searched."""
    if not names:
        return []
    told = (
        f"not searched, because they take numbers only: {', '.join(names)}; ask for them by name, without {EXCHANGE}, "
        f"to search them on the columns of numbers, for a policy that drops {', '.join(others)}"
    )
    return [told]


def _left_out(names: Sequence[str]) -> list[str]:
    """Return why some methods were not searched."""
    return [
        f"{row.id} was not searched: {_DRAWN if row.draws_rows else _NEW_COLUMNS}; ask for it by name to search it"
        for row in catalogue()
        if (row.draws_rows or not row.row_preserving) and row.id not in names
    ]


def _outcome(
    subject: Subject,
    assess: TableAssessor,
    found: Searched,
    confirmed: Sequence[Confirmed],
    limit: float,
    min_grade: str | None,
    seed: int,
    notes: Sequence[str],
    wanted: Policy,
    dial: tuple[DialPoint, ...],
) -> Tuned:
    finalists = tuple(_finalist(assess.setting(one.candidate), one) for one in confirmed)
    place = next((i for i, one in enumerate(confirmed) if one.holds), None)
    nearest = min(range(len(confirmed)), key=lambda i: _distance(confirmed[i], limit, min_grade))
    policy = ""
    if place is not None:
        # what was asked for is what the release must keep to; if nothing was, it keeps to what was found
        worst = max((score.grade for score in confirmed[place].held_out), key=GRADES.index)
        chosen = assess.setting(confirmed[place].candidate)
        policy = tuned_policy(
            subject,
            chosen,
            max_misclassification=limit,
            min_grade=min_grade or worst,
            clusters=assess.asked_clusters,
            base=wanted,
        )
    return Tuned(
        max_misclassification=limit,
        min_grade=min_grade,  # type: ignore[arg-type]  # checked
        met=place is not None,
        chosen=None if place is None else finalists[place],
        nearest=finalists[nearest if place is None else place],
        finalists=finalists,
        tried=tuple(_tried(assess.setting(one), figures_of(score)) for one, score in found.seen),
        looked_at=found.counts.cheap,
        attacked=found.counts.quick,
        not_applicable=found.counts.not_applicable,
        repetitions=REPETITIONS,
        n_rows=subject.n_rows,
        rows_measured=len(subject.values),
        columns=subject.names,
        clusters=assess.clusters,
        seed=seed,
        policy=policy,
        notes=tuple(notes),
        dial=dial,
    )


def _tried(setting: Setting, figures: Any) -> Tried:
    return Tried(label=setting.label, settings=setting.words, figures=figures)


def _finalist(setting: Setting, one: Confirmed) -> Finalist:
    wrapped = {} if setting.inner is None else {setting.inner.method: setting.inner.public}
    return Finalist(
        label=setting.label,
        method=setting.method,
        name=method(setting.method).name,
        settings=setting.words,
        parameters={**setting.public, **wrapped},
        search=figures_of(one.search),
        held_out=tuple(figures_of(score) for score in one.held_out),
        holds=one.holds,
    )


def _distance(one: Confirmed, limit: float, min_grade: str | None) -> tuple[int, float, int]:
    """Return how far the worst repetition of a finalist is from the limits; the search's own score counts too."""
    scores = (one.search, *one.held_out)
    missed = sum(not holds(score, limit, min_grade) for score in scores)
    return (
        0 if not missed else 1,
        max(0.0, max(score.excess for score in scores) - limit),
        max(GRADES.index(score.grade) for score in scores),
    )


def _checked(limit: float, min_grade: str | None, count: int | None) -> float:
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not (isfinite(limit) and 0.0 <= limit < 1.0):
        raise ParameterError(
            f"max_misclassification must be a share from 0 to below 1, got {limit!r}", hint="0.01 means 1 % of the rows"
        )
    if min_grade is not None and min_grade not in GRADES:
        raise ParameterError(f"min_grade must be one of {', '.join(GRADES)}, got {min_grade!r}")
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        raise ParameterError(f"candidates must be a whole number of at least 1, got {count!r}")
    return float(limit)
