"""Held-out repetitions: the winner of a search must hold with keys and seeds that the search never saw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

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

    A finalist that misses a limit once is not repeated further. Where repetitions run side by side, those of several
    finalists if there are threads for them, later ones do not count then.

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
    threads = sharing_here()
    together = max(1, threads // repetitions)  # finalists; what nobody has to know any more is done and left out
    runs: Iterator[Score] = iter(())
    for place, (candidate, found) in enumerate(finalists):
        scores: list[Score] = []
        if not won:
            if place % together == 0:
                asked = [(one, i) for one, _ in finalists[place : place + together] for i in range(repetitions)]
                runs = in_order(asked, lambda job: repeat(*job), threads)
            for number in range(repetitions):
                missed = bool(scores) and not holds(scores[-1], limit, min_grade)
                if missed and together == 1:
                    break
                tell(candidate, number)
                score = next(runs)
                scores += [] if missed else [score]
        good = len(scores) == repetitions and all(holds(score, limit, min_grade) for score in scores)
        won = won or good
        out.append(Confirmed(candidate, found, tuple(scores), good))
    return out
