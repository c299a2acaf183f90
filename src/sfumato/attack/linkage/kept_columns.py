"""Join on the columns that are released as they are: the cheapest linkage there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, IntArray, guess_links

if TYPE_CHECKING:
    from sfumato.attack.engine.knowledge import Guess, Knowledge


_CROWD = 1_000  # who is one of more rows than that is not found


def number_rows(*tables: FloatArray) -> list[IntArray]:
    """Return a number for every row of several tables of the same columns; equal rows have equal numbers.

    Parameters
    ----------
    *tables : arrays of shape (n, d)
        Rows.

    Returns
    -------
    list of integer arrays of shape (n,)
        One for each table; numbers begin at 0.

    Examples
    --------
    >>> number_rows(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[3.0, 4.0]]))
    [array([0, 1]), array([1])]
    """
    both = np.concatenate(tables)
    numbers = np.zeros(len(both), dtype=np.int64)
    for column in both.T:
        different, codes = np.unique(column, return_inverse=True)
        numbers = np.unique(numbers * len(different) + codes.reshape(-1), return_inverse=True)[1].reshape(-1)
    return list(np.split(numbers, np.cumsum([len(table) for table in tables])[:-1]))


class KeptColumns(Attack):
    """Look a person up by what the release holds as it was: nothing else of the person need be known.

    Examples
    --------
    >>> from sfumato.attack import Kinds, run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = np.column_stack([draw.normal(size=100), np.arange(100) // 2])
    >>> released = np.column_stack([draw.normal(size=100), table[:, 1]])
    >>> kinds = Kinds(categories=np.array([False, True]), kept=np.array([False, True]))
    >>> run_attack(KeptColumns(), table, released, kinds=kinds).rate
    0.5
    """

    entry = entry("kept-columns")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when no column is kept."""
        if needs_same_columns(knowledge) is not None:
            return needs_same_columns(knowledge)
        assert knowledge.kinds is not None
        return None if knowledge.kinds.kept.any() else "no column is released as it is"

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:  # noqa: ARG002 - sorting takes no time
        """Return the rows whose kept columns are the person's."""
        assert knowledge.records is not None
        assert knowledge.kinds is not None
        kept = knowledge.kinds.kept
        people, rows = number_rows(knowledge.records[:, kept], knowledge.released[:, kept])
        order = np.argsort(rows, kind="stable")
        first, last = (np.searchsorted(rows[order], people, side=side) for side in ("left", "right"))
        nobody = np.empty(0, dtype=np.int64)
        found = zip(first, last, strict=True)
        return guess_links([order[begin:end] if end - begin <= _CROWD else nobody for begin, end in found])
