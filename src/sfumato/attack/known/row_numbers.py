"""Digits of a column may tell the place of a row in the original file."""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError
from sfumato.attack.engine.knowledge import Guess, Knowledge, guess_links
from sfumato.attack.known.low_digits import telling_digits

_SURE = 0.98


class RowNumbers(Attack):
    """Learn from known rows which digits follow the place in the original file, and look people up by their place.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table, released = draw.normal(size=(300, 2)), np.round(draw.normal(size=(300, 2)), 2)
    >>> released[:, 1] += np.arange(300) * 1e-6
    >>> run_attack(RowNumbers(), table, released).rate
    1.0
    """

    entry = entry("row-numbers")

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return for each place the row whose digits come nearest to it."""
        assert knowledge.places is not None
        held = knowledge.places
        if len(held.rows) < 10:
            raise NothingFoundError("too few people are known to be sure")
        places = held.numbers.astype(np.float64)
        follows, digits = telling_digits(knowledge.released, held.rows, places[:, None], deadline)[0]
        if abs(follows) < _SURE:
            raise NothingFoundError("no digits follow the places of the rows")
        slope, start = np.polyfit(digits[held.rows], places, 1)
        told = slope * digits + start
        order = np.argsort(told, kind="stable")
        right = np.searchsorted(told[order], held.asked).clip(1, len(order) - 1)
        before, after = order[right - 1], order[right]
        nearer = np.where(np.abs(told[before] - held.asked) <= np.abs(told[after] - held.asked), before, after)
        return guess_links([np.array([row]) for row in nearer], note="some digits follow the places of the rows")
