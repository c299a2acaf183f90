"""One original, many releases: its clusterings are made once, and every release is held against them.

The figures are those of `measure_utility` with the same effort and seed; only the work on the original is shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Floats
from sfumato.auditing.utility.comparisons import (
    Study,
    luck_of,
    originals_plan,
    prepare_study,
    shared_labels,
)
from sfumato.auditing.utility.measure import MOST_ROWS, pool_size
from sfumato.auditing.utility.rescaling import one_hot
from sfumato.auditing.utility.result import Excess, excess, mean_cost
from sfumato.core.plans import share_plans
from sfumato.core.sharing import share
from sfumato.metrics import misclassification_rate


@dataclass(frozen=True)
class Usefulness:
    """What is left of the clusters in one release; less is better.

    Attributes
    ----------
    excess_mean, excess_worst : float
        Excess misclassification of a free miner over the re-run floor: mean and largest over the numbers of clusters.
    shared_worst : float or None
        Largest misclassification with shared starts; None when the released columns are new ones.
    rescaled_worst : float or None
        The larger of the mean excesses after the miner's own rescalings; None if it was not asked for.
    by_clusters : tuple of Excess
        The headline figures for each number of clusters.
    cost_mean : float or None
        What the release's centres cost on the original over the best, mean over the numbers of clusters; None where
        rows correspond.
    """

    excess_mean: float
    excess_worst: float
    shared_worst: float | None
    rescaled_worst: float | None
    by_clusters: tuple[Excess, ...]
    cost_mean: float | None = None


class Yardstick:
    """Measures releases of one table.

    Parameters
    ----------
    original : array of shape (n, d)
        Finite numbers.
    clusters : sequence of int
        Numbers of clusters; those without more distinct rows are left out.
    n_init, repetitions, max_rows, seed : int
    categories : sequence of int
        See `measure_utility`.

    Examples
    --------
    >>> table = np.concatenate([np.arange(40.0), 100.0 + np.arange(40.0)]).reshape(-1, 1)
    >>> Yardstick(table, clusters=[2], n_init=2, repetitions=2).measure(3.0 - 2.0 * table).excess_mean
    0.0
    """

    def __init__(
        self,
        original: Floats,
        *,
        clusters: Sequence[int] = tuple(range(2, 9)),
        n_init: int = 20,
        repetitions: int = 4,
        max_rows: int = MOST_ROWS,
        seed: int = 0,
        categories: Sequence[int] = (),
    ) -> None:
        self._original = original
        self._categories = tuple(categories)
        self._chosen = np.random.default_rng(seed).permutation(len(original))[:max_rows]
        distinct = len(np.unique(original[self._chosen], axis=0))
        self.clusters = tuple(k for k in clusters if k < distinct)
        self._tries, self._starts = n_init, pool_size(n_init, repetitions)
        self._seed = seed

    def __repr__(self) -> str:
        return f"Yardstick(rows={len(self._chosen)}, clusters={self.clusters})"

    def prepare(self, *, rescaled: bool = False) -> None:
        """Cluster the original now, on all threads: releases that are measured side by side would each do it.

        Parameters
        ----------
        rescaled : bool
            Whether the miner's own rescalings will be asked for too. Default: False.
        """
        scalings = ("owner", "std", "range") if rescaled else ("owner",)
        table, raw = self._original, None
        if self._categories:
            (table, _), raw = one_hot([table, table], self._categories)
        study = prepare_study(table, table, self._chosen, scalings, True, self._tries, self._starts, self._seed, raw)
        share_plans([originals_plan(study, k) for k in sorted(self.clusters, reverse=True)])

    def measure(
        self, released: Floats, *, same_columns: bool = True, rescaled: bool = False, drawn: bool = False
    ) -> Usefulness:
        """Return what is left of the clusters in a release.

        Parameters
        ----------
        released : array of shape (n, e)
        same_columns : bool
            Whether released columns mean the same as the original ones.
        rescaled : bool
            Whether to measure after the miner's own rescalings too.
        drawn : bool
            Whether released rows belong to nobody, so that centres are applied to the original. Default: False.
        """
        headline = "owner" if same_columns else "none"
        scalings = (headline, "std", "range") if rescaled else (headline,)
        before, after, raw = self._original, released, None
        if same_columns and self._categories:
            (before, after), raw = one_hot([before, after], self._categories)
        study = prepare_study(
            before, after, self._chosen, scalings, same_columns, self._tries, self._starts, self._seed, raw, drawn=drawn
        )
        jobs = [(scaling, k) for scaling in scalings for k in sorted(self.clusters, reverse=True)]
        compared = share(lambda job: self._compare(study, *job), jobs, largest_first=lambda job: job[1])
        found = dict(zip(jobs, compared, strict=True))
        heads = [found[headline, k] for k in self.clusters]
        means = [float(np.mean([found[name, k][0].excess for k in self.clusters])) for name in scalings[1:]]
        shared = [missed for _, missed in heads if missed is not None]
        return Usefulness(
            excess_mean=float(np.mean([one.excess for one, _ in heads])),
            excess_worst=max(one.excess for one, _ in heads),
            shared_worst=max(shared) if shared else None,
            rescaled_worst=max(means) if means else None,
            by_clusters=tuple(one for one, _ in heads),
            cost_mean=mean_cost([one for one, _ in heads]),
        )

    def _compare(self, study: Study, scaling: str, k: int) -> tuple[Excess, float | None]:
        luck = luck_of(study, scaling, k)
        shared = None
        if scaling == "owner":
            labels = shared_labels(study, scaling, luck.named.centres)
            shared = misclassification_rate(luck.named.labels, labels)
        return excess(k, scaling, luck.expected, luck.cost), shared
