"""The search: many candidates looked at cheaply, the better half more closely, a few finalists in full.

It knows candidates and scores only, so that it can be tested on spaces whose best point is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from typing import Protocol

from sfumato.auditing.grading import GRADES
from sfumato.core.sharing import threads_here
from sfumato.core.tiles import in_order
from sfumato.exceptions import SfumatoError
from sfumato.tuning.space import Candidate, neighbours

Progress = Callable[[str, float], None]

_NEAR_EACH = 8  # neighbours of each of the best
_BEST = 3
_LEAST_LOOKS, _LEAST_ATTACKS = 32, 16  # whatever the time: about two of each method, and one of each attacked
_SLACK = 0.02  # cheap figures are rough: what misses the limit by no more than this stays in


@dataclass(frozen=True)
class Score:
    """What a candidate showed.

    Attributes
    ----------
    excess : float
        Rows in another cluster beyond a re-run; less is better.
    grade : str
    residual : float
        Residual security of the median column; more is better.
    linkage : float or None
        Best linkage; less is better.
    """

    excess: float
    grade: str
    residual: float
    linkage: float | None = None


class Assessor(Protocol):
    """Looks at candidates, closer and closer; raises `SfumatoError` when a candidate does not apply."""

    def cheap(self, candidate: Candidate) -> tuple[float, float]:
        """Return (excess, how far the values moved) from little work."""

    def quick(self, candidate: Candidate) -> Score:
        """Return a rough score: little effort for clusters, the strongest attacks only."""

    def closer(self, candidate: Candidate) -> float:
        """Return the largest excess over several keys, with more effort for the clusters."""

    def thorough(self, candidate: Candidate) -> Score:
        """Return the score of a full audit."""


@dataclass(frozen=True)
class Counts:
    """How many candidates each stage saw."""

    cheap: int
    quick: int
    thorough: int
    not_applicable: int


@dataclass(frozen=True)
class Searched:
    """The outcome of a search.

    Attributes
    ----------
    finalists : tuple of (Candidate, Score)
        Best first, each with the score of its full audit.
    seen : tuple of (Candidate, Score)
        Everything that was attacked, with its rough score.
    counts : Counts
    """

    finalists: tuple[tuple[Candidate, Score], ...]
    seen: tuple[tuple[Candidate, Score], ...]
    counts: Counts


def merit(score: Score, limit: float) -> tuple[float, int, float, float]:
    """Return a key that sorts the best first: within the limit, then by grade, then by residual security.

    Parameters
    ----------
    limit : float
        Most excess misclassification.

    Examples
    --------
    >>> within, beyond = Score(0.01, "C", 0.1), Score(0.02, "A", 0.9)
    >>> merit(within, 0.01) < merit(beyond, 0.01), merit(within, 0.05) < merit(beyond, 0.05)
    (True, False)
    """
    return (max(0.0, score.excess - limit), GRADES.index(score.grade), -score.residual, score.excess)


def search(
    source: Iterator[Candidate],
    assess: Assessor,
    *,
    limit: float,
    time_left: Callable[[], float],
    most: int | None = None,
    finalists: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
) -> Searched:
    """Search for the best candidate.

    Parameters
    ----------
    limit : float
        Most excess misclassification.
    time_left : callable
        Share of the budget that is left, 1 to 0; asked between candidates. Not asked when `most` is given.
    most : int, optional
        How many candidates the first stage looks at, whatever the time.
    finalists : int
        How many get a full audit.
    seed : int
        Chooses neighbours.
    progress : callable, optional
    """
    tell = progress or (lambda _what, _share: None)
    stages = _Stages(assess, limit, time_left if most is None else lambda: 1.0, tell, most)
    first = stages.look(islice(source, most) if most is not None else source, until=0.70, share=(0.0, 0.30))
    scored = stages.attack(_better_half(first, limit), until=0.50, share=(0.30, 0.50))
    best = sorted(scored, key=lambda one: merit(scored[one], limit))
    near = [one for i, candidate in enumerate(best[:_BEST]) for one in neighbours(candidate, _NEAR_EACH, seed + i)]
    fresh = [one for one in near if one not in scored]
    second = stages.look(iter(fresh), until=0.44, share=(0.50, 0.56), total=len(fresh))
    scored |= stages.attack(_better_half(second, limit), until=0.40, share=(0.56, 0.60))
    if not scored:
        return Searched((), (), Counts(stages.looked, 0, 0, stages.refused))
    checked = stages.check(scored, enough=2 * finalists, until=0.20, share=(0.60, 0.80))
    final = []
    seated = _seats(checked, finalists, limit)
    for number, (candidate, score) in enumerate(
        zip(seated, in_order(seated, assess.thorough, threads_here()), strict=True)
    ):
        tell(f"full audit of {candidate.method}", 0.80 + 0.20 * number / finalists)
        final.append((candidate, score))
    final.sort(key=lambda item: merit(item[1], limit))
    scored |= checked
    ranked = sorted(scored.items(), key=lambda item: merit(item[1], limit))
    counts = Counts(stages.looked, len(scored), len(final), stages.refused)
    return Searched(tuple(final), tuple(ranked), counts)


def _seats(checked: dict[Candidate, Score], count: int, limit: float) -> list[Candidate]:
    """Return the finalists: the best, and should they turn out lucky, those that lose least.

    One of the last two seats is for the candidate of a good grade that loses least, the other for the one that loses
    least of all.
    """
    ranked = sorted(checked, key=lambda one: merit(checked[one], limit))
    safe = sorted(checked, key=lambda one: (checked[one].excess, merit(checked[one], limit)))
    worst = max(GRADES.index(score.grade) for score in checked.values())
    good = [one for one in safe if GRADES.index(checked[one].grade) < worst]
    seats = [*ranked[: max(1, count - 2)], *good[:1], safe[0], *ranked]
    return list(dict.fromkeys(seats))[:count]


class _Stages:
    def __init__(
        self,
        assess: Assessor,
        limit: float,
        time_left: Callable[[], float],
        tell: Progress,
        most: int | None,
    ) -> None:
        self.assess, self.limit, self.time_left, self.tell, self.most = assess, limit, time_left, tell, most
        self.looked = self.attacked = self.refused = 0

    def look(
        self, source: Iterator[Candidate], *, until: float, share: tuple[float, float], total: int | None = None
    ) -> dict[Candidate, tuple[float, float]]:
        """Look at candidates cheaply until the source or the time of the stage ends."""
        found: dict[Candidate, tuple[float, float]] = {}
        began = self.time_left()

        def over() -> bool:
            return self.time_left() < until and self.looked >= _LEAST_LOOKS

        timely = takewhile(lambda _: not over(), source)
        for number, (candidate, outcome) in enumerate(in_order(timely, self._cheap, self._threads)):
            left = self.time_left()
            whole = total or self.most
            done = number / whole if whole else (began - left) / max(began - until, 1e-9)
            self.tell(f"trying {candidate.method}", share[0] + (share[1] - share[0]) * min(1.0, done))
            if outcome is None:
                self.refused += 1
            else:
                found[candidate] = outcome
                self.looked += 1
        return found

    @property
    def _threads(self) -> int:
        """How many candidates are tried side by side; with a budget of time one, because each is asked for its time."""
        return 1 if self.most is None else threads_here()

    def _cheap(self, candidate: Candidate) -> tuple[Candidate, tuple[float, float] | None]:
        try:
            return candidate, self.assess.cheap(candidate)
        except SfumatoError:
            return candidate, None

    def attack(self, chosen: list[Candidate], *, until: float, share: tuple[float, float]) -> dict[Candidate, Score]:
        """Attack candidates roughly until the list or the time of the stage ends."""
        found: dict[Candidate, Score] = {}

        def over() -> bool:
            return self.attacked >= _LEAST_ATTACKS and self.time_left() < until

        scores = in_order(takewhile(lambda _: not over(), chosen), self.assess.quick, self._threads)
        for number, (candidate, score) in enumerate(zip(chosen, scores, strict=False)):
            self.tell(f"attacking {candidate.method}", share[0] + (share[1] - share[0]) * number / len(chosen))
            found[candidate] = score
            self.attacked += 1
        return found

    def check(
        self, scored: dict[Candidate, Score], *, enough: int, until: float, share: tuple[float, float]
    ) -> dict[Candidate, Score]:
        """Measure the clusters of the best more closely, until enough are within the limit or the time ends.

        Rough figures favour the lucky: of many candidates the one that looks best is often one that is not.
        """
        found: dict[Candidate, Score] = {}
        queue = _best_and_safest(scored, self.limit)[: 6 * enough]

        def within() -> int:
            return sum(score.excess <= self.limit for score in found.values())

        def over() -> bool:
            return within() >= enough or (len(found) >= enough and self.time_left() < until)

        closer = in_order(takewhile(lambda _: not over(), queue), self.assess.closer, self._threads)
        for candidate, excess in zip(queue, closer, strict=False):
            if over():  # several are measured at a time: those that one thread would not have measured do not count
                break
            done = max(within() / enough, len(found) / (6 * enough))
            self.tell(f"checking {candidate.method}", share[0] + (share[1] - share[0]) * done)
            found[candidate] = replace(scored[candidate], excess=excess)
        return found


def _best_and_safest(scored: dict[Candidate, Score], limit: float) -> list[Candidate]:
    """Return candidates in turn: the best by merit, and of each grade the one that loses least."""
    best = sorted(scored, key=lambda one: merit(scored[one], limit))
    by_grade: dict[str, list[Candidate]] = {}
    for one in sorted(scored, key=lambda one: (scored[one].excess, merit(scored[one], limit))):
        by_grade.setdefault(scored[one].grade, []).append(one)
    rounds = max(len(own) for own in by_grade.values())
    safe = [by_grade[grade][i] for i in range(rounds) for grade in GRADES if i < len(by_grade.get(grade, ()))]
    return list(dict.fromkeys(one for pair in zip(safe, best, strict=True) for one in pair))


def _better_half(found: dict[Candidate, tuple[float, float]], limit: float) -> list[Candidate]:
    """Return the better half of each method, the best of each first: those near the limit that move values most."""
    by_method: dict[str, list[Candidate]] = {}
    ranked = sorted(found, key=lambda one: (max(0.0, found[one][0] - limit - _SLACK), -found[one][1]))
    for candidate in ranked:
        by_method.setdefault(candidate.method, []).append(candidate)
    halves = [own[: (len(own) + 1) // 2] for own in by_method.values()]
    turns = max((len(half) for half in halves), default=0)
    return [half[turn] for turn in range(turns) for half in halves if turn < len(half)]
