"""`sfumato.compare`: every method side by side on one table."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from sfumato.auditing.utility.yardstick import Yardstick
from sfumato.exceptions import ParameterError, SfumatoError
from sfumato.perturb.catalogue import method
from sfumato.tuning.budget import parse_seconds
from sfumato.tuning.comparison import Comparison, LeftOut, compared, pareto_front
from sfumato.tuning.settings import KMEANS, Setting, catalogue_settings
from sfumato.tuning.subject import MOST_ROWS, Subject, read_subject
from sfumato.tuning.trial import Trial, attack_release, measure, release_trial, trial_key

Progress = Callable[[str, float], None]


def compare(
    table: Any,
    methods: Sequence[str] | None = None,
    *,
    identifier: Sequence[str] = (),
    keep: Sequence[str] = (),
    clusters: Sequence[int] = KMEANS,
    budget: str | float = "10m",
    max_rows: int = MOST_ROWS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Release a table with every method, attack each release, and set what it hides against what it costs.

    Each method runs with the parameters the catalogue proposes and, where they differ, with those of its paper.
    Nothing is written and no key of yours is used: the releases stay in memory.

    Parameters
    ----------
    table : dataframe, array or path of a CSV, Parquet or Arrow file
        The table to compare methods on.
    methods : sequence of str, optional
        Ids or class names; None takes all.
    identifier, keep : sequences of str
        Columns that a release would drop, and those that it would leave as they are. Default: none.
    clusters : sequence of int
        Numbers of k-means clusters. Default: 2 to 8.
    budget : str or float
        Most time ("90s", "10m", or seconds). Settings that do not fit are listed as left out. Default: "10m".
    max_rows : int
        Larger tables are sampled. Default: 10000.
    seed : int
        The same seed gives the same comparison. Default: 0.
    progress : callable, optional
        Called with (what is being done, share done).

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
    limit = parse_seconds(budget)
    settings = catalogue_settings(methods, clusters)
    subject = read_subject(table, identifier=identifier, keep=keep, max_rows=max_rows, seed=seed)
    tell("clusters of the original", 0.0)
    yardstick = Yardstick(subject.values, clusters=clusters, n_init=10, repetitions=3, seed=seed)
    started = time.monotonic()
    trials: list[Trial] = []
    left_out: list[LeftOut] = []
    for number, setting in enumerate(settings):
        tell(setting.label, number / len(settings))
        if time.monotonic() - started > limit:
            left_out.append(LeftOut(label=setting.label, reason="no time left in the budget"))
            continue
        try:
            trials.append(_try(subject, setting, yardstick, seed))
        except SfumatoError as error:
            left_out.append(LeftOut(label=setting.label, reason=error.message))
    tell("done", 1.0)
    fronts = pareto_front(trials)
    return Comparison(
        n_rows=subject.n_rows,
        rows_measured=len(subject.values),
        columns=subject.names,
        clusters=yardstick.clusters,
        seed=seed,
        tried=tuple(
            compared(trial, method(trial.setting.method).name, best=best)
            for trial, best in zip(trials, fronts, strict=True)
        ),
        left_out=tuple(left_out),
        notes=subject.notes,
    )


def _try(subject: Subject, setting: Setting, yardstick: Yardstick, seed: int) -> Trial:
    released = release_trial(subject, setting, trial_key(seed, 0))
    useful = measure(yardstick, setting, released, rescaled=True)
    found = attack_release(subject, setting, released, seed=seed)
    return Trial(setting, useful, found)
