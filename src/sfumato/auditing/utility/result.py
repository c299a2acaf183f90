"""What a utility audit found, as plain data for the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from sfumato.metrics import adjusted_rand, misclassification_rate, variation_of_information

_LEVEL = 0.95

if TYPE_CHECKING:
    from sfumato.auditing.utility.luck import Expected


@dataclass(frozen=True)
class Estimate:
    """A mean over repetitions; the ends of the interval are None when there was one repetition.

    Attributes
    ----------
    mean : float
    low, high : float or None
    """

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ClusteringAgreement:
    """How far one kind of clustering agrees with the named clustering of the original.

    Attributes
    ----------
    clusterer : str
        "k-means", "ward" or "chameleon".
    k : int
        Number of clusters.
    scaling : str
        One of `sfumato.auditing.utility.rescaling.SCALINGS`; the named clustering is of the original in the same kind
        of scaling.
    start : str or None
        "shared": the release from the centres that are found most often on the original; "free": the release from
        k-means++ starts; "rerun": a second run on the original, which is the floor, for clusterers without starts the
        original with noise of 1 % of a standard deviation. None: the release, for clusterers without starts.
    rows : int
        Rows measured.
    repetitions : int
        Runs behind the figures; 0 when there is none.
    misclassification, variation_of_information, adjusted_rand : Estimate or None
        Share of rows, bits, and index; None when it does not apply.
    reason : str or None
        Why it does not apply.
    """

    clusterer: str
    k: int
    scaling: str
    start: str | None
    rows: int
    repetitions: int
    misclassification: Estimate | None
    variation_of_information: Estimate | None
    adjusted_rand: Estimate | None
    reason: str | None = None


@dataclass(frozen=True)
class Excess:
    """What free k-means loses on the release beyond what it loses when re-run on the original.

    Attributes
    ----------
    k : int
    scaling : str
    release, floor : float
        Expected misclassification of a miner on the release, and of a second one on the original.
    excess : float
        max(0, release - floor).
    difference_low, difference_high : float or None
        Interval of release - floor.
    cost : float or None
        Where released rows belong to nobody: what the centres of the release cost on the original, over the best that
        are known.
    """

    k: int
    scaling: str
    release: float
    floor: float
    excess: float
    difference_low: float | None
    difference_high: float | None
    cost: float | None = None


@dataclass(frozen=True)
class Utility:
    """How well the clusters of a table survive in its release; less is better, except for adjusted Rand.

    Attributes
    ----------
    excess_mean : float or None
        Excess misclassification of a free miner in `headline_scaling`, mean over the numbers of clusters.
    excess_stable : float or None
        The same over the numbers of clusters with a floor below 1 % (`stable_clusters`); None if there are none.
    shared_max : float or None
        Largest misclassification with shared starts in the owner's scaling.
    rescaled_worst : float or None
        The larger of the mean excesses after the miner's own rescalings.
    rescaled_shared_max : float or None
        Largest misclassification with shared starts after the miner's own rescalings.
    headline_scaling : str
        "owner", or "none" for a release with other columns.
    stable_clusters : tuple of int
    rows, columns, released_columns : int
        Size of the tables.
    rows_measured : int
        Rows that were clustered, drawn at random.
    tree_rows : int
        Rows on which Ward, and Chameleon at most, ran.
    named_starts, free_starts, repetitions : int
        Starts that were tried on each table, starts of a miner, and miners whose starts they are.
    seed : int
    interval : str
        What the intervals are.
    agreements : tuple of ClusteringAgreement
    excesses : tuple of Excess
    notes : tuple of str
        What was left out, and why.
    excess_low, excess_high : float or None
        Interval of `excess_mean`: where audits with another seed lie.
    rescaled : dict
        Scaling -> mean excess after the miner's own rescaling.
    beyond : tuple of Excess
        The headline's figures for further numbers of clusters, which are in no mean.
    cost_mean : float or None
        Mean of `Excess.cost` over the numbers of clusters; None where rows correspond.
    """

    excess_mean: float | None
    excess_stable: float | None
    shared_max: float | None
    rescaled_worst: float | None
    rescaled_shared_max: float | None
    headline_scaling: str
    stable_clusters: tuple[int, ...]
    rows: int
    columns: int
    released_columns: int
    rows_measured: int
    tree_rows: int
    named_starts: int
    free_starts: int
    repetitions: int
    seed: int
    interval: str
    agreements: tuple[ClusteringAgreement, ...]
    excesses: tuple[Excess, ...]
    notes: tuple[str, ...]
    excess_low: float | None = None
    excess_high: float | None = None
    rescaled: dict[str, float] = field(default_factory=dict)
    beyond: tuple[Excess, ...] = ()
    cost_mean: float | None = None

    def to_data(self) -> dict[str, Any]:
        """Return dicts, tuples, strings, numbers and None only."""
        return asdict(self)


def mean_cost(rows: Sequence[Excess]) -> float | None:
    """Return the mean cost of centres over numbers of clusters; None where rows correspond."""
    costs = [row.cost for row in rows if row.cost is not None]
    return float(np.mean(costs)) if costs else None


def estimate(values: Sequence[float], lowest: float = -np.inf, highest: float = np.inf) -> Estimate:
    """Return the mean and its 95 % t interval, cut at the ends of the scale.

    Parameters
    ----------
    values : sequence of float
        One for each repetition.
    lowest, highest : float
        Ends of the scale.

    Examples
    --------
    >>> estimate([0.25])
    Estimate(mean=0.25, low=None, high=None)
    >>> found = estimate([0.1, 0.2, 0.3])
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3)
    (0.2, -0.048, 0.448)
    """
    count, mean = len(values), float(np.mean(values))
    if count < 2:
        return Estimate(mean, None, None)
    half = float(stdtrit(count - 1, 0.5 + _LEVEL / 2.0)) * float(np.std(values, ddof=1)) / count**0.5
    return Estimate(mean, max(lowest, mean - half), min(highest, mean + half))


def agreement(
    clusterer: str, k: int, scaling: str, start: str | None, named: Any, runs: Sequence[Any]
) -> tuple[ClusteringAgreement, tuple[float, ...]]:
    """Compare runs with the named clustering.

    Parameters
    ----------
    clusterer, k, scaling, start
        See `ClusteringAgreement`.
    named : array of shape (n,)
        Labels of the named clustering.
    runs : sequence of arrays of shape (n,)
        Labels of the runs.

    Returns
    -------
    tuple
        The row, and the misclassification of every run.
    """
    missed = tuple(misclassification_rate(named, run) for run in runs)
    row = ClusteringAgreement(
        clusterer=clusterer,
        k=k,
        scaling=scaling,
        start=start,
        rows=len(named),
        repetitions=len(runs),
        misclassification=estimate(missed, 0.0, 1.0),
        variation_of_information=estimate([variation_of_information(named, run) for run in runs], 0.0),
        adjusted_rand=estimate([adjusted_rand(named, run) for run in runs], -0.5, 1.0),
    )
    return row, missed


def found_agreement(
    k: int, scaling: str, start: str, rows: int, runs: int, figures: tuple[Estimate, Estimate, Estimate]
) -> ClusteringAgreement:
    """Return the row of expected figures.

    Parameters
    ----------
    k, scaling, start, rows
        See `ClusteringAgreement`.
    runs : int
        Starts behind the figures.
    figures : tuple of Estimate
        Misclassification, variation of information, adjusted Rand index.
    """
    return ClusteringAgreement("k-means", k, scaling, start, rows, runs, *figures)


def excess(k: int, scaling: str, found: Expected, cost: float | None = None) -> Excess:
    """Return the excess of the release over the floor.

    Parameters
    ----------
    k, scaling, cost
        See `Excess`.
    found : Expected
    """
    return Excess(
        k=k,
        scaling=scaling,
        release=found.release[0].mean,
        floor=found.floor[0].mean,
        excess=max(0.0, found.difference.mean),
        difference_low=found.difference.low,
        difference_high=found.difference.high,
        cost=cost,
    )
