"""Link every known person to the nearest released row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.linkage.linking import link_kinds, link_nearest, standardise

if TYPE_CHECKING:
    from sfumato.attack.engine.knowledge import Guess, Knowledge


class NearestRow(Attack):
    """Nearest row after both tables are brought to mean 0 and deviation 1, which undoes shifts and scalings.

    Examples
    --------
    >>> import numpy as np
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).normal(size=(60, 3))
    >>> run_attack(NearestRow(), table, 2 * table + 1).rate
    1.0
    """

    entry = entry("nearest")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when columns do not correspond."""
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the nearest rows."""
        assert knowledge.records is not None
        assert knowledge.marginals is not None
        people = standardise(knowledge.records, knowledge.marginals.mean, knowledge.marginals.sd)
        released = knowledge.released
        rows = standardise(released, released.mean(axis=0), released.std(axis=0))
        if knowledge.kinds is not None:
            return link_kinds(people, rows, knowledge, deadline)
        return link_nearest(people, rows, deadline)
