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

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.attack.catalogue import Entry, attacks, entry, load
    from sfumato.attack.deadline import Deadline, OutOfTimeError
    from sfumato.attack.interface import Attack, NothingFoundError
    from sfumato.attack.knowledge import Attributes, Guess, Knowledge, Marginals, Pairs, guess_links, guess_values
    from sfumato.attack.linkage import Linkage, best_linkage
    from sfumato.attack.referee import Referee, run_attack
    from sfumato.attack.result import Result, best_of
    from sfumato.attack.statistics import lift, wilson_interval

__all__ = [
    "Attack",
    "Attributes",
    "Deadline",
    "Entry",
    "Guess",
    "Knowledge",
    "Linkage",
    "Marginals",
    "NothingFoundError",
    "OutOfTimeError",
    "Pairs",
    "Referee",
    "Result",
    "attacks",
    "best_linkage",
    "best_of",
    "entry",
    "guess_links",
    "guess_values",
    "lift",
    "load",
    "run_attack",
    "wilson_interval",
]

_HOMES = {
    "Attack": "interface",
    "Attributes": "knowledge",
    "Deadline": "deadline",
    "Entry": "catalogue",
    "Guess": "knowledge",
    "Knowledge": "knowledge",
    "Linkage": "linkage",
    "Marginals": "knowledge",
    "NothingFoundError": "interface",
    "OutOfTimeError": "deadline",
    "Pairs": "knowledge",
    "Referee": "referee",
    "Result": "result",
    "attacks": "catalogue",
    "best_linkage": "linkage",
    "best_of": "result",
    "entry": "catalogue",
    "guess_links": "knowledge",
    "guess_values": "knowledge",
    "lift": "statistics",
    "load": "catalogue",
    "run_attack": "referee",
    "wilson_interval": "statistics",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"sfumato.attack.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'sfumato.attack' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
