"""The release itself as the guess: the floor of every release."""

from __future__ import annotations

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.engine.knowledge import Guess, Knowledge, guess_values


class AsReleased(Attack):
    """Guess that nothing was changed.

    Examples
    --------
    >>> import numpy as np
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).normal(size=(50, 2))
    >>> run_attack(AsReleased(), table, table).rate
    1.0
    """

    entry = entry("as-released")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when cells do not correspond."""
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:  # noqa: ARG002 - instant
        """Return the released rows."""
        return guess_values(knowledge.released[knowledge.targets])
