"""How far the columns of a release, and pairs of them, are from those of the original."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sfumato._arrays import Floats
from sfumato.frames.whole import WholeRows

_MOST_PAIRS = 300


@dataclass(frozen=True)
class ColumnDistance:
    """One column before and after; 0 is the same distribution, 1 a wholly different one.

    Attributes
    ----------
    column : str
    distance : float
        Categories: total variation. Numbers and counts: the largest gap between the shares below a value (Kolmogorov).
    """

    column: str
    distance: float


@dataclass(frozen=True)
class Distances:
    """Columns and pairs of columns before and after; less is better.

    Attributes
    ----------
    columns : tuple of ColumnDistance
    pairs_mean, pairs_max : float or None
        Total variation of the joint shares of two categories, over all pairs; None with fewer than two.
    correlations_mean, correlations_max : float or None
        Change of the correlation of two columns of numbers, over all pairs; None with fewer than two.
    pairs_left_out : int
        Pairs of categories beyond the first 300, which were not looked at.
    """

    columns: tuple[ColumnDistance, ...]
    pairs_mean: float | None
    pairs_max: float | None
    correlations_mean: float | None
    correlations_max: float | None
    pairs_left_out: int


def measure_distances(rows: WholeRows) -> Distances:
    """Return how far the release is from the original, column by column and pair by pair."""
    x, y = rows.original, rows.released
    kinds = rows.categories
    columns = tuple(
        ColumnDistance(name, _variation(x[:, [j]], y[:, [j]]) if kinds[j] else _gap(x[:, j], y[:, j]))
        for j, name in enumerate(rows.names)
    )
    every = list(combinations([j for j, category in enumerate(kinds) if category], 2))
    pairs = [_variation(x[:, [i, j]], y[:, [i, j]]) for i, j in every[:_MOST_PAIRS]]
    numbers = [j for j, category in enumerate(kinds) if not category and x[:, j].std() > 0 < y[:, j].std()]
    changes: Floats = np.empty(0)
    if len(numbers) > 1:
        before, after = (np.corrcoef(table[:, numbers], rowvar=False) for table in (x, y))
        changes = np.abs(before - after)[np.triu_indices(len(numbers), 1)]
    return Distances(
        columns=columns,
        pairs_mean=float(np.mean(pairs)) if pairs else None,
        pairs_max=max(pairs, default=None),
        correlations_mean=float(changes.mean()) if len(changes) else None,
        correlations_max=float(changes.max()) if len(changes) else None,
        pairs_left_out=max(0, len(every) - _MOST_PAIRS),
    )


def _variation(before: Floats, after: Floats) -> float:
    """Return the total variation distance of the shares of combinations of values."""
    both, codes = np.unique(np.concatenate([before, after]), axis=0, return_inverse=True)
    codes = codes.reshape(-1)
    counts = [np.bincount(part, minlength=len(both)) for part in (codes[: len(before)], codes[len(before) :])]
    return float(np.abs(counts[0] / len(before) - counts[1] / len(after)).sum() / 2)


def _gap(before: Floats, after: Floats) -> float:
    """Return the largest gap between the shares below a value."""
    left, right = np.sort(before), np.sort(after)
    places = np.concatenate([left, right])
    shares = [np.searchsorted(one, places, side="right") / len(one) for one in (left, right)]
    return float(np.abs(shares[0] - shares[1]).max())
