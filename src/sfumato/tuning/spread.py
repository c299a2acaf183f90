"""Candidates scored in other processes beside this one: a search as wide as the machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from sfumato.auditing.utility.known import learn_optima
from sfumato.core.errands.processes import FEW, Errands
from sfumato.core.passes import stop_if_asked
from sfumato.core.sharing import Task, Workers, submit_alone
from sfumato.tuning.assess import Judgement, TableAssessor, rough_score
from sfumato.tuning.search import Score
from sfumato.tuning.space import Candidate
from sfumato.tuning.subject import subject_again


class SpreadAssessor:
    """Scores candidates as a `TableAssessor` does, each wherever there is a process for it.

    Parameters
    ----------
    errands : Errands
        Of `scores_elsewhere`.
    others : Workers
        Threads that wait for what nobody has asked for yet: whoever gets a full audit will be repeated.
    repetitions : int
        How often.
    """

    def __init__(self, errands: Errands, others: Workers, repetitions: int) -> None:
        self._errands, self._others, self._repetitions = errands, others, repetitions
        self._excess: dict[Candidate, float] = {}
        self._begun: dict[tuple[Candidate, int], Task[Score]] = {}

    def cheap(self, candidate: Candidate) -> tuple[float, float]:
        """Return (excess, how far the values moved)."""
        found: tuple[float, float] = self._errands(("cheap", candidate))
        self._excess[candidate] = found[0]
        return found

    def quick(self, candidate: Candidate) -> Score:
        """Return a rough score from the strongest attack of each kind."""
        judged = cast("Judgement", self._errands(("judged", candidate)))
        return rough_score(self._excess[candidate], judged)

    def closer(self, candidate: Candidate) -> float:
        """Return the largest excess over several keys, from more starts and repetitions."""
        return cast("float", self._errands(("closer", candidate)))

    def thorough(self, candidate: Candidate) -> Score:
        """Return the score of a full audit, with the key and the seed of the search."""
        for repetition in range(self._repetitions):
            asked = ("repeat", candidate, repetition)
            self._begun[candidate, repetition] = submit_alone(self._others, self._errands, asked)
        return cast("Score", self._errands(("thorough", candidate)))

    def repeat(self, candidate: Candidate, repetition: int) -> Score:
        """Return the score of a full audit with a key and seeds that the search never saw."""
        begun = self._begun.get((candidate, repetition))
        return cast("Score", self._errands(("repeat", candidate, repetition))) if begun is None else begun.result()

    def leave(self) -> None:
        """Leave undone what nobody has asked for."""
        for task in self._begun.values():
            task.cancel()


@contextmanager
def spread_over(assess: TableAssessor, processes: int, finalists: int, repetitions: int) -> Iterator[SpreadAssessor]:
    """Yield an assessor that shares its work with other processes, where there are enough of them to be of use.

    Parameters
    ----------
    assess : TableAssessor
    processes : int
    finalists, repetitions : int
        How many candidates get a full audit, and how often each of them is repeated.
    """
    here, kind = _Scores(assess), "sfumato.tuning.spread:scores_elsewhere"
    with (
        Workers(processes - finalists) as others,
        Errands(kind, assess.told, here, processes, stop_if_asked) as errands,
    ):
        errands.begin(processes)
        spread = SpreadAssessor(errands, others, repetitions if processes > max(finalists, FEW) else 0)
        try:
            yield spread
        finally:
            spread.leave()


def scores_elsewhere(told: dict[str, Any]) -> _Scores:
    """Return the scores of another process.

    Parameters
    ----------
    told : dict
        Of `TableAssessor.told`.
    """
    learn_optima(told["known"])
    subject = subject_again(told["subject"])
    return _Scores(TableAssessor(subject, told["clusters"], told["seed"], told["limit"], told["fixed"]))


class _Scores:
    """Asks an assessor for the score that is named."""

    def __init__(self, assess: TableAssessor) -> None:
        self._assess = assess

    def __call__(self, asked: tuple[str, Any]) -> Any:
        name, *about = asked
        return getattr(self._assess, name)(*about)
