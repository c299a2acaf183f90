"""Link every known person to the row with the most similar ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.linkage.linking import link_nearest
from sfumato.attack.public.quantile_mapping import rank_levels

if TYPE_CHECKING:
    from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge


def public_levels(values: FloatArray, levels: FloatArray, quantiles: FloatArray) -> FloatArray:
    """Return the share of a population below each value, from public quantiles.

    Parameters
    ----------
    values : array of shape (m,)
        Values.
    levels, quantiles : arrays of shape (q,)
        Public quantiles of the column.

    Returns
    -------
    array of shape (m,)
        Between 0 and 1; the middle of its span for a value that several quantiles share.

    Examples
    --------
    >>> public_levels(np.array([0.5, 2.0]), np.array([0.0, 0.5, 1.0]), np.array([0.0, 2.0, 2.0]))
    array([0.125, 0.75 ])
    """
    low = np.searchsorted(quantiles, values, side="left")
    high = np.searchsorted(quantiles, values, side="right")
    last = levels.size - 1
    shared = (levels[np.minimum(low, last)] + levels[np.clip(high - 1, 0, last)]) / 2
    between = np.interp(values, quantiles, levels)
    return np.where(high > low, shared, between)


class RankLinkage(Attack):
    """Nearest row in ranks: undoes every change that keeps the order within columns.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).normal(size=(60, 3))
    >>> run_attack(RankLinkage(), table, np.exp(table)).rate > 0.9
    True
    """

    entry = entry("ranks")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when columns do not correspond."""
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the rows nearest in ranks."""
        assert knowledge.records is not None
        assert knowledge.marginals is not None
        public = knowledge.marginals
        columns = range(knowledge.n_columns)
        people = np.column_stack(
            [public_levels(knowledge.records[:, j], public.levels, public.quantiles[:, j]) for j in columns]
        )
        rows = np.column_stack([rank_levels(knowledge.released[:, j]) for j in columns])
        return link_nearest(people, rows, deadline)
