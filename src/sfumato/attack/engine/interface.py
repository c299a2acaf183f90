"""The one interface of all attacks: `Knowledge` and the work they may do in, `Guess` out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sfumato.core.passes import stop_if_asked

if TYPE_CHECKING:
    from sfumato.attack.catalogue import Entry
    from sfumato.attack.engine.knowledge import Guess, Knowledge

_MISSING = {
    "marginals": "needs public marginals of the original columns",
    "sample": "needs a sample of the population",
    "records": "needs records of people in the release",
    "pairs": "needs people whose row in the release is known",
    "attributes": "needs some columns of people in the release",
    "clusterings": "needs the centres of the named clusterings",
    "atom_moments": "needs the moments of the rows that share all named labels",
    "releases": "needs a second release of the same table",
    "decimals": "needs the decimals of the original columns",
    "places": "needs the places of people in the original file",
    "kinds": "needs columns that hold categories or are released as they are",
}


class NothingFoundError(Exception):
    """The attack ran and has no answer at all; its message says why."""


class OutOfTimeError(Exception):
    """The work that an attack may do is used up; the referee turns it into a status."""


#: cells that an attack may look at; numpy looks at some hundred million in a second
WORK = 4_000_000_000
_STEP = 100_000  # what a piece of work counts that does not say how large it is


class Deadline:
    """How much work an attack may do, in cells: no clock is read, so a busy machine finds what an idle one does.

    Parameters
    ----------
    cells : float
        Cells that may be looked at. Default: `WORK`.

    Examples
    --------
    >>> deadline = Deadline(1_000)
    >>> deadline.spend(999)
    >>> deadline.expired
    False
    >>> deadline.spend(1)
    >>> deadline.expired
    True
    """

    def __init__(self, cells: float = WORK) -> None:
        self._left = float(cells)

    @property
    def expired(self) -> bool:
        """Whether the work is used up."""
        return self._left <= 0.0

    def spend(self, cells: float) -> None:
        """Count cells that are looked at.

        Parameters
        ----------
        cells : float
            How many.
        """
        self._left -= cells

    def check(self, cells: float = _STEP) -> None:
        """Count the next piece of work, and raise `OutOfTimeError` when there was nothing left for it.

        Parameters
        ----------
        cells : float
            Cells of that piece. Default: 100000.
        """
        stop_if_asked()
        if self.expired:
            raise OutOfTimeError
        self.spend(cells)


class Attack(ABC):
    """Base of all attacks.

    A subclass sets `entry` (its row of the catalogue: rung, cost, what it needs) and writes `run`, and
    `objection` when more than the listed needs must hold.
    """

    entry: ClassVar[Entry]

    @property
    def rung(self) -> int:
        """Rung of the ladder of knowledge, 0 (nothing) to 4 (known pairs)."""
        return self.entry.rung

    @property
    def cost(self) -> str:
        """What the attack costs an attacker, with the default number of known people."""
        return self.entry.cost

    def applies(self, knowledge: Knowledge) -> str | None:
        """Return None when the attack can run on this knowledge, or the reason why it cannot.

        Parameters
        ----------
        knowledge : Knowledge
            What the attacker holds.

        Returns
        -------
        str or None
            A reason in plain words.
        """
        if knowledge.n_rows < 4:
            return f"the release has {knowledge.n_rows} rows, at least 4 are needed"
        for need in self.entry.needs:
            held = getattr(knowledge, need)
            size = 1 if held is None else len(held.rows) if need == "pairs" else 1
            if held is None or size == 0 or (need == "releases" and not held):
                return _MISSING[need]
        if not np.isfinite(knowledge.released).all():
            return "the release has missing or infinite cells"
        return self.objection(knowledge)

    def objection(self, knowledge: Knowledge) -> str | None:  # noqa: ARG002 - subclasses look at it
        """Return a reason of this attack's own why it cannot run, or None.

        Parameters
        ----------
        knowledge : Knowledge
            What the attacker holds; all listed needs are present.

        Returns
        -------
        str or None
            A reason in plain words.
        """
        return None

    @abstractmethod
    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Attack.

        Parameters
        ----------
        knowledge : Knowledge
            What the attacker holds.
        deadline : Deadline
            To be told of every piece of work.

        Returns
        -------
        Guess
            Values for the target rows, or rows for the known people.

        Raises
        ------
        NothingFoundError
            When the attack ran and has no answer.
        OutOfTimeError
            When the work is used up and there is no partial answer.
        """


def needs_known_rows(knowledge: Knowledge, needed: int) -> str | None:
    """Return a reason when fewer people are known than an attack needs.

    Parameters
    ----------
    knowledge : Knowledge
        What the attacker holds: known rows.
    needed : int
        Fewest known rows.
    """
    assert knowledge.pairs is not None
    held = len(knowledge.pairs.rows)
    return None if held >= needed else f"needs {needed} known rows, {held} are known"


def needs_same_columns(knowledge: Knowledge) -> str | None:
    """Return a reason when the release does not have the columns of the original.

    Parameters
    ----------
    knowledge : Knowledge
        What the attacker holds.

    Examples
    --------
    >>> import numpy as np
    >>> from sfumato.attack.engine.knowledge import Knowledge
    >>> needs_same_columns(Knowledge(np.ones((5, 1)), ("a", "b"), np.arange(5)))
    'the release has 1 columns, the original 2: cells do not correspond'
    """
    if knowledge.keeps_columns:
        return None
    return (
        f"the release has {knowledge.released.shape[1]} columns, the original {knowledge.n_columns}: "
        "cells do not correspond"
    )
