"""How well the clusters of a table survive in its release, beyond what re-running k-means loses anyway."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sfumato._arrays import Floats
from sfumato.auditing.utility.by_centres import DRAWN_ROWS
from sfumato.auditing.utility.comparisons import OTHER_COLUMNS, Progress, compare_all, does_not_apply, prepare_study
from sfumato.auditing.utility.luck import INTERVAL
from sfumato.auditing.utility.rescaling import SCALINGS, one_hot
from sfumato.auditing.utility.result import ClusteringAgreement, Excess, Utility, mean_cost
from sfumato.core.numbers import number_table
from sfumato.exceptions import DataError, ParameterError

STABLE_FLOOR = 0.01
MOST_ROWS = 60_000


def measure_utility(
    original: Floats,
    released: Floats,
    *,
    clusters: Iterable[int] = range(2, 9),
    n_init: int = 20,
    repetitions: int = 4,
    max_rows: int = MOST_ROWS,
    ward_rows: int = 2_000,
    beyond: Iterable[int] = (),
    chameleon: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
    same_columns: bool | None = None,
    scalings: Sequence[str] | None = None,
    categories: Sequence[int] = (),
    drawn: bool = False,
) -> Utility:
    """Compare the clusters of a release with those of its original.

    A miner takes the best of `n_init` k-means++ starts. For every number of clusters and every scaling many starts
    tell which optima there are on the original and on the release, and how often each is found
    (`sfumato.auditing.utility.optima`); from that follows, without throwing dice, how many rows a miner of the release
    may expect to find in another cluster than a miner of the original (free starts), and a second miner of the
    original (the re-run floor). Besides, k-means runs on the release from the centres that are found most often on the
    original (shared starts). Ward's and Chameleon's clusterings of the release are compared with those of the original.

    Parameters
    ----------
    original : array of shape (n, d)
        Finite numbers.
    released : array of shape (n, e)
        Row i is the release of row i of the original, unless rows are drawn.
    clusters : iterable of int
        Numbers of clusters, at least 2 each. Those without more distinct rows in the original are left out.
    n_init : int
        Starts of a miner.
    repetitions : int
        How many miners' starts are tried on each table, in two pools; fewer in other scalings than the headline's, and
        three times as many in large tables where they leave it open what is found.
    max_rows : int
        Most rows that are clustered, drawn at random.
    ward_rows : int
        Most rows for Ward's tree.
    beyond : iterable of int
        Further numbers of clusters, for k-means in the headline's scaling, in no mean.
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
    drawn : bool
        Whether released rows belong to nobody. Then the centres that are found on the release are applied to the
        original, and Ward and Chameleon do not apply. Default: False.

    Examples
    --------
    >>> table = np.concatenate([np.arange(40.0), 100.0 + np.arange(40.0)]).reshape(-1, 1)
    >>> found = measure_utility(table, 3.0 - 2.0 * table, clusters=[2], n_init=3)
    >>> found.excess_mean, found.rescaled_worst, found.rows_measured
    (0.0, 0.0, 80)
    """
    before, after = number_table(original, "original"), number_table(released, "released")
    if len(before) != len(after) and not drawn:
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
    starts = pool_size(n_init, repetitions)
    study = prepare_study(before, after, chosen, applied, same, n_init, starts, int(seed), raw, drawn=drawn)
    headline = applied[0]
    measured, notes = _with_enough_rows(study.original[headline], counts)
    further = tuple(k for k in _checked_clusters(beyond) if k not in counts) if (beyond := tuple(beyond)) else ()
    more = _with_enough_rows(study.original[headline], further)[0] if further else []
    rows, excesses = compare_all(study, headline, measured, more, ward_rows, chameleon, progress)
    if not same:
        rows += [does_not_apply(k, "owner", start, OTHER_COLUMNS) for k in measured for start in ("shared", "free")]
        notes.append(f"shared starts and the owner's scaling do not apply: {OTHER_COLUMNS}")
    if drawn:
        notes.append(DRAWN_ROWS)
    if len(chosen) < len(before):
        notes.append(f"clusters were measured on {len(chosen)} of {len(before)} rows, drawn at random")
    order = {name: place for place, name in enumerate(("k-means", "ward", "chameleon"))}
    rows.sort(key=lambda row: (order[row.clusterer], row.k, list(SCALINGS).index(row.scaling), row.start or ""))
    excesses.sort(key=lambda row: (row.k, list(SCALINGS).index(row.scaling)))
    outside = tuple(row for row in excesses if row.k in more)
    excesses = [row for row in excesses if row.k not in more]
    heads = [row for row in excesses if row.scaling == headline]
    stable = [row for row in heads if row.floor < STABLE_FLOOR]
    rescaled: dict[str, float] = {
        name: float(np.mean([row.excess for row in excesses if row.scaling == name]))
        for name in ("std", "range")
        if name in applied and excesses
    }
    low, high = _interval(heads)
    return Utility(
        excess_mean=_mean([row.excess for row in heads]),
        excess_stable=_mean([row.excess for row in stable]),
        shared_max=_largest(_shared(rows, {"owner"})),
        rescaled_worst=_largest(list(rescaled.values())),
        rescaled_shared_max=_largest(_shared(rows, {"std", "range"})),
        headline_scaling=headline,
        stable_clusters=tuple(row.k for row in stable),
        rows=len(before),
        columns=before.shape[1],
        released_columns=after.shape[1],
        rows_measured=len(chosen),
        tree_rows=min(ward_rows, len(chosen)),
        named_starts=2 * starts,
        free_starts=n_init,
        repetitions=repetitions,
        seed=int(seed),
        interval=INTERVAL,
        agreements=tuple(rows),
        excesses=tuple(excesses),
        notes=tuple(notes),
        excess_low=low,
        excess_high=high,
        rescaled=rescaled,
        beyond=outside,
        cost_mean=mean_cost(heads),
    )


def pool_size(n_init: int, repetitions: int) -> int:
    """Return how many starts each of the two pools has.

    Parameters
    ----------
    n_init : int
        Starts of a miner.
    repetitions : int
        Miners.

    Examples
    --------
    >>> pool_size(20, 4), pool_size(3, 1)
    (40, 3)
    """
    return max(n_init, n_init * repetitions // 2)


def _interval(heads: Sequence[Excess]) -> tuple[float | None, float | None]:
    """Return where the mean over the numbers of clusters may lie: their luck is independent."""
    if not heads:
        return None, None
    mean = float(np.mean([row.excess for row in heads]))
    half = [(row.difference_high or 0.0) - (row.release - row.floor) for row in heads]
    reach = float(np.sqrt(np.sum(np.square(half)))) / len(heads)
    return max(0.0, mean - reach), min(1.0, mean + reach)


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
