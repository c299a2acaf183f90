"""People who stand in a release as they are, or nearly so, wherever: twins in some view, more than chance makes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans

from sfumato._arrays import Floats, Integers
from sfumato.attack.engine.scoring import tolerances
from sfumato.attack.engine.transforms import ROW_VIEWS, own_scale
from sfumato.attack.linkage.twins import Twins, find_twins

DOUBT = 0.004  # of all tests of one audit together that find copies by chance
MOST_ROWS = 20_000  # rows that are compared
_VARIED, _SAME = 0.2, 0.95  # a column of many values; a release that holds hardly any others
_PARTS = 3  # views of some columns only: whoever was copied but for a few cells


@dataclass(frozen=True)
class Copies:
    """Original records that stand in a release as they are or nearly so, wherever.

    Attributes
    ----------
    people : int
        Rows of the original that were looked for.
    found : float
        How many have a row of the release as their twin, beyond chance.
    copied : float
        Those of them of whom at least half of the cells are within 5 % of a standard deviation.
    low : float
        Lower bound of the share of the people who are copied so; 0 where it may be chance.
    view : str
        How they were seen.
    in_place : float
        Share of the twins that stand at their own row.
    """

    people: int
    found: float
    copied: float
    low: float
    view: str
    in_place: float

    @property
    def words(self) -> str:
        """One sentence, for people who are copied."""
        return f"{self.copied:.0f} of {self.people:,} people stand in the release as they are, or nearly so."


def seen_tables(original: Floats, released: Floats, *, seed: int) -> dict[str, tuple[Floats, Floats]]:
    """Return both tables in every view, those that keep values first."""
    spread = original.std(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    left, right = original / unit, released / unit
    seen = {"values": (left, right)}
    d = original.shape[1]
    if d >= 3:
        generator = np.random.default_rng([seed, 51])
        for part in range(_PARTS):
            chosen = np.sort(generator.permutation(d)[: max(2, (d + 1) // 2)])
            seen[f"values of some columns ({part + 1})"] = (left[:, chosen], right[:, chosen])
    for name, view in ROW_VIEWS.items():
        seen[name] = (view(original), view(released))
    seen["sorted scaled cells"] = (ROW_VIEWS["sorted scaled cells"](original), np.sort(released, axis=1))
    return seen


def holds_the_same_values(original: Floats, released: Floats) -> bool:
    """Tell whether columns of many values hold the original's own values, as where people exchange them.

    Parameters
    ----------
    original, released : arrays of shapes (n, d) and (m, d)

    Examples
    --------
    >>> table = np.random.default_rng(0).normal(size=(50, 1))
    >>> holds_the_same_values(table, table[::-1]), holds_the_same_values(table, table + 1e-9)
    (True, False)
    """
    for before, after in zip(original.T, released.T, strict=True):
        values = np.unique(before)
        if len(values) > _VARIED * len(before) and np.isin(after, values).mean() > _SAME:
            return True
    return False


def _exchanged(released: Floats, seed: int) -> Floats:
    """Return a release in which rows that are alike have exchanged their values, each column by itself."""
    groups = KMeans(min(50, max(1, len(released) // 30)), n_init=1, random_state=seed).fit_predict(own_scale(released))
    generator = np.random.default_rng([seed, 54])
    mixed = released.copy()
    for group in np.unique(groups):
        inside = np.flatnonzero(groups == group)
        mixed[inside] = generator.permuted(released[inside], axis=0)
    return mixed


def _chance(left: Floats, right: Floats) -> float:
    """Return the most pairs that rows without copies, but with the same values, may have in both tables."""
    twins = find_twins(left, right)
    share = len(twins.first) / max(1, twins.pairs)
    return min(0.999, max(twins.chance, share + 3 * float(np.sqrt(share * (1 - share) / max(1, twins.pairs)))))


def find_all_twins(original: Floats, released: Floats, *, seed: int = 0) -> dict[str, Twins]:
    """Return the twins of two tables in every view in which they are no chance.

    Parameters
    ----------
    original : array of shape (n, d)
    released : array of shape (m, d)
    """
    seen = seen_tables(original, released, seed=seed)
    found = {}
    others = None
    if holds_the_same_values(original, released):
        others = seen_tables(original, _exchanged(released, seed), seed=seed)
    for name, (left, right) in seen.items():
        if np.isfinite(left).all() and np.isfinite(right).all():
            twins = find_twins(left, right, None if others is None else _chance(*others[name]))
            # plain values are asked first and have half of the doubt
            if twins.likely < DOUBT / 2 / (1 if name == "values" else len(seen) - 1):
                found[name] = twins
    return found


def measure_copies(original: Floats, released: Floats, *, seed: int = 0) -> Copies | None:
    """Return who stands in a release as they are, or nearly so, wherever; None where it may be chance.

    Parameters
    ----------
    original, released : arrays of shapes (n, d) and (m, d)
        Larger tables are sampled: those of the original by chance, and all rows of the release near them.
    """
    original, released, at = _sampled(original, released, seed)
    tolerance = tolerances(original)
    scored = tolerance > 0
    best: Copies | None = None
    for name, twins in find_all_twins(original, released, seed=seed).items():
        near = np.abs(original[twins.first] - released[twins.second])[:, scored] <= tolerance[scored] * (1 + 1e-9)
        close = 2 * near.sum(axis=1) >= scored.sum()
        sure = twins.at_least(DOUBT)
        copied = Copies(
            people=len(original),
            found=sure,
            copied=sure * float(close.mean()),
            low=sure * float(close.mean()) / len(original),
            view=name,
            in_place=float((at[0][twins.first] == at[1][twins.second]).mean()),
        )
        if best is None or (copied.copied, copied.found) > (best.copied, best.found):
            best = copied
    return best


def _sampled(original: Floats, released: Floats, seed: int) -> tuple[Floats, Floats, tuple[Integers, Integers]]:
    """Return both tables with at most so many rows, the same places of both where they are equally long."""
    generator = np.random.default_rng([seed, 52])
    places = [np.arange(len(table)) for table in (original, released)]
    if len(original) == len(released) > MOST_ROWS:
        places = [np.sort(generator.choice(len(original), MOST_ROWS, replace=False))] * 2
    elif max(len(original), len(released)) > MOST_ROWS:
        places = [np.sort(generator.permutation(len(table))[:MOST_ROWS]) for table in (original, released)]
    return original[places[0]], released[places[1]], (places[0], places[1])
