"""Twins: rows of two tables that are each other's nearest of all rows. Copies make more of them than chance does.

Where two tables are independent samples of one population, nobody can tell from which of them a row is. So of the pairs
of rows that are each other's nearest among all rows of both tables about half have one row in each table, whatever the
distribution, its ties and tails. A release that holds copies, of everybody or of a few, has more such pairs. Nothing
need be known of the order of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import betaincinv
from scipy.stats import binom

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_same_columns
from sfumato.attack.engine.knowledge import guess_links
from sfumato.attack.engine.neighbours import RowIndex
from sfumato.attack.engine.transforms import narrowed
from sfumato.attack.linkage.linking import standardise

if TYPE_CHECKING:
    from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge

#: how much nearer than the next row a twin is, and the share of the doubt that each limit has: few copies that are
#: very near must be found, too
RATIOS = {1.0: 0.1, 0.5: 0.1, 0.2: 0.1, 0.02: 0.7}
NEAREST = min(RATIOS)
ALONE = 0.35  # how much nearer than the next row a twin is among those that stand alone
#: share of the pairs that a release may have more than two samples, where they are only a little nearer than the next
#: row: one that has as many people of every kind as the original lies more evenly between its rows than a sample does
_EVENLY, _LOOSE = 0.05, 0.5
_SURE = 1e-3  # probability below which more pairs than that are no chance
_SUSPECT = 0.2  # probability below which a table without copies is taken to have more pairs than two samples


@dataclass(frozen=True, eq=False)
class Twins:
    """Pairs of rows of two tables.

    Parameters
    ----------
    first, second : arrays of shape (p,)
        Rows of the first table and their twins in the second.
    pairs : int
        Pairs of rows that are each other's nearest, wherever they stand, of which p have one row in each table.
    chance : float
        Share of them that would have, if both tables were samples of one population.
    likely : float
        Probability of so many by chance.
    """

    first: IntArray
    second: IntArray
    pairs: int
    chance: float
    likely: float

    def at_least(self, doubt: float) -> float:
        """Return how many of the pairs are no chance, with this doubt (Clopper and Pearson).

        Parameters
        ----------
        doubt : float
            How often fewer may be.
        """
        found = len(self.first)
        if found == 0:
            return 0.0
        low = float(betaincinv(found, self.pairs - found + 1, doubt))
        return max(0.0, self.pairs * (low - self.chance) / (1 - self.chance))


@dataclass(frozen=True, eq=False)
class Nearest:
    """Rows of two tables, one above the other, that are each other's nearest of all.

    Parameters
    ----------
    sizes : tuple of int
        Rows of the first table and of the second, which stand below.
    one, other : arrays of shape (p,)
        The two rows of each pair.
    ratio : array of shape (p,)
        How much nearer they are than the next row.
    beyond : array of shape (p,)
        How far the row beyond them is, from whichever of both it is farther.
    """

    sizes: tuple[int, int]
    one: IntArray
    other: IntArray
    ratio: FloatArray
    beyond: FloatArray

    def alone(self, share: float) -> Nearest:
        """Return the pairs of those that stand farthest from all others, and are far nearer to one another: as equals.

        Parameters
        ----------
        share : float
            How many of the pairs stand so far out.
        """
        far = self.beyond >= np.quantile(self.beyond, 1 - share) if len(self.beyond) else self.beyond > 0
        kept = np.flatnonzero(far & (self.ratio <= ALONE))
        return Nearest(self.sizes, self.one[kept], self.other[kept], np.zeros(len(kept)), self.beyond[kept])


def count_twins(pairs: Nearest, chance: Mapping[float, float] | None = None, *, farthest: float = 1.0) -> Twins:
    """Return the twins among pairs of nearest rows, for the nearness at which they are least likely by chance.

    Parameters
    ----------
    pairs : Nearest
        Pairs of rows of both tables.
    chance : mapping of float to float, optional
        For each limit of `RATIOS` the share of pairs with one row in each table that needs no copies. None: that of two
        samples of one population.
    farthest : float
        The largest limit of `RATIOS` that is looked at. Default: 1.0, all of them.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> table, other = draw.normal(size=(300, 4)), draw.normal(size=(300, 4))
    >>> count_twins(nearest_pairs(table, other)).likely > 0.01
    True
    >>> other[:20] = table[100:120] + 1e-6
    >>> found = count_twins(nearest_pairs(table, other))
    >>> len(found.first), found.likely < 1e-3
    (20, True)
    """
    n = pairs.sizes[0]
    one, other, ratio = pairs.one, pairs.other, pairs.ratio
    cross = (one < n) != (other < n)
    usual = usual_share(*pairs.sizes)
    best: tuple[tuple[bool, float], Twins] | None = None
    for limit, share in RATIOS.items():
        if limit > farthest:
            continue
        inside = ratio <= limit
        held, found = int(inside.sum()), int((inside & cross).sum())
        expected = usual if chance is None else chance[limit]
        most = expected if chance is None or limit < _LOOSE else min(0.999, expected + _EVENLY)
        plain, likely = (
            min(1.0, float(binom.sf(found - 1, held, one)) / share) if found else 1.0 for one in (expected, most)
        )
        if best is None or (likely > _SURE, plain) < best[0]:
            chosen = inside & cross
            left, right = np.minimum(one[chosen], other[chosen]), np.maximum(one[chosen], other[chosen]) - n
            best = (likely > _SURE, plain), Twins(left, right, held, expected, likely)
    assert best is not None
    return best[1]


def usual_share(n: int, m: int) -> float:
    """Return the share of pairs that have one row in each of two samples of one population.

    Parameters
    ----------
    n, m : int
        Rows of the two.

    Examples
    --------
    >>> usual_share(2, 1)
    0.6666666666666666
    """
    return 2 * n * m / ((n + m) * (n + m - 1))


def shares_without_copies(near: Nearest) -> dict[float, float]:
    """Return for each limit of `RATIOS` the most pairs, as a share, that two tables without copies may have in both.

    Parameters
    ----------
    near : Nearest
        Pairs of a table and of one that holds the same values without copies.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> shares_without_copies(nearest_pairs(draw.normal(size=(300, 4)), draw.normal(size=(300, 4))))[1.0] < 0.8
    True
    """
    n, m = near.sizes
    ratio, cross = near.ratio, (near.one < n) != (near.other < n)
    most = {}
    for limit in RATIOS:
        pairs, found = int((ratio <= limit).sum()), int((cross & (ratio <= limit)).sum())
        most[limit] = usual = usual_share(n, m)
        if found and float(binom.sf(found - 1, pairs, usual)) < _SUSPECT:  # few pairs say nothing
            share = (found + 1) / (pairs + 2)
            most[limit] = min(0.999, share + 3 * float(np.sqrt(share * (1 - share) / (pairs + 2))))
    return most


def nearest_pairs(first: FloatArray, second: FloatArray, *, most: int | None = None) -> Nearest:
    """Return the pairs of rows of both tables that are each other's nearest, and how much nearer than the next row.

    Parameters
    ----------
    first, second : arrays of shapes (n, d) and (m, d)
        Two tables in the same scale.
    most : int, optional
        Rows, drawn at random from both, of which one must be in each pair. None (default): all.

    Examples
    --------
    >>> found = nearest_pairs(np.array([[0.0], [5.0]]), np.array([[0.1], [9.0]]))
    >>> found.one.tolist(), found.other.tolist()
    ([0, 1], [2, 3])
    """
    both = np.vstack(narrowed(first, second))
    total, index = len(both), RowIndex(both)
    nearest = np.full(total, -1, dtype=np.int64)
    distance, beyond = np.zeros(total), np.zeros(total)

    def ask(me: IntArray) -> None:
        apart, near = index.nearest(me, 3)
        # among equal rows a row need not be the first of its own neighbours
        own, place = near == me[:, None], np.arange(len(me))
        at = np.where(own[:, 0], 1, 0)
        nearest[me], distance[me] = near[place, at], apart[place, at]
        beyond[me] = apart[place, np.where(own[:, 2], 1, 2)]

    me = np.arange(total)
    if most is not None and most < total:
        me = np.sort(np.random.default_rng([total, 59]).permutation(total)[:most])
    ask(me)
    mates = np.unique(nearest[me])
    ask(mates[nearest[mates] < 0])
    lonely = distance < beyond  # three equal rows are nobody's twins
    mutual = (nearest[nearest[me]] == me) & lonely[me] & lonely[nearest[me]]
    one, other = me[mutual], nearest[me[mutual]]
    once = (one < other) | ~np.isin(other, one)  # a pair of two rows that were asked for comes twice
    one, other = one[once], other[once]
    ratio = distance[one] / np.minimum(beyond[one], beyond[other])
    return Nearest((len(first), len(second)), one, other, ratio, np.maximum(beyond[one], beyond[other]))


class NearCopies(Attack):
    """Link a person only to a row that is far nearer than the next one: whoever was hardly changed.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table, released = draw.normal(size=(200, 4)), draw.normal(size=(200, 4))
    >>> released[:100] = table[:100] + 1e-4
    >>> run_attack(NearCopies(), table, released).rate
    0.5
    """

    entry = entry("near-copies")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when columns do not correspond."""
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return rows for the people who have one far nearer than the next."""
        assert knowledge.records is not None
        assert knowledge.marginals is not None
        deadline.check()
        public = knowledge.marginals
        people = standardise(knowledge.records, public.mean, public.sd)
        apart, near = cKDTree(standardise(knowledge.released, public.mean, public.sd)).query(people, k=2)
        sure = apart[:, 0] <= _FAR_NEARER ** (1 / people.shape[1]) * apart[:, 1] * (apart[:, 1] > 0) - 1e-300
        if not sure.any():
            raise NothingFoundError("nobody has a row that is far nearer than the next")
        nobody = np.empty(0, dtype=np.int64)
        found = [rows[:1] if known else nobody for rows, known in zip(near, sure, strict=True)]
        return guess_links(found, note=f"{int(sure.sum())} people have a row far nearer than the next")


_FAR_NEARER = 0.01  # share of the space within which the next row lies: what chance does once in a hundred times
