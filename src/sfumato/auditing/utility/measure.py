"""How well the clusters of a table survive in its release, beyond what re-running k-means loses anyway."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sfumato._arrays import Floats
from sfumato.auditing.utility.clusterings import effort_for
from sfumato.auditing.utility.comparisons import OTHER_COLUMNS, Progress, compare_all, does_not_apply, prepare_study
from sfumato.auditing.utility.rescaling import SCALINGS, one_hot
from sfumato.auditing.utility.result import INTERVAL, ClusteringAgreement, Utility
from sfumato.core.numbers import number_table
from sfumato.exceptions import DataError, ParameterError

STABLE_FLOOR = 0.01


def measure_utility(
    original: Floats,
    released: Floats,
    *,
    clusters: Iterable[int] = range(2, 9),
    n_init: int = 20,
    repetitions: int = 5,
    max_rows: int = 100_000,
    ward_rows: int = 5_000,
    chameleon: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
    same_columns: bool | None = None,
    scalings: Sequence[str] | None = None,
    categories: Sequence[int] = (),
) -> Utility:
    """Compare the clusters of a release with those of its original.

    For every number of clusters k and every scaling the *named* clustering is the best of `n_init` k-means++
    starts on the original in that scaling, continued until no label changes. Against it stand Lloyd's
    k-means on the release from the named centres (shared starts), the best of several k-means++ starts on the
    release (free starts), and the same, with the same seeds, on the original (the re-run floor). Ward's and
    Chameleon's clusterings of the release are compared with those of the original.

    Tables with more than 5,000 rows are searched with less effort, see
    `sfumato.auditing.utility.clusterings.effort_for`; the result says with how much.

    Parameters
    ----------
    original : array of shape (n, d)
        Finite numbers.
    released : array of shape (n, e)
        Row i is the release of row i of the original.
    clusters : iterable of int
        Numbers of clusters, at least 2 each. Those without more distinct rows in the original are left out.
    n_init : int
        Starts of the named clusterings, and of the free runs on small tables.
    repetitions : int
        Free runs with different seeds.
    max_rows : int
        Most rows that are clustered, drawn at random.
    ward_rows : int
        Most rows for Ward's tree.
    chameleon : bool
        Whether to cluster with Chameleon too, on at most 2,000 rows.
    seed : int
        Not negative; the same seed gives the same result on the same machine.
    progress : function of (text, share done), optional
    same_columns : bool, optional
        Whether released columns mean the same as the original ones; None if there are as many. Otherwise neither
        shared starts nor the owner's scaling apply, and the headline compares both tables unscaled.
    scalings : sequence of str, optional
        Of "owner", "std", "range" and "none". None measures "owner" (or, with other columns, "none") and the
        miner's own rescalings "std" and "range". The first that applies makes the headline.
    categories : sequence of int
        Columns that hold codes of categories, 0, 1, ...: they are clustered one-hot, and no scaling touches them.

    Examples
    --------
    >>> table = np.concatenate([np.arange(40.0), 100.0 + np.arange(40.0)]).reshape(-1, 1)
    >>> found = measure_utility(table, 3.0 - 2.0 * table, clusters=[2], n_init=3)
    >>> found.excess_mean, found.rescaled_worst, found.rows_measured
    (0.0, 0.0, 80)
    """
    before, after = number_table(original, "original"), number_table(released, "released")
    if len(before) != len(after):
        raise DataError(f"the original has {len(before)} rows and the release {len(after)}: rows must correspond")
    counts = _checked_clusters(clusters)
    _check_whole(n_init=n_init, repetitions=repetitions, max_rows=max_rows, ward_rows=ward_rows)
    if not (isinstance(seed, int | np.integer) and seed >= 0):
        raise ParameterError(f"seed must be a whole number of at least 0, got {seed!r}")
    same = before.shape[1] == after.shape[1] if same_columns is None else same_columns
    if same and before.shape[1] != after.shape[1]:
        raise ParameterError(f"same_columns=True, but there are {before.shape[1]} and {after.shape[1]} columns")
    wanted = tuple(scalings) if scalings is not None else ("owner" if same else "none", "std", "range")
    if not wanted or set(wanted) - set(SCALINGS):
        raise ParameterError(f"scalings must be some of {', '.join(SCALINGS)}, got {wanted!r}")
    applied = tuple(name for name in wanted if same or name != "owner")
    if not applied:
        raise ParameterError(
            f"the owner's scaling does not apply: {OTHER_COLUMNS}", hint='add "none", "std" or "range" to scalings'
        )

    raw = None
    if same and categories:
        (before, after), raw = one_hot([before, after], categories)
    chosen = np.random.default_rng(int(seed)).permutation(len(before))[:max_rows]
    effort = effort_for(len(chosen), n_init, repetitions)
    study = prepare_study(before, after, chosen, applied, same, effort, int(seed), raw)
    headline = applied[0]
    measured, notes = _with_enough_rows(study.original[headline], counts)
    rows, excesses = compare_all(study, headline, measured, ward_rows, chameleon, progress)
    if not same:
        rows += [does_not_apply(k, "owner", start, OTHER_COLUMNS) for k in measured for start in ("shared", "free")]
        notes.append(f"shared starts and the owner's scaling do not apply: {OTHER_COLUMNS}")
    if effort.start_rows < len(chosen):
        notes.append(
            f"k-means starts were tried for {effort.start_rounds} rounds on {effort.start_rows} rows, and the best was "
            f"continued on all: at most {effort.named_rounds} rounds for the named clusterings, {effort.free_rounds} "
            "for free runs"
        )
    if len(chosen) < len(before):
        notes.append(f"measured on {len(chosen)} of {len(before)} rows, drawn at random")
    order = {name: place for place, name in enumerate(("k-means", "ward", "chameleon"))}
    rows.sort(key=lambda row: (order[row.clusterer], row.k, list(SCALINGS).index(row.scaling), row.start or ""))
    excesses.sort(key=lambda row: (row.k, list(SCALINGS).index(row.scaling)))
    stable = [row for row in excesses if row.scaling == headline and row.floor < STABLE_FLOOR]
    rescaled = [_mean([row.excess for row in excesses if row.scaling == name]) for name in ("std", "range")]
    return Utility(
        excess_mean=_mean([row.excess for row in excesses if row.scaling == headline]),
        excess_stable=_mean([row.excess for row in stable]),
        shared_max=_largest(_shared(rows, {"owner"})),
        rescaled_worst=_largest([value for value in rescaled if value is not None]),
        rescaled_shared_max=_largest(_shared(rows, {"std", "range"})),
        headline_scaling=headline,
        stable_clusters=tuple(row.k for row in stable),
        rows=len(before),
        columns=before.shape[1],
        released_columns=after.shape[1],
        rows_measured=len(chosen),
        tree_rows=min(ward_rows, len(chosen)),
        named_starts=effort.named_starts,
        free_starts=effort.free_starts,
        repetitions=effort.repetitions,
        seed=int(seed),
        interval=INTERVAL,
        agreements=tuple(rows),
        excesses=tuple(excesses),
        notes=tuple(notes),
    )


def _with_enough_rows(points: Floats, clusters: Sequence[int]) -> tuple[list[int], list[str]]:
    """Return the numbers of clusters that can be named, and why others cannot."""
    most = max(clusters)
    distinct = len(np.unique(points[:1000], axis=0))
    if distinct <= most:
        distinct = len(np.unique(points, axis=0))
    notes = [f"k = {k} left out: the original has {distinct} distinct row(s)" for k in clusters if k >= distinct]
    return [k for k in clusters if k < distinct], notes


def _shared(rows: Sequence[ClusteringAgreement], scalings: set[str]) -> list[float]:
    return [
        row.misclassification.mean
        for row in rows
        if row.start == "shared" and row.scaling in scalings and row.misclassification is not None
    ]


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _largest(values: Sequence[float]) -> float | None:
    return max(values) if values else None


def _checked_clusters(clusters: Iterable[int]) -> tuple[int, ...]:
    counts = tuple(dict.fromkeys(clusters))
    if not counts or not all(isinstance(k, int | np.integer) and k >= 2 for k in counts):
        raise ParameterError(f"clusters must be whole numbers of at least 2, got {counts!r}")
    return tuple(sorted(int(k) for k in counts))


def _check_whole(**values: int) -> None:
    for name, value in values.items():
        if not (isinstance(value, int | np.integer) and value >= 1):
            raise ParameterError(f"{name} must be a whole number of at least 1, got {value!r}")
