"""Who is alone with their categories and counts, before and after, and who still is on their own row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Flags, Integers
from sfumato.attack.engine.result import lift
from sfumato.attack.linkage.kept_columns import number_rows
from sfumato.auditing.whole.special_uniques import SpecialUniques, special_uniques
from sfumato.frames.whole import WholeRows


@dataclass(frozen=True)
class Uniqueness:
    """People who are alone with a combination of categories and counts.

    Attributes
    ----------
    columns : int
        Columns of categories and counts.
    before, after : SpecialUniques
        Combinations of at most four of them, in the original and in the release.
    alone_before, alone_after : float
        Share of the people who are alone with all of those columns together.
    own : float
        Share of all people who are alone before and stand in the release, alone again, with their own combination on
        their own row: whoever knows their categories finds them. Less is better.
    by_chance : float
        The same with everybody held against somebody else's row.
    n_rows : int
    """

    columns: int
    before: SpecialUniques
    after: SpecialUniques
    alone_before: float
    alone_after: float
    own: float
    by_chance: float
    n_rows: int

    @property
    def lift(self) -> float:
        """Lower bound of (own - by chance) / (1 - by chance)."""
        found = lift(self.own * self.n_rows, self.n_rows, baseline=0.0, control=self.by_chance)
        return max(0.0, found.lower)

    @property
    def own_of_alone(self) -> float | None:
        """Share of those who are alone in the original; None if nobody is."""
        return self.own / self.alone_before if self.alone_before > 0 else None


def measure_uniqueness(rows: WholeRows, *, seed: int = 0) -> Uniqueness | None:
    """Return who is alone; None for tables without categories and counts.

    Parameters
    ----------
    rows : WholeRows
        Row by row the same people.
    seed : int
        Draws combinations where there are too many, and strangers. Default: 0.
    """
    chosen = [kind in {"category", "count"} for kind in rows.kinds]
    if not any(chosen):
        return None
    before, after = rows.original[:, chosen], rows.released[:, chosen]
    numbers, then = number_rows(before, after)
    singles, still = _once(numbers), _once(then)
    ring = np.random.default_rng([seed, 12]).permutation(len(before))
    stranger = np.empty(len(before), dtype=np.int64)
    stranger[ring] = np.roll(ring, 1)
    return Uniqueness(
        columns=sum(chosen),
        before=special_uniques(before, seed=seed),
        after=special_uniques(after, seed=seed),
        alone_before=float(singles.mean()),
        alone_after=float(still.mean()),
        own=float((singles & still & (numbers == then)).mean()),
        by_chance=float((singles & still[stranger] & (numbers == then[stranger])).mean()),
        n_rows=len(before),
    )


def _once(numbers: Integers) -> Flags:
    """Return which numbers occur once."""
    return np.asarray(np.bincount(numbers)[numbers] == 1)
