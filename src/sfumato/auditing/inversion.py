"""Inversion first: the best guess of the originals, on which the usual scores are computed again.

A rotated table looks private to every score that compares it with the original. Undone first, it does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.attack.catalogue import entry, load
from sfumato.attack.engine.interface import Deadline, NothingFoundError, OutOfTimeError
from sfumato.attack.engine.referee import Referee
from sfumato.attack.engine.result import Result


@dataclass(frozen=True)
class Inversion:
    """The table after the strongest attack on values.

    Attributes
    ----------
    attack : str
        Id of the attack; "as-released" when nothing does better.
    known : int
        Records it was given.
    rows : array of shape (m,)
        The rows that were inverted and were not known.
    guess : array of shape (m, d)
    """

    attack: str
    known: int
    rows: Integers
    guess: Floats

    def __repr__(self) -> str:
        return f"Inversion(attack={self.attack!r}, known={self.known}, rows={len(self.rows)})"


def invert(referee: Referee, results: Sequence[Result], released: Floats, *, seconds: float = 10.0) -> Inversion:
    """Return the guess of the strongest attack on values that ran.

    Parameters
    ----------
    referee : Referee
        Hands out the knowledge.
    results : sequence of Result
        What each attack reached.
    released : array of shape (n, d)
        The release, which stands where an attack has no guess.
    seconds : float
        Time for the attack.
    """
    ranked = sorted(
        (
            result
            for result in results
            if result.goal == "values"
            and result.lift is not None
            and result.status == "ran"
            and "attributes" not in entry(result.attack).needs  # those answer for people, not for rows
        ),
        key=lambda result: -(result.lift or 0.0),
    )
    for result in ranked[:3]:
        if (result.lift or 0.0) <= 0.0:
            break
        attack = load(result.attack)
        knowledge = referee.knowledge(attack, result.known or None)
        try:
            with np.errstate(all="ignore"):
                guess = attack.run(knowledge, Deadline(seconds)).values
        except (NothingFoundError, OutOfTimeError):
            continue
        if guess is None:
            continue
        guess = guess[0] if guess.ndim == 3 else guess  # answers that fit equally well: any of them
        rows = np.asarray(knowledge.targets, dtype=np.int64)
        known = np.empty(0, dtype=np.int64) if knowledge.pairs is None else np.asarray(knowledge.pairs.rows)
        fresh = ~np.isin(rows, known)
        filled = np.where(np.isfinite(guess), guess, released[rows])
        return Inversion(result.attack, result.known, rows[fresh], filled[fresh])
    rows = np.arange(min(len(released), 2000))
    return Inversion("as-released", 0, rows, released[rows])
