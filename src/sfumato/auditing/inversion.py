"""Inversion first: the best guess of the originals, on which the usual scores are computed again.

A rotated table looks private to every score that compares it with the original. Undone first, it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.attack.catalogue import entry, load
from sfumato.attack.engine.interface import WORK, Deadline, NothingFoundError, OutOfTimeError
from sfumato.attack.engine.referee import Referee
from sfumato.attack.engine.result import Result
from sfumato.auditing.aligned import AlignedTables
from sfumato.auditing.model import Inverted
from sfumato.auditing.questions import FEWEST_ROWS, Answer, answer_questions
from sfumato.metrics import interval_disclosure


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


def invert(referee: Referee, results: Sequence[Result], released: Floats, *, work: float = WORK) -> Inversion:
    """Return the guess of the strongest attack on values that ran.

    Parameters
    ----------
    referee : Referee
        Hands out the knowledge.
    results : sequence of Result
        What each attack reached.
    released : array of shape (n, d)
        The release, which stands where an attack has no guess.
    work : float
        Cells that the attack may look at.
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
                guess = attack.run(knowledge, Deadline(work)).values
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


def measure_inversion(
    referee: Referee,
    results: Sequence[Result],
    tables: AlignedTables,
    *,
    work: float = WORK,
    seed: int = 0,
    asked: Callable[[], tuple[Answer, ...] | None] = lambda: None,
) -> Inverted:
    """Return linkage and disclosure before and after the strongest inversion, on the same rows and people.

    Parameters
    ----------
    referee, results, work
        See `invert`.
    asked : callable
        Returns what `answer_questions` says of the release, which is not asked again where nothing is inverted; None
        (default) if nobody knows.
    """
    found = (
        invert(referee, results, tables.released, work=work)
        if tables.same_columns
        else Inversion("as-released", 0, np.empty(0, dtype=np.int64), np.empty((0, tables.original.shape[1])))
    )
    truth, released = tables.original[found.rows], tables.released[found.rows]
    enough = len(found.rows) >= FEWEST_ROWS
    as_released = np.array_equal(found.guess, tables.released) and np.array_equal(truth, tables.original)
    seen = (released,) if as_released else (released, found.guess)
    linked = [Referee(truth, table, seed=seed).run("nearest").rate if enough else None for table in seen]
    answers = asked() if as_released else None
    disclosed = [interval_disclosure(truth, table) if enough else None for table in (released, found.guess)]
    return Inverted(
        attack=found.attack,
        known=found.known,
        rows=len(found.rows),
        linked_as_released=linked[0],
        linked_inverted=linked[-1],
        disclosed_as_released=disclosed[0],
        disclosed_inverted=disclosed[1],
        questions=answer_questions(truth, found.guess, seed=seed) if answers is None else answers,
    )
