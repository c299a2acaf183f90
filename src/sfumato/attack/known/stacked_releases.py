"""Several releases of one table with other settings: known rows tell how much each of them is worth."""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, needs_known_rows
from sfumato.attack.engine.knowledge import Guess, Knowledge, guess_values
from sfumato.attack.known.ridge import ridge_map


class StackedReleases(Attack):
    """Learn the originals from all releases side by side by ridge regression on the known rows.

    Releases with other methods, parameters or scales need not be averaged: known people give each its weight.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(400, 2))
    >>> noisy = [k * table + 0.02 * k**2 * draw.normal(size=table.shape) for k in range(1, 6)]
    >>> run_attack(StackedReleases(), table, noisy[4], releases=noisy[:4]).rate > 0.95
    True
    """

    entry = entry("stacked-releases")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when there are too few known rows or a release has gaps."""
        if any(not np.isfinite(other).all() for other in knowledge.releases):
            return "a further release has missing or infinite cells"
        return needs_known_rows(knowledge, 3)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the predicted target rows."""
        assert knowledge.pairs is not None
        deadline.check()
        stacked = np.column_stack([knowledge.released, *knowledge.releases])
        slope, intercept = ridge_map(stacked[knowledge.pairs.rows], knowledge.pairs.values)
        guess = stacked[knowledge.targets] @ slope + intercept
        note = f"{1 + len(knowledge.releases)} releases side by side"
        return guess_values(snap(guess, knowledge.decimals), note=note)
