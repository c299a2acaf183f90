"""Link every known person to the row with the most identical cells, rare values counting more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_same_columns
from sfumato.attack.linkage.linking import link_best

if TYPE_CHECKING:
    from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge


def rarity(values: FloatArray, column: FloatArray) -> FloatArray:
    """Return how much an identical cell tells, in nats: -log of the share of the column that holds the value.

    Parameters
    ----------
    values : array of shape (m,)
        Known values.
    column : array of shape (n,)
        A released column.

    Examples
    --------
    >>> rarity(np.array([1.0, 2.0]), np.array([1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0])).round(2)
    array([1.39, 0.29])
    """
    found, counts = np.unique(column, return_counts=True)
    place = np.searchsorted(found, values).clip(0, len(found) - 1)
    share = np.where(found[place] == values, counts[place], len(column)) / len(column)
    return np.asarray(-np.log(share), dtype=np.float64)


class EqualCells(Attack):
    """A cell that was released as it is points at its owner, whatever happened to the rest of the row.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(100, 4))
    >>> released = draw.normal(size=(100, 4))
    >>> released[:, 2] = table[:, 2]
    >>> run_attack(EqualCells(), table, released).rate
    1.0
    """

    entry = entry("equal-cells")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when columns do not correspond."""
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the rows that share the rarest cells with each person."""
        assert knowledge.records is not None
        people, rows = knowledge.records, knowledge.released
        weights = np.array([rarity(people[:, j], rows[:, j]) for j in range(people.shape[1])])
        if not weights.any():
            raise NothingFoundError("no cell of a known person stands in the release")

        def cost(chosen: slice) -> FloatArray:
            some = people[chosen]
            total = np.zeros((len(some), len(rows)))
            for j, weight in enumerate(weights):
                total -= weight[chosen][:, None] * (some[:, j][:, None] == rows[:, j][None, :])
            return total

        return link_best(len(people), len(rows), cost, deadline)
