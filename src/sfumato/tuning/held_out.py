"""Held-out repetitions: the winner of a search must hold with keys and seeds that the search never saw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sfumato.auditing.grading import GRADES
from sfumato.core.sharing import sharing_here
from sfumato.core.tiles import in_order
from sfumato.tuning.search import Score
from sfumato.tuning.space import Candidate


@dataclass(frozen=True)
class Confirmed:
    """A finalist, as the search saw it and as held-out repetitions saw it.

    Attributes
    ----------
    candidate : Candidate
    search : Score
    held_out : tuple of Score
        Empty when an earlier finalist held.
    holds : bool
        Whether every held-out repetition meets the limits.
    """

    candidate: Candidate
    search: Score
    held_out: tuple[Score, ...]
    holds: bool


def holds(score: Score, limit: float, min_grade: str | None) -> bool:
    """Tell whether a score meets the limits.

    Parameters
    ----------
    limit : float
        Most excess misclassification.
    min_grade : str, optional

    Examples
    --------
    >>> holds(Score(0.005, "B", 0.2), 0.01, "C"), holds(Score(0.005, "D", 0.2), 0.01, "C")
    (True, False)
    """
    good = min_grade is None or GRADES.index(score.grade) <= GRADES.index(min_grade)
    return score.excess <= limit and good


def confirm(
    finalists: Sequence[tuple[Candidate, Score]],
    repeat: Callable[[Candidate, int], Score],
    *,
    limit: float,
    min_grade: str | None,
    repetitions: int,
    tell: Callable[[Candidate, int], None] = lambda _candidate, _number: None,
) -> list[Confirmed]:
    """Repeat the finalists, best first, with fresh keys and seeds, until one holds in every repetition.

    A finalist that misses a limit once is not repeated further; where repetitions run side by side, later ones do not
    count then.

    Parameters
    ----------
    finalists : sequence of (Candidate, Score)
        Best first.
    repeat : callable
        Scores a candidate in a held-out repetition, numbered from 0.
    limit, min_grade
        See `holds`.
    tell : callable, optional
        Is told which repetition of whom is waited for.

    Returns
    -------
    list of Confirmed
        In the order of the finalists.
    """
    out: list[Confirmed] = []
    won = False
    for candidate, found in finalists:
        scores: list[Score] = []
        if not won:
            runs = in_order(range(repetitions), partial(repeat, candidate), sharing_here())
            for number in range(repetitions):
                tell(candidate, number)
                scores.append(next(runs))
                if not holds(scores[-1], limit, min_grade):
                    break
        good = len(scores) == repetitions and all(holds(score, limit, min_grade) for score in scores)
        won = won or good
        out.append(Confirmed(candidate, found, tuple(scores), good))
    return out
