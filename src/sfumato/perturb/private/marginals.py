"""Noisy histograms made into marginal laws, bounds and first guesses; everything here sees noisy numbers only."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from scipy.special import ndtr
from sklearn.cluster import KMeans

from sfumato._arrays import Floats
from sfumato.perturb.private.covariances import positive

BINS, FINE = 256, 128
_SURE = 4.0  # standard deviations of the noise: an interval of the bounds with fewer rows may have none
_BESIDE = 2.0  # beside intervals that hold somebody for sure, fewer are believed
_ENOUGH = 0.7  # of the people of a column: if fewer are believed, its intervals are too narrow
_WIDEST = 4  # doublings of an interval
_SAME_SIZE = 1 / 32  # of the largest values: where bounds may still lie without noise making them far too wide
_FEW = FINE // 4  # intervals that hold nearly everybody: so few are cut finer
_TAIL = 0.01  # share of the rows on either side that need no fine intervals
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

    Intervals within the same size that are likely to hold somebody belong to them: bounds that cut off half of a group
    cost much, wider ones of the same size little.

    Parameters
    ----------
    counts : array of shape (intervals,)
    sigma : float
        Standard deviation of the noise.

    Examples
    --------
    >>> counts = np.zeros(2 * len(_POWERS) + 1)
    >>> counts[np.searchsorted(power_edges(), [-1.5, 0.3, 20.0], side="right")] = [3.0, 9.0, 90.0]
    >>> found_bounds(counts, 1.0), found_bounds(counts, 2.0)
    ((-2.0, 32.0), (0.25, 32.0))
    """
    edges = power_edges()
    ends = np.concatenate([[2 * edges[0]], edges, [2 * edges[-1]]])
    sure = np.flatnonzero(counts > _SURE * sigma)
    if not len(sure):
        sure = np.array([int(np.argmax(counts))])
    size = np.maximum(np.abs(ends[:-1]), np.abs(ends[1:]))  # of the values in each interval
    largest = size[sure].max()
    near = np.flatnonzero((counts > _BESIDE * sigma) & (size <= largest) & (size >= largest * _SAME_SIZE))
    return float(ends[min([sure[0], *near])]), float(ends[max([sure[-1], *near]) + 1])


def believed(counts: Floats, sigma: float, *, likely: float | None = None) -> Floats:
    """Return noisy counts without those that may be noise alone.

    Of thousands of empty intervals some are beyond three deviations by chance, and one far out would rule the variance
    of its column. So what stands alone must be beyond all chance; beside such intervals less is enough.

    Parameters
    ----------
    counts : array of shape (d, intervals)
    sigma : float
        Standard deviation of the noise.
    likely : float, optional
        So many deviations are enough for what stands alone, where somebody will look again.

    Examples
    --------
    >>> believed(np.array([[0.0, 9.0, 2.5, 0.0, 0.0, 2.5] + [0.0] * 30]), 1.0)[0, :6].tolist()
    [0.0, 9.0, 2.5, 0.0, 0.0, 0.0]
    """
    return _never_empty(_beyond_chance(counts, sigma, likely), counts)


def _beyond_chance(counts: Floats, sigma: float, likely: float | None) -> Floats:
    sure = counts > (max(3.0, sqrt(2.0 * log(counts.size)) - 0.6) if likely is None else likely) * sigma
    beside = np.zeros_like(sure)
    beside[:, 1:] |= sure[:, :-1]
    beside[:, :-1] |= sure[:, 1:]
    kept: Floats = np.where(sure | (beside & (counts > _BESIDE * sigma)), counts, 0.0)
    return kept


def _never_empty(kept: Floats, counts: Floats) -> Floats:
    """Return what is believed of each column; everything that is not negative where nothing is."""
    empty = kept.sum(axis=1) <= 0
    kept[empty] = np.maximum(counts[empty], 0.0) + 1.0
    return kept


def resolved(counts: Floats, sigma: float, *, likely: float | None = None) -> Floats:
    """Return noisy counts without those that may be noise alone, in intervals that are wide enough to tell.

    Where few people stand in many narrow intervals, none of these is beyond the noise, and all would be lost. Columns
    of which too little is believed are looked at in twice as wide intervals, again and again.

    Parameters
    ----------
    counts, sigma, likely
        See `believed`.

    Examples
    --------
    >>> resolved(np.array([[2.0] * 8 + [0.0] * 8]), 1.0)[0].tolist() == [2.0] * 8 + [0.0] * 8
    True
    """
    out, total = _beyond_chance(counts, sigma, likely), counts.sum(axis=1)
    for level in range(1, _WIDEST + 1):
        poor = out.sum(axis=1) < _ENOUGH * total
        if not poor.any():
            break
        wide = counts[poor].reshape(int(poor.sum()), -1, 1 << level).sum(axis=2)
        kept = _beyond_chance(wide, sigma * sqrt(1 << level), likely)
        out[poor] = np.repeat(kept / (1 << level), 1 << level, axis=1)
    return _never_empty(out, counts)


@dataclass(frozen=True)
class Marginals:
    """The law of each column, even within intervals.

    Attributes
    ----------
    edges : array of shape (d, intervals + 1)
    shares : array of shape (d, intervals)
    """

    edges: Floats
    shares: Floats

    @classmethod
    def coarse(
        cls, counts: Floats, sigma: float, low: Floats, high: Floats, *, likely: float | None = None
    ) -> Marginals:
        """Return the laws of noisy counts in equal intervals of the bounds."""
        kept = resolved(counts, sigma, likely=likely)
        edges = np.column_stack([low, inner_edges(low, high), high])
        return cls(edges, kept / kept.sum(axis=1, keepdims=True))

    def middles(self) -> list[tuple[int, int]]:
        """Return the first interval and the one behind the last in which nearly everybody is, for each column."""
        out = []
        for shares in self.shares:
            rising = np.cumsum(shares)
            first = int(np.searchsorted(rising, _TAIL, side="right"))
            out.append((first, min(int(np.searchsorted(rising, 1.0 - _TAIL)), len(shares) - 1) + 1))
        return out

    def middle_edges(self) -> Floats:
        """Return the edges of finer intervals where nearly everybody is, of shape (d, FINE + 1)."""
        pairs = zip(self.edges, self.middles(), strict=True)
        return np.array([np.linspace(edges[first], edges[stop], FINE + 1) for edges, (first, stop) in pairs])

    def finer(self, counts: Floats, sigma: float) -> Marginals:
        """Return the laws with finer intervals in columns of which few hold nearly everybody.

        Parameters
        ----------
        counts : array of shape (d, FINE + 2)
            Below, within and above `middle_edges`.
        """
        kept, inner = believed(counts[:, 1:-1], sigma), self.middle_edges()
        edges = np.repeat(self.edges[:, -1:], self.edges.shape[1] + FINE, axis=1)
        shares = np.zeros((len(edges), edges.shape[1] - 1))
        for j, (first, stop) in enumerate(self.middles()):
            old, share = self.edges[j], self.shares[j]
            if stop - first <= _FEW:
                within = kept[j] / kept[j].sum() * share[first:stop].sum()
                old = np.concatenate([old[:first], inner[j], old[stop + 1 :]])
                share = np.concatenate([share[:first], within, share[stop:]])
            edges[j, : len(old)], shares[j, : len(share)] = old, share
        return Marginals(edges, shares)

    def moments(self) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of each column."""
        width = np.diff(self.edges, axis=1)
        middles = self.edges[:, :-1] + width / 2
        mean = (self.shares * middles).sum(axis=1)
        variance = (self.shares * ((middles - mean[:, None]) ** 2 + width**2 / 12)).sum(axis=1)
        return mean, np.sqrt(variance)

    def sample(self, correlation: Floats, draw: np.random.Generator) -> Floats:
        """Return rows with these laws and about these correlations, of shape (rows, d)."""
        factor = np.linalg.cholesky(positive(correlation, 1e-3) + 1e-9 * np.eye(len(correlation)))
        normal = draw.normal(size=(_SAMPLE, len(correlation))) @ factor.T
        level = ndtr(normal / np.sqrt((factor**2).sum(axis=1)))
        out: Floats = np.empty_like(level)
        for j, (edges, shares) in enumerate(zip(self.edges, self.shares, strict=True)):
            out[:, j] = np.interp(level[:, j], np.concatenate([[0.0], np.cumsum(shares)]), edges)
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
