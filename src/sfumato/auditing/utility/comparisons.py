"""The comparisons of a utility audit: k-means for each number of clusters, Ward and Chameleon, two at a time."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from sfumato._arrays import Flags, Floats
from sfumato.auditing.utility.clusterings import (
    Effort,
    Found,
    Labels,
    chameleon_labels,
    free_kmeans,
    kmeans_from,
    original_clusterings,
    ward_labels,
)
from sfumato.auditing.utility.rescaling import release_rescaling
from sfumato.auditing.utility.result import ClusteringAgreement, Excess, agreement, excess
from sfumato.exceptions import MissingComponentError, ParameterError

Progress = Callable[[str, float], None]
Rows = tuple[list[ClusteringAgreement], list[Excess]]

MOST_CHAMELEON_ROWS = 2_000
OTHER_COLUMNS = "the released columns are not those of the original"


@dataclass(frozen=True)
class Study:
    """The measured rows in every scaling, and how they are clustered.

    Attributes
    ----------
    original, released : dict
        Scaling -> array of shape (rows, columns), rows in an order drawn at random.
    same_columns : bool
        Whether released columns mean the same as the original ones.
    effort : Effort
    seed : int
    """

    original: dict[str, Floats]
    released: dict[str, Floats]
    same_columns: bool
    effort: Effort
    seed: int

    def seed_of(self, k: int, repetition: int) -> int:
        """Return the seed of a run; repetition 0 is the named clustering."""
        return int(np.random.SeedSequence([self.seed, k, repetition]).generate_state(1)[0])


def prepare_study(
    before: Floats,
    after: Floats,
    chosen: NDArray[np.int64],
    scalings: Sequence[str],
    same_columns: bool,
    effort: Effort,
    seed: int,
    raw: Flags | None = None,
) -> Study:
    """Rescale the chosen rows, by the statistics of whole tables.

    Parameters
    ----------
    before : array of shape (n, d)
        The original.
    after : array of shape (n, e)
        The release.
    chosen : array of shape (rows,)
        Positions of the rows to measure, in an order drawn at random.
    same_columns, effort, seed
        See `Study`.
    raw : array of shape (d,), optional
        See `release_rescaling`.
    """
    originals: dict[str, Floats] = {}
    releases: dict[str, Floats] = {}
    for name in scalings:
        of_original, of_release = release_rescaling(before, after, name, raw)
        originals[name] = of_original.apply(before[chosen])
        releases[name] = of_release.apply(after[chosen])
    if {"owner", "std"} <= set(originals):
        # the same table: its clusterings are computed once, see _kmeans_rows
        originals["std"] = originals["owner"]
    return Study(originals, releases, same_columns, effort, seed)


def compare_all(
    study: Study,
    headline: str,
    clusters: Sequence[int],
    ward_rows: int,
    chameleon: bool,
    progress: Progress | None,
) -> Rows:
    """Run all comparisons, two at a time, each on one thread: the results do not depend on the number of cores.

    Parameters
    ----------
    headline : str
        The scaling in which Ward and Chameleon are compared.
    ward_rows : int
        Most rows for Ward's tree.
    chameleon : bool
        Whether to run Chameleon.
    progress : function of (text, share done), optional

    Returns
    -------
    tuple
        Agreements and excesses, in no order.
    """
    rows: list[ClusteringAgreement] = []
    excesses: list[Excess] = []
    if not clusters:
        return rows, excesses
    with threadpool_limits(limits=1), warnings.catch_warnings():
        # a release may have fewer distinct rows than clusters: then that is what a miner finds
        warnings.filterwarnings("ignore", message="Number of distinct clusters", category=ConvergenceWarning)
        workers = min(2, os.cpu_count() or 1)
        with ThreadPoolExecutor(workers, initializer=threadpool_limits, initargs=(1,)) as pool:
            jobs: dict[Future[Rows], str] = {pool.submit(_ward_rows, study, headline, clusters, ward_rows): "Ward"}
            for k in sorted(clusters, reverse=True):
                jobs[pool.submit(_kmeans_rows, study, k)] = f"k-means, {k} clusters"
                if chameleon:
                    jobs[pool.submit(_chameleon_rows, study, headline, k)] = f"Chameleon, {k} clusters"
            try:
                for done, job in enumerate(as_completed(jobs), start=1):
                    more_rows, more_excesses = job.result()
                    rows += more_rows
                    excesses += more_excesses
                    if progress is not None:
                        progress(jobs[job], done / len(jobs))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    return rows, excesses


def _kmeans_rows(study: Study, k: int) -> Rows:
    rows: list[ClusteringAgreement] = []
    excesses: list[Excess] = []
    seeds = [study.seed_of(k, 1 + repetition) for repetition in range(study.effort.repetitions)]
    done: dict[int, tuple[Found, tuple[Labels, ...]]] = {}
    for scaling, points in study.original.items():
        if id(points) not in done:
            done[id(points)] = original_clusterings(points, k, study.effort, study.seed_of(k, 0), seeds)
        named, again = done[id(points)]
        labels, centres = named.labels, named.centres
        released = study.released[scaling]
        rerun_row, floor = agreement("k-means", k, scaling, "rerun", labels, again)
        found = [free_kmeans(released, k, study.effort, seed).labels for seed in seeds]
        free_row, missed = agreement("k-means", k, scaling, "free", labels, found)
        if study.same_columns:
            shared = kmeans_from(released, centres, rounds=study.effort.shared_rounds)
            shared_row, _ = agreement("k-means", k, scaling, "shared", labels, [shared.labels])
        else:
            shared_row = does_not_apply(k, scaling, "shared", OTHER_COLUMNS)
        rows += [rerun_row, free_row, shared_row]
        excesses.append(excess(k, scaling, missed, floor))
    return rows, excesses


def _ward_rows(study: Study, scaling: str, clusters: Sequence[int], most_rows: int) -> Rows:
    usable = [k for k in clusters if k < min(most_rows, len(study.original[scaling]))]
    rows = [
        does_not_apply(k, scaling, None, f"ward_rows={most_rows} rows make no {k} clusters", "ward")
        for k in clusters
        if k not in usable
    ]
    if usable:
        before = ward_labels(study.original[scaling][:most_rows], usable)
        after = ward_labels(study.released[scaling][:most_rows], usable)
        rows += [agreement("ward", k, scaling, None, before[k], [after[k]])[0] for k in usable]
    return rows, []


def _chameleon_rows(study: Study, scaling: str, k: int) -> Rows:
    seed = study.seed_of(k, 0) % 2**31
    try:
        before = chameleon_labels(study.original[scaling][:MOST_CHAMELEON_ROWS], k, seed)
        after = chameleon_labels(study.released[scaling][:MOST_CHAMELEON_ROWS], k, seed)
    except (MissingComponentError, ParameterError) as error:
        return [does_not_apply(k, scaling, None, error.message, "chameleon")], []
    return [agreement("chameleon", k, scaling, None, before, [after])[0]], []


def does_not_apply(
    k: int, scaling: str, start: str | None, reason: str, clusterer: str = "k-means"
) -> ClusteringAgreement:
    """Return the row of a comparison that cannot be made, with the reason.

    Parameters
    ----------
    k, scaling, start, reason, clusterer
        See `ClusteringAgreement`.
    """
    return ClusteringAgreement(clusterer, k, scaling, start, 0, 0, None, None, None, reason)
