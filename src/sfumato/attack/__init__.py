"""Attacks on releases: what an adversary recovers with which knowledge, scored by a referee.

Examples
--------
>>> import numpy as np
>>> from sfumato.attack import run_attack
>>> table = np.random.default_rng(0).normal(size=(100, 3))
>>> run_attack("affine", table, 2 * table + 1).rate
1.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato._lazy import lazy_names

if TYPE_CHECKING:
    from sfumato.attack.catalogue import Entry, attacks, entry, load
    from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, OutOfTimeError
    from sfumato.attack.engine.knowledge import (
        Attributes,
        Guess,
        Kinds,
        Knowledge,
        Marginals,
        Pairs,
        guess_links,
        guess_values,
    )
    from sfumato.attack.engine.referee import Referee, run_attack
    from sfumato.attack.engine.result import Result, best_of, lift, wilson_interval
    from sfumato.attack.linkage.best import Linkage, best_linkage
    from sfumato.attack.shadows.membership import Membership, membership
    from sfumato.attack.shadows.one_row import RowDifference, one_row_difference

__all__ = [
    "Attack",
    "Attributes",
    "Deadline",
    "Entry",
    "Guess",
    "Kinds",
    "Knowledge",
    "Linkage",
    "Marginals",
    "Membership",
    "NothingFoundError",
    "OutOfTimeError",
    "Pairs",
    "Referee",
    "Result",
    "RowDifference",
    "attacks",
    "best_linkage",
    "best_of",
    "entry",
    "guess_links",
    "guess_values",
    "lift",
    "load",
    "membership",
    "one_row_difference",
    "run_attack",
    "wilson_interval",
]

_HOMES = {
    "Attack": "engine.interface",
    "Attributes": "engine.knowledge",
    "Deadline": "engine.interface",
    "Entry": "catalogue",
    "Guess": "engine.knowledge",
    "Kinds": "engine.knowledge",
    "Knowledge": "engine.knowledge",
    "Linkage": "linkage.best",
    "Marginals": "engine.knowledge",
    "Membership": "shadows.membership",
    "NothingFoundError": "engine.interface",
    "OutOfTimeError": "engine.interface",
    "Pairs": "engine.knowledge",
    "Referee": "engine.referee",
    "Result": "engine.result",
    "RowDifference": "shadows.one_row",
    "attacks": "catalogue",
    "best_linkage": "linkage.best",
    "best_of": "engine.result",
    "entry": "catalogue",
    "guess_links": "engine.knowledge",
    "guess_values": "engine.knowledge",
    "lift": "engine.result",
    "load": "catalogue",
    "membership": "shadows.membership",
    "one_row_difference": "shadows.one_row",
    "run_attack": "engine.referee",
    "wilson_interval": "engine.result",
}


__getattr__, __dir__ = lazy_names(__name__, _HOMES)
