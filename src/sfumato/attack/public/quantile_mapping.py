"""Public quantiles undo every change that keeps the ranks of a column."""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values


def rank_levels(column: FloatArray) -> FloatArray:
    """Return the share of a column below each of its values, ties in the middle of their span.

    Parameters
    ----------
    column : array of shape (n,)
        At least two values.

    Returns
    -------
    array of shape (n,)
        From 0 (the smallest) to 1 (the largest).

    Examples
    --------
    >>> rank_levels(np.array([5.0, 1.0, 1.0, 9.0]))
    array([0.66666667, 0.16666667, 0.16666667, 1.        ])
    """
    order = np.argsort(column, kind="stable")
    ordered = column[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    last = np.append(first[1:], column.size) - 1
    levels = np.empty(column.size)
    levels[order] = np.repeat((first + last) / 2, last - first + 1) / max(column.size - 1, 1)
    return levels


class QuantileMapping(Attack):
    """Replace every released value by the public quantile of its rank.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).uniform(1, 2, size=(200, 2))
    >>> run_attack(QuantileMapping(), table, np.exp(table)).rate > 0.95
    True
    """

    entry = entry("quantiles")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when cells do not correspond."""
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the quantiles of the ranks of the target rows."""
        assert knowledge.marginals is not None
        public = knowledge.marginals
        values = np.empty((knowledge.targets.size, knowledge.n_columns))
        for column in range(knowledge.n_columns):
            deadline.check()
            levels = rank_levels(knowledge.released[:, column])[knowledge.targets]
            values[:, column] = np.interp(levels, public.levels, public.quantiles[:, column])
        return guess_values(snap(values, knowledge.decimals))
