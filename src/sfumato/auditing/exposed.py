"""The most exposed people: an average over everybody hides the few who stand alone, so they are counted by themselves.

Few people make small counts. A count stands out when the exact binomial bound of its rate (Clopper and Pearson) lies
above chance, and all groups together raise a false alarm at most once in a hundred audits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from sfumato._arrays import Floats, Integers
from sfumato.attack.engine.referee import Referee
from sfumato.attack.engine.result import Result
from sfumato.attack.linkage.farthest import farthest_rows
from sfumato.auditing.whole.company import Company
from sfumato.core.sharing import share
from sfumato.core.tiles import spans

FALSE_ALARMS = 0.01  # of all groups together, where nothing is given away
ASKED = ("nearest", "farthest")  # attacks that are asked about exposed people by themselves
SMALL_CROWD = 5  # people in smaller clusters are exposed
_SHARE, _FEWEST, _MOST = 0.01, 10, 300
_REFERENCE = 2_000  # rows to which distances are taken
_COMPANIONS = 3  # the third nearest: two who stand together far out are exposed, too
_DOUBT = 0.05  # of what guessing may have got, where it is measured on the same few people
_CELLS = 4_000_000
_FOUND = {
    "nearest": "are linked to their row",
    "farthest": "are recognised by their direction",
    "span": "are completed",
}
_WHO = {
    "most exposed": "{} most exposed people",
    "farthest": "{} people farthest from the middle",
    "small clusters": "{} people in clusters of fewer than five",
    "half records": "{} people whom half a record reaches",
}


@dataclass(frozen=True)
class ExposedGroup:
    """What an attack gets of one group of exposed people.

    Attributes
    ----------
    group : str
        Who they are: "most exposed" (farthest from everybody else), "farthest" (from the middle), "small clusters" (of
        fewer than five) or "half records" (people for whom half of a record had an answer).
    attack : str
        Id of the attack.
    people : int
        How many they are.
    found : float
        How many of them the attack gets; ties count their share.
    chance : float
        How many it would get of them if the release told nothing but the clusters that it is meant to keep.
    low : float
        Lower bound of the share that is found (Clopper and Pearson, one in a hundred over all groups).
    lift_low : float
        (low - chance) / (1 - chance), both as shares; above 0 the group is given away beyond chance.
    """

    group: str
    attack: str
    people: int
    found: float
    chance: float
    low: float
    lift_low: float

    @property
    def words(self) -> str:
        """One sentence."""
        who = _WHO[self.group].format(f"{self.people:,}")
        return f"Of the {who} {self.found:.0f} {_FOUND[self.attack]} (chance: {_count(self.chance)})."


def _count(number: float) -> str:
    return f"{number:.0f}" if number >= 0.95 else "less than 1"


def lower_bound(found: float, people: int, false_alarms: float = FALSE_ALARMS) -> float:
    """Return the exact lower bound of a share (Clopper and Pearson, one-sided); parts of a find do not count.

    Parameters
    ----------
    found : float
        Finds.
    people : int
        Trials, at least one.
    false_alarms : float
        How often the bound may lie above the truth. Default: 0.01.

    Examples
    --------
    >>> round(lower_bound(10, 10), 3), lower_bound(0, 10), round(lower_bound(2.5, 30), 4)
    (0.631, 0.0, 0.005)
    """
    whole = min(int(found + 1e-9), people)
    return 0.0 if whole == 0 else float(betaincinv(whole, people - whole + 1, false_alarms))


def weigh_group(
    group: str, attack: str, found: Floats, chance: Floats, *, false_alarms: float = FALSE_ALARMS
) -> ExposedGroup:
    """Return what a group's finds are worth.

    Parameters
    ----------
    found, chance : arrays of shape (people,)
        What the attack earns of everyone, and what chance does.
    """
    people, low = len(found), lower_bound(float(found.sum()), len(found), false_alarms)
    expected = min(1.0, float(chance.mean()))
    lift_low = 0.0 if expected >= 1.0 else (low - expected) / (1.0 - expected)
    return ExposedGroup(group, attack, people, float(found.sum()), float(chance.sum()), low, lift_low)


def most_exposed(table: Floats, *, seed: int = 0) -> Integers:
    """Return the rows that stand farthest from all others: one in a hundred, at least ten, in small tables a quarter.

    Parameters
    ----------
    table : array of shape (n, d)
    seed : int
        Draws the rows to which distances are taken, where they are many. Default: 0.

    Examples
    --------
    >>> table = np.random.default_rng(0).normal(size=(400, 2))
    >>> table[[7, 8]] = 30.0, 31.0
    >>> most_exposed(table)[:2].tolist()
    [7, 8]
    """
    n, spread = len(table), table.std(axis=0)
    points = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    chosen = np.sort(np.random.default_rng([seed, 41]).permutation(n)[:_REFERENCE])
    others, place = points[chosen], np.full(n, -1)
    place[chosen] = np.arange(len(chosen))
    lengths, apart = (others**2).sum(axis=1), np.empty(n)
    nearest = min(_COMPANIONS, len(chosen) - 1) - 1

    def measure(span: tuple[int, int]) -> None:
        begin, end = span
        block, own = points[begin:end], place[begin:end]
        squares = (block**2).sum(axis=1)[:, None] + lengths - 2 * block @ others.T
        squares[np.flatnonzero(own >= 0), own[own >= 0]] = np.inf
        squares.partition(nearest, axis=1)
        apart[begin:end] = squares[:, nearest]

    share(measure, list(spans(n, max(1, _CELLS // len(chosen)))))
    count = min(max(_FEWEST, int(_SHARE * n)), n // 4, _MOST)
    ranked: Integers = np.argsort(-np.round(apart, 9), kind="stable")[:count]
    return ranked


def _reached(result: Result) -> list[tuple[str, str, Floats, Floats]]:
    """Return the people for whom an attack had an answer; chance is the most that guessing may have got of them."""
    scores = result.scores
    if scores is None or scores.answered is None or not scores.answered.any():
        return []
    reached = scores.answered
    people = int(reached.sum())
    guessed = float(np.maximum(scores.baseline, scores.control)[reached].sum())
    most = 1.0 - lower_bound(people - np.ceil(guessed), people, _DOUBT)
    return [("half records", result.attack, scores.attack[reached], np.full(people, most))]


def measure_exposed(
    referee: Referee,
    table: Floats,
    results: Sequence[Result],
    *,
    company: Company | None = None,
    fewest: int = 0,
    seed: int = 0,
) -> tuple[ExposedGroup, ...]:
    """Return what attacks get of the people who stand alone, the worst first.

    Parameters
    ----------
    referee : Referee
        Of the release, rows in the order of the table.
    table : array of shape (n, d)
        The original.
    results : sequence of Result
        Of the attacks so far; those that are in `ASKED` are asked about exposed people.
    company : Company, optional
        Who shares all clusters that the release is meant to keep: being one of them is no secret, and whoever shares
        them with few is found by chance more often. None (default): the release is meant to tell no clusters.
    fewest : int
        Fewest rows that the method mixes with one another; nobody's chance is taken for larger than one of these, or
        of five. Default: 0, not known.
    """
    n = len(table)
    spread = table.std(axis=0)
    points = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    far = farthest_rows(points)[: min(n // 4, _MOST)]
    groups = [("most exposed", most_exposed(table, seed=seed)), ("farthest", far)]
    crowd = np.full(n, n)
    if company is not None:
        crowd = np.maximum(np.bincount(company.codes)[company.codes], max(fewest, SMALL_CROWD))
        groups.append(("small clusters", np.flatnonzero(company.smallest < SMALL_CROWD)[:_MOST]))
    ran = {result.attack: result for result in results if result.scores is not None}
    found = []
    for name, rows in groups:
        for attack in [name for name in ASKED if name in ran] if len(rows) > 1 else ():
            scores = referee.run(attack, rows.tolist(), work=float("inf")).scores
            if scores is not None:
                chance = np.maximum(1.0 / crowd[scores.rows], scores.control.mean())
                found.append((name, attack, scores.attack, chance))
    if "span" in ran:
        found += _reached(ran["span"])
    each = FALSE_ALARMS / max(1, len(found))
    weighed = [weigh_group(*one, false_alarms=each) for one in found]
    # those that stand out come first, then whoever is found most beyond chance, doubtful as it is
    return tuple(sorted(weighed, key=lambda one: (-max(one.lift_low, 0.0), (one.chance - one.found) / one.people)))
