"""People who stand in a release as they are, or nearly so, wherever: twins in some view, more than chance makes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.attack.engine.scoring import tolerances
from sfumato.attack.linkage.shared_pairs import FARTHEST, most_shared, shared_pairs
from sfumato.attack.linkage.shared_rows import one_of_each
from sfumato.attack.linkage.twins import (
    ALONE,
    NEAREST,
    RATIOS,
    Nearest,
    Twins,
    count_twins,
    nearest_pairs,
    shares_without_copies,
    usual_share,
)
from sfumato.auditing.order.seen import exchanged, seen_tables
from sfumato.core.secret import Hidden

DOUBT = 0.006  # of all tests of one audit together that find copies by chance
#: of the doubt, for plain values, for shared cells and for those who stand alone: there the fewest copies matter
_PLAIN, _CELLS, _ALONE = 0.5, 0.08, 0.25
MOST_ROWS = 20_000  # rows that are compared
_TRIED = 6_000  # rows of both tables on which a view is tried
_SUSPECT = 0.05  # how likely as many twins must be by chance, lest all rows be looked at
SHARED_CELLS = "cells that they share"  # a view in which rows have no place
WHO_ALONE = "values of those who stand alone"
_FAR = 0.1  # share of the pairs that stand farthest from others


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
    alone : float
        Lower bound of the share of those who stand alone that have a twin; 0 where it may be chance.
    """

    people: int
    found: float
    copied: float
    low: float
    view: str
    in_place: float
    alone: float = 0.0

    @property
    def words(self) -> str:
        """One sentence, for people who are copied, or who stand out as themselves in some view."""
        if self.low <= 0.0:
            return f"{self.found:.0f} of {self.people:,} people have a row that stands out as theirs, by {self.view}."
        return f"{self.copied:.0f} of {self.people:,} people stand in the release as they are, or nearly so."


def _most(shares: list[dict[float, float]], usual: float) -> dict[float, float]:
    return {limit: max([usual, *(one[limit] for one in shares)]) for limit in RATIOS}


@dataclass(frozen=True, eq=False)
class Looked:
    """Two tables, looked at in every view; who is near whom is found once, for everybody who asks.

    Attributes
    ----------
    digest : bytes
        Of both tables.
    doubts : dict
        View -> how likely twins may be by chance.
    pairs : dict
        View -> rows that are each other's nearest.
    most : dict
        View -> share of pairs with one row in each table that needs no copies; only where there are more than usual.
    rows : array or None
        The released rows that were looked at; None for all.
    """

    digest: bytes
    doubts: dict[str, float]
    pairs: dict[str, Nearest]
    most: dict[str, dict[float, float]]
    rows: Integers | None

    def twins(self, farthest: float = 1.0) -> dict[str, Twins]:
        """Return the twins in every view in which they are no chance.

        Parameters
        ----------
        farthest : float
            See `count_twins`. Default: 1.0.
        """
        found = {}
        for name, most in self.most.items():
            if name == WHO_ALONE and farthest < ALONE:
                continue  # where rows are known, those who stand alone are looked for at theirs
            reach = min(farthest, FARTHEST) if name == SHARED_CELLS else farthest
            twins = count_twins(self.pairs[name], most, farthest=reach)
            plain = count_twins(self.pairs[name], farthest=reach)
            if max(twins.likely, plain.likely) < self.doubts[name]:
                found[name] = twins if self.rows is None else replace(twins, second=self.rows[twins.second])
        return found


def _digest(original: Floats, released: Floats) -> bytes:
    told = hashlib.blake2b(np.ascontiguousarray(original).tobytes())
    told.update(np.ascontiguousarray(released).tobytes())
    return told.digest()


def look_for_twins(original: Floats, released: Floats, *, seed: int = 0) -> Looked:
    """Look at two tables in every view, and keep who is near whom.

    A release may be nearer to the original than another sample is, without holding anybody: it has the same values, or
    as many people of every kind. So twins must also be more than where rows that are alike exchange their values.
    In large tables views other than those of plain values are tried on some of the rows first.

    Parameters
    ----------
    original : array of shape (n, d)
    released : array of shape (m, d)
    """
    digest, chosen = _digest(original, released), one_of_each(original, released, seed=seed)
    released = released if chosen is None else released[chosen]
    seen = seen_tables(original, released, seed=seed)
    doubts: dict[str, float] = {}
    pairs: dict[str, Nearest] = {}
    most: dict[str, dict[float, float]] = {}
    others: list[dict[str, tuple[Floats, Floats]]] = []
    finite = [name for name, pair in seen.items() if all(np.isfinite(table).all() for table in pair)]
    for name in finite:  # one after the other: all threads look for the neighbours of its rows
        found = _pairs_seen(name, *seen[name])
        if found is None:
            continue
        told = {name: found}
        if name == "values":
            told[WHO_ALONE] = found.alone(_FAR)
        # plain values are asked first and have most of the doubt
        shares = {"values": _PLAIN, WHO_ALONE: _ALONE}
        for what, near in told.items():
            doubts[what] = DOUBT * shares.get(what, (1 - _PLAIN - _CELLS - _ALONE) / (len(seen) - 1))
            pairs[what] = near
            if min(count_twins(near, farthest=limit).likely for limit in (1.0, NEAREST)) < doubts[what]:
                others = others or [seen_tables(original, other, seed=seed) for other in exchanged(released, seed)]
                without = [nearest_pairs(*one[name]) for one in others if name in one]
                without = [one.alone(_FAR) if what == WHO_ALONE else one for one in without]
                most[what] = _most([shares_without_copies(one) for one in without], usual_share(*near.sizes))
    if np.isfinite(original).all() and np.isfinite(released).all():
        cells, doubts[SHARED_CELLS] = shared_pairs(original, released), DOUBT * _CELLS
        if min(count_twins(cells, farthest=limit).likely for limit in (FARTHEST, NEAREST)) < doubts[SHARED_CELLS]:
            pairs[SHARED_CELLS] = cells
            most[SHARED_CELLS] = most_shared(
                cells, [shared_pairs(original, other) for other in exchanged(released, seed)]
            )
    return Looked(digest, doubts, pairs, most, chosen)


def _pairs_seen(name: str, left: Floats, right: Floats) -> Nearest | None:
    """Return the rows that are each other's nearest in a view; None where some rows of many show nothing."""
    if not name.startswith("values") and len(left) + len(right) > 2 * _TRIED:
        few = nearest_pairs(left, right, most=_TRIED)
        if min(count_twins(few, farthest=limit).likely for limit in (1.0, NEAREST)) > _SUSPECT:
            return None
    return nearest_pairs(left, right)


class TwinFinder(Hidden):
    """Finds the twins of tables, and remembers the last ones: order and copies are asked of the same tables.

    Parameters
    ----------
    seed : int
        See `look_for_twins`.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._last: Looked | None = None

    def twins(self, original: Floats, released: Floats, farthest: float = 1.0) -> dict[str, Twins]:
        """Return the twins of two tables in every view in which they are no chance; see `Looked.twins`."""
        if self._last is None or self._last.digest != _digest(original, released):
            self._last = look_for_twins(original, released, seed=self._seed)
        return self._last.twins(farthest)


def measure_copies(
    original: Floats, released: Floats, *, seed: int = 0, placed: bool = False, finder: TwinFinder | None = None
) -> Copies | None:
    """Return who stands in a release as they are, or nearly so, wherever; None where it may be chance.

    Parameters
    ----------
    original, released : arrays of shapes (n, d) and (m, d)
        Larger tables are sampled: those of the original by chance, and all rows of the release near them.
    placed : bool
        Whether everybody's row is known. Then attacks look at that row, and a copy elsewhere must be very near: a
        release with people of every kind at their places has rows that resemble others. Default: False.
    finder : TwinFinder, optional
        Of the same seed, which may know the twins already. Default: a new one.
    """
    finder = finder or TwinFinder(seed)
    original, released, at = _sampled(original, released, seed)
    tolerance = tolerances(original)
    scored = tolerance > 0
    best: Copies | None = None
    alone = 0.0
    for name, twins in finder.twins(original, released, NEAREST if placed else 1.0).items():
        near = np.abs(original[twins.first] - released[twins.second])[:, scored] <= tolerance[scored] * (1 + 1e-9)
        close = 2 * near.sum(axis=1) >= scored.sum()
        sure = twins.at_least(DOUBT)
        if name == WHO_ALONE:
            alone = sure / max(1, twins.pairs)
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
    return None if best is None else replace(best, alone=alone)


def _sampled(original: Floats, released: Floats, seed: int) -> tuple[Floats, Floats, tuple[Integers, Integers]]:
    """Return both tables with at most so many rows, the same places of both where they are equally long."""
    generator = np.random.default_rng([seed, 52])
    places = [np.arange(len(table)) for table in (original, released)]
    if len(original) == len(released) > MOST_ROWS:
        places = [np.sort(generator.choice(len(original), MOST_ROWS, replace=False))] * 2
    elif max(len(original), len(released)) > MOST_ROWS:
        places = [np.sort(generator.permutation(len(table))[:MOST_ROWS]) for table in (original, released)]
    return original[places[0]], released[places[1]], (places[0], places[1])
