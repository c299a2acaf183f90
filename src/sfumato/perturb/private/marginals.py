"""Noisy histograms made into marginal laws, bounds and first guesses; everything here sees noisy numbers only."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from scipy.special import ndtr
from sklearn.cluster import KMeans

from sfumato._arrays import Floats
from sfumato.perturb.private.covariances import positive

BINS = 256
_SURE = 3.0  # standard deviations of the noise: a count below may be nobody
_BESIDE = 2.0
_SAMPLE = 16_000
_STARTS = 4
_POWERS = np.arange(-20, 41)  # of two, when the bounds themselves are looked for


def inner_edges(low: Floats, high: Floats) -> Floats:
    """Return the edges between equal intervals of each column's range, of shape (columns, BINS - 1)."""
    share = np.arange(1, BINS) / BINS
    edges: Floats = low[:, None] + (high - low)[:, None] * share
    return edges


def power_edges() -> Floats:
    """Return edges at the powers of two and their negatives: intervals that hold any number whatever its unit."""
    powers = 2.0 ** _POWERS.astype(np.float64)
    return np.concatenate([-powers[::-1], powers])


def found_bounds(counts: Floats, sigma: float) -> tuple[float, float]:
    """Return bounds from a noisy histogram over powers of two: the intervals that hold somebody for sure.

    Parameters
    ----------
    counts : array of shape (intervals,)
    sigma : float
        Standard deviation of the noise.
    """
    edges = power_edges()
    ends = np.concatenate([[2 * edges[0]], edges, [2 * edges[-1]]])
    sure = np.flatnonzero(counts > (_SURE + 1.0) * sigma)
    if not len(sure):
        sure = np.array([int(np.argmax(counts))])
    return float(ends[sure[0]]), float(ends[sure[-1] + 1])


@dataclass(frozen=True)
class Marginals:
    """The law of each column, on the middles of its intervals.

    Attributes
    ----------
    low, high : arrays of shape (d,)
    shares : array of shape (d, BINS)
    """

    low: Floats
    high: Floats
    shares: Floats

    @classmethod
    def of(cls, counts: Floats, sigma: float, low: Floats, high: Floats) -> Marginals:
        """Return the laws of noisy counts; what may be noise alone is nobody.

        Parameters
        ----------
        counts : array of shape (d, BINS)
        sigma : float
            Standard deviation of the noise.
        """
        # one interval in thousands is beyond three deviations by chance, and far out it would rule the variance:
        # what stands alone must be beyond all chance, what stands beside that need not
        alone = sqrt(2.0 * log(counts.size)) + 0.5
        sure = counts > alone * sigma
        beside = np.zeros_like(sure)
        beside[:, 1:] |= sure[:, :-1]
        beside[:, :-1] |= sure[:, 1:]
        kept = np.where(sure | (beside & (counts > _BESIDE * sigma)), counts, 0.0)
        empty = kept.sum(axis=1) <= 0
        kept[empty] = np.maximum(counts[empty], 0.0) + 1.0
        return cls(low, high, kept / kept.sum(axis=1, keepdims=True))

    def moments(self) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of each column."""
        width = (self.high - self.low) / BINS
        middles = self.low[:, None] + width[:, None] * (np.arange(BINS) + 0.5)
        mean = (self.shares * middles).sum(axis=1)
        variance = (self.shares * (middles - mean[:, None]) ** 2).sum(axis=1) + width**2 / 12
        return mean, np.sqrt(variance)

    def sample(self, correlation: Floats, draw: np.random.Generator) -> Floats:
        """Return rows with these laws and about these correlations, of shape (rows, d)."""
        factor = np.linalg.cholesky(positive(correlation, 1e-3) + 1e-9 * np.eye(len(correlation)))
        normal = draw.normal(size=(_SAMPLE, len(correlation))) @ factor.T
        level = ndtr(normal / np.sqrt((factor**2).sum(axis=1)))
        out: Floats = np.empty_like(level)
        for j, shares in enumerate(self.shares):
            rising = np.concatenate([[0.0], np.cumsum(shares)])
            out[:, j] = np.interp(level[:, j], rising, np.linspace(self.low[j], self.high[j], BINS + 1))
        return out


def first_centres(places: Floats, k: int, draw: np.random.Generator) -> tuple[Floats, Floats]:
    """Return centres for made-up rows, and the root mean square distance of theirs to each.

    Parameters
    ----------
    places : array of shape (rows, d)
    """
    found = KMeans(k, n_init=_STARTS, random_state=int(draw.integers(1 << 31))).fit(places)
    apart = ((places - found.cluster_centers_[found.labels_]) ** 2).sum(axis=1)
    mean = np.bincount(found.labels_, weights=apart, minlength=k) / np.bincount(found.labels_, minlength=k)
    return found.cluster_centers_, np.sqrt(np.maximum(mean, 0.05 * places.shape[1]))
