"""Find out who is who: the rows of a release are never trusted to stand in the order of the original.

Copies are found wherever they stand, as rows that are each other's nearest in some view (scale, ranks, direction,
sorted cells). Where most of them stand at other rows than their own, the release was shuffled, and its rows are put
back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from sfumato._arrays import Flags, Floats, Integers
from sfumato.attack.engine.scoring import tolerances
from sfumato.attack.engine.transforms import ROW_VIEWS, own_scale
from sfumato.attack.linkage.twins import Twins, find_twins

DOUBT = 0.002  # of all tests of one audit together that find copies by chance
_MOST = 20_000  # rows that are compared
_PARTS = 3  # views of some columns only: whoever was copied but for a few cells
_MATCHED = 0.1  # share of the rows that must have a twin before their order is believed
_LEFT = 2_500  # rows without a twin that are still put where they fit best


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


def _views(original: Floats, released: Floats, *, seed: int) -> dict[str, tuple[Floats, Floats]]:
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


def find_all_twins(original: Floats, released: Floats, *, seed: int = 0) -> dict[str, Twins]:
    """Return the twins of two tables in every view in which they are no chance.

    Parameters
    ----------
    original : array of shape (n, d)
    released : array of shape (m, d)
    """
    seen = _views(original, released, seed=seed)
    found = {}
    for name, (left, right) in seen.items():
        if np.isfinite(left).all() and np.isfinite(right).all():
            twins = find_twins(left, right)
            if twins.likely < DOUBT / len(seen):
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
    if len(original) == len(released) > _MOST:
        places = [np.sort(generator.choice(len(original), _MOST, replace=False))] * 2
    elif max(len(original), len(released)) > _MOST:
        places = [np.sort(generator.permutation(len(table))[:_MOST]) for table in (original, released)]
    return original[places[0]], released[places[1]], (places[0], places[1])


@dataclass(frozen=True, eq=False)
class Matched:
    """The order that twins tell.

    Attributes
    ----------
    order : array of shape (n,)
        `order[i]` is the original row that stands in row i of the release.
    share : float
        Share of the rows that have a twin; the others stand where they fit best.
    view : str
        How they were seen.
    """

    order: Integers
    share: float
    view: str


def find_order(original: Floats, released: Floats, *, seed: int = 0) -> Matched | None:
    """Return the order of a shuffled release whose rows can be told; None if it is in order, or cannot be known.

    Parameters
    ----------
    original, released : arrays of shape (n, d)
    """
    n = len(original)
    if n > _MOST:
        return None
    best: tuple[str, Twins] | None = None
    for name, twins in find_all_twins(original, released, seed=seed).items():
        if best is None or twins.at_least(DOUBT) > best[1].at_least(DOUBT):
            best = (name, twins)
    if best is None:
        return None
    name, twins = best
    moved = twins.first != twins.second
    if twins.at_least(DOUBT) < _MATCHED * n or moved.mean() < 0.5:
        return None
    order = np.full(n, -1, dtype=np.int64)
    order[twins.second] = twins.first
    rows, people = np.flatnonzero(order < 0), np.setdiff1d(np.arange(n), twins.first)
    if len(rows):
        left, right = _views(original, released, seed=seed)[name]
        order[rows] = people[_fit(right[rows], left[people])]
    return Matched(order, len(twins.first) / n, name)


def _fit(rows: Floats, people: Floats) -> Integers:
    """Return the person for each row: those that fit best together, or by their first coordinate if they are many."""
    if len(rows) <= _LEFT:
        return np.asarray(linear_sum_assignment(cdist(rows, people))[1], dtype=np.int64)
    fitted = np.empty(len(rows), dtype=np.int64)
    fitted[np.argsort(rows[:, 0], kind="stable")] = np.argsort(people[:, 0], kind="stable")
    return fitted


def stands_in_order(original: Floats, released: Floats, *, seed: int = 0, rounds: int = 199) -> bool:
    """Tell whether the rows of a release have anything to do with the originals at their places.

    A regression of the originals' ranks on the release, learnt on one half of a sample and tried on the other, must be
    better than with the rows of the release in any of so many random orders.

    Parameters
    ----------
    original : array of shape (n, d)
    released : array of shape (n, e)

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(200, 3))
    >>> stands_in_order(table, table @ draw.normal(size=(3, 3))), stands_in_order(table, draw.permutation(table))
    (True, False)
    """
    generator = np.random.default_rng([seed, 53])
    chosen = generator.permutation(len(original))[:1_000]
    x, y = (own_scale(ROW_VIEWS["ranks"](table[chosen])) for table in (original, released))
    y = y[:, : max(1, len(chosen) // 8)]
    half = np.arange(len(chosen)) % 2 == 0

    def told(order: Integers) -> float:
        rows = np.column_stack([y[order], np.ones(len(order))])
        total = 0.0
        for side in (half, ~half):
            learnt = rows[side]
            weights = np.linalg.solve(learnt.T @ learnt + np.eye(rows.shape[1]), learnt.T @ x[side])
            total += float(((x[~side] - rows[~side] @ weights) ** 2).sum())
        return -total

    own = told(np.arange(len(chosen)))
    return all(own > told(generator.permutation(len(chosen))) for _ in range(rounds))


def gaps_filled(table: Floats) -> tuple[Floats, Flags]:
    """Return a table whose missing cells hold the median of their column, and which rows missed some.

    Parameters
    ----------
    table : array of shape (n, d)
        NaN marks a missing cell; a column of nothing else becomes 0.

    Examples
    --------
    >>> gaps_filled(np.array([[1.0], [np.nan], [3.0]]))[0].ravel()
    array([1., 2., 3.])
    """
    gaps = np.isnan(table)
    if not gaps.any():
        return table, np.zeros(len(table), dtype=np.bool_)
    middle = np.array([np.median(c[~g]) if (~g).any() else 0.0 for c, g in zip(table.T, gaps.T, strict=True)])
    return np.where(gaps, middle, table), np.asarray(gaps.any(axis=1))
