"""Link every known person to the released row at least Gower distance, over columns of every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, needs_same_columns
from sfumato.attack.linkage.linking import link_kinds

if TYPE_CHECKING:
    from sfumato.attack.engine.interface import Deadline
    from sfumato.attack.engine.knowledge import Guess, Knowledge


class Gower(Attack):
    """Numbers differ by a share of their range, categories wholly or not at all, and kept columns must agree.

    Examples
    --------
    >>> from sfumato.attack import Kinds, run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = np.column_stack([draw.normal(size=200), *draw.integers(0, 6, size=(5, 200))])
    >>> released = table.copy()
    >>> for column in released.T[1:]:
    ...     draw.shuffle(column[:40])  # most categories stay where they were
    >>> kinds = Kinds(categories=np.arange(6) > 0, kept=np.zeros(6, dtype=bool))
    >>> run_attack(Gower(), table, released, kinds=kinds).rate > 0.8
    True
    """

    entry = entry("gower")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when columns do not correspond."""
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the nearest rows."""
        assert knowledge.records is not None
        both = np.concatenate([knowledge.records, knowledge.released])
        span = np.ptp(both, axis=0)
        span = np.where(span > 0, span, 1.0)
        return link_kinds(knowledge.records / span, knowledge.released / span, knowledge, deadline, power=1)
