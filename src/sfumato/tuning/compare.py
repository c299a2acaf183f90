"""`sfumato.compare`: every method side by side on one table."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from sfumato.auditing.grading import GRADES
from sfumato.core.errands.processes import Errands
from sfumato.core.passes import stop_if_asked
from sfumato.core.sharing import shared_by
from sfumato.core.tiles import in_order, workers
from sfumato.exceptions import ParameterError
from sfumato.frames.frame import numeric_columns
from sfumato.perturb.catalogue import method
from sfumato.policy.model import Limits
from sfumato.tuning.asked import PolicyLike, asked_policy, marked_table, policy_bounds, policy_setting
from sfumato.tuning.attempts import ELSEWHERE, Attempts
from sfumato.tuning.budget import time_left
from sfumato.tuning.comparison import Compared, Comparison, LeftOut, judged
from sfumato.tuning.settings import KMEANS, Setting, catalogue_settings
from sfumato.tuning.subject import MOST_ROWS, Subject, opened, other_columns, read_subject
from sfumato.tuning.trial import ABOUT_DRAWN, quiet_threads, takes_every_kind

Progress = Callable[[str, float], None]


def compare(
    table: Any,
    methods: Sequence[str] | None = None,
    *,
    identifier: Sequence[str] = (),
    keep: Sequence[str] = (),
    policy: PolicyLike = None,
    clusters: Sequence[int] = KMEANS,
    budget: str | float | None = None,
    max_rows: int = MOST_ROWS,
    seed: int = 0,
    progress: Progress | None = None,
    threads: int | None = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Release a table with every method, attack each release, and set what it hides against what it costs.

    Each method runs with the parameters the catalogue proposes and, where they differ, with those of its paper.
    Nothing is written and no key of yours is used: the releases stay in memory.

    A table with texts, flags or dates is released whole by the methods that take them (`exchange`). The others are
    measured on its columns of numbers, and marked: their figures do not compare with those on all columns.

    Parameters
    ----------
    table : dataframe, array or path of a CSV, Parquet or Arrow file
        The table to compare methods on.
    methods : sequence of str, optional
        Ids or class names; None takes all.
    identifier, keep : sequences of str
        Columns that a release would drop, and those that it would leave as they are. Default: none.
    policy : Policy or path, optional
        Says the same, and what stands for a missing value; its method with its parameters is compared, too, and
        notes say which settings meet its limits.
    clusters : sequence of int
        Numbers of k-means clusters. Default: 2 to 8.
    budget : str or float, optional
        Most time ("90s", "10m", or seconds); settings that do not fit are listed as left out. It warns: with a time
        the result depends on the machine.
    max_rows : int
        Larger tables are sampled. Default: 10000.
    seed : int
        The same seed gives the same comparison. Default: 0.
    progress : callable, optional
        Called with (what is being done, share done).
    threads, n_jobs : int, optional
        Workers; the comparison does not depend on it. `n_jobs` is scikit-learn's name for it. Default: one for each
        processor that the process may use.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np
    >>> import sfumato as sf
    >>> table = np.random.default_rng(0).normal(size=(120, 3)).round(2)
    >>> found = sf.compare(table, methods=["rdp", "cov"], clusters=[2, 3])
    >>> [(one.label, one.grade) for one in found.tried if one.label == "rdp"]
    [('rdp', 'F')]
    """
    tell = progress or (lambda _what, _share: None)
    if isinstance(methods, str):
        methods = [methods]
    if methods is not None and not methods:
        raise ParameterError("methods is empty: there is nothing to compare", hint="leave it out to compare all")
    shared, left = workers(threads, n_jobs), time_left(budget, time.monotonic)
    wanted = asked_policy(policy, identifier, keep)
    identifier, keep = wanted.columns.identifier, wanted.columns.keep
    own = policy_setting(wanted)
    settings = [*([] if own is None else [own]), *catalogue_settings(methods, clusters)]
    table = marked_table(opened(table), wanted)
    others = other_columns(table, (*identifier, *keep))
    full = [setting for setting in settings if others and takes_every_kind(setting)]
    rest = [setting for setting in settings if setting not in full]
    chosen: dict[str, Any] = {"identifier": identifier, "keep": keep, "max_rows": max_rows, "seed": seed}
    chosen["bounds"] = policy_bounds(wanted)
    subjects = [read_subject(table, every_kind=True, **chosen)] if full else []
    notes = list(subjects[0].notes) if full else []
    left_out: list[LeftOut] = []
    if rest and full and not set(numeric_columns(table)) - {*identifier, *keep}:
        left_out = [LeftOut(label=setting.label, reason="takes numbers only, and there are none") for setting in rest]
        rest = []
    if rest:
        subjects.append(read_subject(table, **chosen))
        notes += _numbers_notes(subjects[-1], others, full=bool(full))
    tell("clusters of the original", 0.0)
    runs = list(zip(subjects, [part for part in (full, rest) if part], strict=True))
    lines: list[list[Compared]] = []
    done = 0
    for subject, part in runs:
        attempts = Attempts(subject, clusters, seed)
        lines.append([])

        def attempt(setting: Setting, away: Errands) -> Compared | LeftOut:
            if left() < 0.0:
                return LeftOut(label=setting.label, reason="no time left in the budget")
            return cast("Compared | LeftOut", away(setting))

        with quiet_threads(), shared_by(shared):
            # those that take long are begun first, so that nobody waits for one at the end; time asks them in order
            order = list(range(len(part)))
            if budget is None:
                order.sort(key=lambda at: -method(part[at].method).passes)
            results: dict[int, Compared | LeftOut] = {}
            with Errands(ELSEWHERE, attempts.told, attempts, min(shared, len(part)), stop_if_asked) as away:
                if budget is None:
                    away.begin(shared)
                    attempts.prepare()
                asked = [part[at] for at in order]
                for at, found in zip(order, in_order(asked, partial(attempt, away=away), shared), strict=True):
                    tell(part[at].label, done / len(settings))
                    done += 1
                    results[at] = found
        found_in_order = [results[at] for at in range(len(part))]
        lines[-1] += [found for found in found_in_order if isinstance(found, Compared)]
        left_out += [found for found in found_in_order if isinstance(found, LeftOut)]
    tell("done", 1.0)
    tried = tuple(
        line for number, part in enumerate(lines) for line in judged(part, numbers_only=bool(full) and number > 0)
    )
    return Comparison(
        n_rows=subjects[0].n_rows,
        rows_measured=len(subjects[0].values),
        columns=subjects[0].names,
        clusters=attempts.clusters,
        seed=seed,
        tried=tried,
        left_out=tuple(left_out),
        notes=tuple(dict.fromkeys([*notes, *_within(tried, wanted.audit), *_about_drawn(tried)])),
    )


def _about_drawn(tried: Sequence[Compared]) -> list[str]:
    """Return what must be said beside methods with a guarantee whose rows belong to nobody."""
    drawn = [one.label for one in tried if one.cost_mean is not None]
    return [f"{', '.join(drawn)}: {note}" for note in ABOUT_DRAWN] if drawn else []


def _within(tried: Sequence[Compared], limits: Limits | None) -> list[str]:
    """Return which settings meet the limits of a policy."""
    if limits is None or (limits.min_grade is None and limits.max_misclassification is None):
        return []
    grade, most = limits.min_grade or "F", limits.max_misclassification
    met = [
        one.label
        for one in tried
        if GRADES.index(one.grade) <= GRADES.index(grade) and (most is None or one.excess_mean <= most)
    ]
    asked = [f"grade {grade} or better"] if limits.min_grade else []
    asked += [] if most is None else [f"at most {most:.2%} of the rows in another cluster"]
    return [f"the limits of the policy ({', '.join(asked)}) are met by: {', '.join(met) or 'none of these'}"]


def _numbers_notes(subject: Subject, others: Sequence[str], *, full: bool) -> list[str]:
    """Return what methods that take numbers only were measured on."""
    if not others:
        return list(subject.notes)
    told = [note for note in subject.notes if not note.startswith("not numeric")]
    without = ", ".join(others)
    if full:
        marked = (
            f"methods marked (numbers) take numbers only: they were measured on {', '.join(subject.names)}, without "
            f"{without}, so their figures do not compare with those on all columns"
        )
        return [marked, *(f"{note}, for methods that take numbers only" for note in told)]
    return [f"none of these methods takes other values than numbers, so left out: {without}", *told]
