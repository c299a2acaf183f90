"""Categories that a release says of everybody in other words, or in the same: a dictionary from known rows tells them.

Categories may be renamed, merged or moved to another column, each always in the same way. Whoever knows some people's
rows learns the names. A column that stands as it is and that nobody has said to keep needs no dictionary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.attack.engine.result import lift
from sfumato.attack.linkage.forward import tell_category
from sfumato.auditing.equality import most_guess
from sfumato.frames.whole import WholeRows

_SAMPLE = 1_000  # rows that tell whether categories stand in order
_COLUMNS = 16  # of each table that are held against one another
_LEVELS = 50  # different values beyond which a column names people rather than kinds of them
_KNOWN = 1_000  # people at most whose rows are known: a tenth of the table
_FEWEST = 24


@dataclass(frozen=True)
class LookedUp:
    """One column of categories.

    Attributes
    ----------
    column : str
    as_it_is : bool
        Whether it is released as it is; else it is told by a dictionary.
    rate : float
        Share of the people of whom it is told right.
    guess : float
        What guessing gets: the most frequent category, or that of most others in the same clusters.
    lift_low : float
        Lower bound of (rate - guess) / (1 - guess).
    """

    column: str
    as_it_is: bool
    rate: float
    guess: float
    lift_low: float

    @property
    def words(self) -> str:
        """One sentence."""
        if self.as_it_is:
            return f"{self.column} stands as it is in every row, and nobody has said that it is kept."
        return f"{self.column} is looked up right for {self.rate:.0%} of the people by whoever knows a tenth of them."


def measure_look_ups(
    rows: WholeRows, *, company: Integers | None = None, kept: Sequence[str] = (), seed: int = 0
) -> tuple[LookedUp, ...]:
    """Return how well each category that nobody keeps on purpose is told by a dictionary from a tenth of the people.

    Parameters
    ----------
    rows : WholeRows
        Row by row the same people.
    company : array of shape (n,) or (n, groupings), optional
        Rows with the same number share all clusters that the release keeps, or some of them.
    kept : sequence of str
        Columns that are kept on purpose. Default: none.
    seed : int
        Draws the people who are known. Default: 0.
    """
    n = len(rows.original)
    order = np.random.default_rng([seed, 15]).permutation(n)
    known, others = np.split(order, [min(_KNOWN, max(_FEWEST, n // 10))])
    found = []
    for j, (name, kind) in enumerate(zip(rows.names, rows.kinds, strict=True)):
        column = rows.original[:, j]
        levels = np.unique(column)
        if kind != "category" or name in kept or len(levels) < 2 or len(others) < _FEWEST:
            continue
        guess = most_guess(column, company)
        told = None if rows.kept[j] else tell_category(rows.released[known], column[known])
        if rows.kept[j]:
            right = np.ones(n)
        elif told is None:
            continue
        else:
            # of every category how unlikely it is beside the released row, and how rare it is
            rare = -np.log(np.maximum([(column[known] == level).mean() for level in levels], 1e-9))
            right = levels[(told.cost(rows.released[others], levels) + rare).argmin(axis=1)] == column[others]
        low = lift(float(right.sum()), len(right), baseline=guess).lower
        found.append(LookedUp(name, rows.kept[j], float(right.mean()), guess, low))
    return tuple(found)


def categories_in_order(rows: WholeRows, *, seed: int = 0, rounds: int = 199) -> bool:
    """Tell whether the categories of a release have anything to do with the originals at their places.

    Of all pairs of columns the one that hangs together most must do so more than in any of so many random orders.

    Parameters
    ----------
    rows : WholeRows
    seed : int
        Draws rows and orders. Default: 0.
    rounds : int
        Random orders. Default: 199.
    """
    generator = np.random.default_rng([seed, 58])
    some = generator.permutation(len(rows.original))[:_SAMPLE]
    before, after = (
        [
            codes
            for j, kind in enumerate(rows.kinds)
            if kind == "category" and (codes := _few(table[some, j])) is not None
        ]
        for table in (rows.original, rows.released)
    )
    before, after = before[:_COLUMNS], after[:_COLUMNS]
    if not before or not after:
        return False

    def together(order: Integers) -> float:
        return max(_hang_together(one, other[order]) for one in before for other in after)

    own = together(np.arange(len(some)))
    return all(own > together(generator.permutation(len(some))) for _ in range(rounds))


def _few(column: Floats) -> Integers | None:
    values, codes = np.unique(column, return_inverse=True)
    return np.asarray(codes.reshape(-1)) if 1 < len(values) <= _LEVELS else None


def _hang_together(one: Integers, other: Integers) -> float:
    """Return chi squared of two columns of codes, in deviations from what chance makes."""
    width = int(other.max()) + 1
    table = np.bincount(one * width + other, minlength=(int(one.max()) + 1) * width).reshape(-1, width)
    usual = table.sum(axis=1)[:, None] * table.sum(axis=0) / len(one)
    squared = float(((table - usual) ** 2 / np.maximum(usual, 1e-12)).sum())
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    return (squared - freedom) / float(np.sqrt(2 * freedom))
