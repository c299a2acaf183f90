"""From attack results to a grade and one plain sentence.

The grade weighs how much an attacker gets (the lower bound of the lift over guessing) against what it costs:
nothing, a sample, few records (at most d + 2 known people), many records, or half or all of a person's record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.attack.engine.result import Result, best_of
from sfumato.auditing.carriers import Carried
from sfumato.auditing.copies import Copies
from sfumato.auditing.curve import Curve
from sfumato.auditing.equality import ColumnEquality
from sfumato.auditing.exposed import ExposedGroup
from sfumato.auditing.privacy import Verbatim
from sfumato.auditing.questions import Answer
from sfumato.auditing.shadowed import Shadowed
from sfumato.auditing.whole.model import Whole

MEANINGS = {
    "A": "None of the attacks gets noticeably more than guessing. That is a finding, not a proof.",
    "B": "Someone who knows many records gets a little, or someone who knows a person's full record can sometimes find "
    "their row, or that of people who stand alone, or single columns are laid open.",
    "C": "Someone who knows few records gets a little, someone who knows many gets part of the rest, people with a "
    "known record are mostly found, or one person in a hundred stands there as they are.",
    "D": "Someone who knows few records gets a fifth of the rest, or someone who knows many gets more than half.",
    "F": "Anyone, or someone who knows few records, gets more than half of the others' records.",
}
GRADES = tuple(MEANINGS)
ORDER_UNKNOWN = (
    "It is not known who is who: the rows of the release tell nothing of the originals at their places, and none could "
    "be matched, so attacks that need it have no grade. If the rows were shuffled, give the release's key, or their "
    "order."
)
_OF_FEW = {"A", "B", "C"}  # grades of releases that hide most people: there the few count
_AS_THEY_ARE = "the columns that are released as they are"
_ENOUGH = 100  # rows, without which answers about halves say little
_EXPOSED, _FEWEST = 0.01, 10  # the most exposed: as many people as stand in a release as they are make it a C
_CHEAP = {"nothing", "sample", "few records"}


@dataclass(frozen=True)
class Judgement:
    """A grade with its reason.

    Attributes
    ----------
    grade : str
        A (no attack found) to F (undone at little cost).
    verdict : str
        One sentence in plain words.
    cheap, many, linkage : Result or None
        The strongest attack of each cost, chosen on half of the records and measured on the other half.
    joined : Result or None
        Whom the kept columns alone find.
    """

    grade: str
    verdict: str
    cheap: Result | None
    many: Result | None
    linkage: Result | None
    joined: Result | None = None


def judge(
    results: Sequence[Result],
    n_rows: int,
    n_columns: int,
    *,
    curve: Curve | None = None,
    verbatim: Verbatim | None = None,
    whole: Whole | None = None,
    exposed: Sequence[ExposedGroup] = (),
    equality: Sequence[ColumnEquality] = (),
    shadowed: Shadowed | None = None,
    copies: Copies | None = None,
    open_columns: Sequence[tuple[str, str]] = (),
    carried: Sequence[Carried] = (),
    order_is_known: bool = True,
    asked: Sequence[Answer] = (),
    seed: int = 0,
) -> Judgement:
    """Return the grade of a release.

    Parameters
    ----------
    results : sequence of Result
        All attacks.
    n_rows, n_columns : int
        Size of the table.
    curve : Curve, optional
        Share recovered by number of known records; small tables leave the attacks themselves too few.
    verbatim : Verbatim, optional
        Records that stand in the release as they are.
    whole : Whole, optional
        Who is alone with their categories, and which categories are told from others.
    exposed : sequence of ExposedGroup
        What attacks get of the people who stand alone, the worst first. Default: nothing was measured.
    equality : sequence of ColumnEquality
        How often each column is equal. One that is so far more often than anybody would guess caps the grade.
        Default: nothing was measured.
    shadowed : Shadowed, optional
        What shadow releases tell: whoever is known to be in the table is told something.
    copies : Copies, optional
        Who stands in the release as they are or nearly so, wherever.
    open_columns : sequence of (str, str)
        Columns that an attack lays open, and what it takes to know; they cap the grade. Default: none.
    carried : sequence of Carried
        Columns that are told by what the release says beside them; they cap the grade. Default: none.
    order_is_known : bool
        Whether it is known who is who; otherwise attacks that were scored row by row have no part. Default: True.
    asked : sequence of Answer
        What the release tells of people where nobody knows who is who. Default: nothing was asked.
    seed : int
        Which half of the records chooses the strongest attack.
    """
    if not order_is_known:
        results, curve, exposed, equality = (), None, (), ()
    values = [result for result in results if result.goal == "values"]
    groups = {
        "cheap": [result for result in values if result.cost in _CHEAP],
        "many": [result for result in values if result.cost == "many records"],
        "most": [result for result in values if result.cost == "most records"],
        "half": [result for result in values if result.cost == "half record"],
        "link": [result for result in results if result.goal == "links" and result.cost != "kept columns"],
        "join": [result for result in results if result.cost == "kept columns"],
    }
    best = {name: best_of(group, seed=seed) for name, group in groups.items()}
    low = {name: max(_lower(best[name]), _all_open(group)) for name, group in groups.items()}
    for point in curve.points if curve is not None else ():
        few, many = n_columns + 2, max(3 * n_columns + 6, n_rows // 10)
        cost = "cheap" if point.known <= few else "many" if point.known <= many else "most"
        low[cost] = max(low[cost], point.lift_low)
    alone, told = _of_categories(whole)
    near = 0.0 if copies is None else copies.low
    copied = max(0.0 if verbatim is None else verbatim.lift, near)
    hundredth = copies is not None and copies.copied >= max(_EXPOSED * copies.people, _FEWEST)
    seen = 0.0 if copies is None else copies.found / copies.people  # told by a full record, in some view
    asked = [one for one in asked if n_rows >= _ENOUGH and one.lift_low > 0.05]
    seen = max(seen, 0.0 if copies is None else copies.alone)  # those who stand alone count by themselves
    seen = max([seen, *(one.lift_low for one in asked)])
    opened = {cost for _, cost in open_columns}
    opened |= {"few records" if one.by_few or one.by_all else "many records" for one in carried}
    worst = exposed[0].lift_low if exposed else 0.0
    private = max(low["half"], low["link"], alone, told, worst, seen)  # who knows much of one person
    private = max(private, float(hundredth))  # as if the most exposed were all found
    open_to_all = max(low["cheap"], low["join"], copied)  # who joins on a kept column knows next to nothing
    equal = max((column.lift_low for column in equality), default=0.0)
    looked_up = [one for one in (() if whole is None else whole.looked_up) if order_is_known and one.lift_low > 0.5]
    members = shadowed is not None and shadowed.members_are_told
    if open_to_all > 0.5:
        grade = "F"
    elif open_to_all > 0.2 or low["many"] > 0.5:
        grade = "D"
    elif open_to_all > 0.05 or low["many"] > 0.2 or max(low["most"], private) > 0.5 or equal > 0.9 or opened & _CHEAP:
        grade = "C"
    elif (
        max(low["many"], low["most"], private) > 0.05
        or copied > 0.0
        or (copies is not None and copies.found > 0.0)  # somebody's row stands out, in whatever view
        or worst > 0.0
        or equal > 0.5
        or members
        or opened
        or looked_up
    ):
        grade = "B"
    else:
        grade = "A"
    few = grade in _OF_FEW
    more = _about_categories(whole)
    more += [exposed[0].words] if few and worst > 0.0 else []
    more += [copies.words] if copies is not None and copies.found > 0.0 and low["cheap"] <= 0.5 else []
    more += [column.words for column in equality if few and column.lift_low > 0.5]
    more += [*(one.words for one in looked_up if few), *(one.words for one in carried if few)][:3]
    more += shadowed.lines[:1] if few and members and shadowed is not None else ()
    names = ", ".join(one.question for one in asked)
    more += [f"The release answers better than strangers would: {names}."] if asked else []
    verdict = _sentence(best, low, curve, verbatim, results, n_rows, more)
    if few and exposed and worst <= 0.0:
        verdict = f"{verdict} {exposed[0].words}"
    if not order_is_known:
        verdict = f"{verdict} {ORDER_UNKNOWN}"
    return Judgement(grade, verdict, best["cheap"], best["many"] or best["most"], best["link"], best["join"])


def _of_categories(whole: Whole | None) -> tuple[float, float]:
    """Return lower bounds of what whole rows give away: people alone with their categories, and single categories."""
    if whole is None:
        return 0.0, 0.0
    alone = 0.0 if whole.uniqueness is None else whole.uniqueness.lift
    return alone, max((one.lift_low for one in whole.inferred), default=0.0)


def _about_categories(whole: Whole | None) -> list[str]:
    alone, told = _of_categories(whole)
    said = []
    if alone > 0.05 and whole is not None and whole.uniqueness is not None:
        said.append(f"{whole.uniqueness.own:.0%} of the people are alone with their categories, on their own row.")
    if told > 0.05 and whole is not None:
        names = [one.column for one in whole.inferred if one.lift_low > 0.05]
        listed = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        said.append(f"The release tells categories of its people better than those of others: {listed}.")
    return said


def _all_open(results: Sequence[Result]) -> float:
    """Return 1 if nothing is left of any column although the constant guess hides it (tables of mostly one value)."""
    scored = [result for result in results if result.residual and (result.baseline or 0.0) > 0.8]
    if not scored:
        return 0.0
    columns = zip(*(result.residual or () for result in scored), strict=True)
    return 1.0 if all(min(column) < 0.05 for column in columns) else 0.0


def _lower(result: Result | None) -> float:
    return 0.0 if result is None or result.lift_low is None else max(0.0, result.lift_low)


def _sentence(
    best: dict[str, Result | None],
    low: dict[str, float],
    curve: Curve | None,
    verbatim: Verbatim | None,
    results: Sequence[Result],
    n_rows: int,
    more: Sequence[str],
) -> str:
    said = []
    if verbatim is not None and verbatim.lift > 0.0 and low["cheap"] <= 0.5:
        where = (
            ", most of them at other rows than their own: are the rows shuffled?" if verbatim.looks_shuffled else "."
        )
        said.append(f"{verbatim.anywhere:.1%} of the records stand in the release as they are{where}")
    joined = best["join"]
    if low["join"] > 0.05 and joined is not None:
        rate = f"{joined.rate or 0.0:.0%}"
        what = "a person's place in the original file" if joined.attack == "row-numbers" else _AS_THEY_ARE
        said.insert(0, f"Whoever knows {what} finds {rate} of the people's rows.")
    for name in ("cheap", "many", "most"):
        result = best[name]
        if low[name] > 0.05 and result is not None and _lower(result) > 0.05:
            return " ".join([f"{_who(result, n_rows)} recovers {_share(result)}.", *said, *more])
        if low[name] > 0.05 and curve is not None and curve.breaks_at is not None:
            known = f"Someone who knows {curve.breaks_at:,} of the {n_rows:,} people"
            return " ".join([f"{known} recovers more than half of the others' records.", *said, *more])
        point = max(curve.points, key=lambda one: one.lift_low, default=None) if curve is not None else None
        if low[name] > 0.05 and point is not None and point.lift_low >= low[name]:
            known = f"Someone who knows {point.known:,} of the {n_rows:,} people"
            return " ".join([f"{known} recovers the records of {point.recovered:.0%} of the others.", *said, *more])
        if low[name] > 0.05:
            return " ".join(["Nothing is left to hide: an attack lays every column open.", *said, *more])
    linkage = best["link"]
    if low["link"] > 0.05 and linkage is not None:
        rate = f"{linkage.rate or 0.0:.0%}"
        said.insert(
            1 if low["join"] > 0.05 else 0,
            f"Someone who knows a person's full record finds their row in {rate} of the cases.",
        )
    half = best["half"]
    if low["half"] > 0.05 and half is not None:
        share = f"{half.rate or 0.0:.0%}"
        said.append(f"Someone who knows half of a person's values completes the record in {share} of the cases.")
    if said or more:
        return " ".join([*said, *more])
    ran = [result for result in results if result.rate is not None]
    if not ran:
        return "Nobody was found to stand in the release as they are; that is a finding, not a proof of safety."
    above = max((_lower(result) for result in ran), default=0.0)
    found = "recovered more than guessing does" if above <= 0.0 else f"got more than {above:.1%} above guessing"
    return f"None of the {len(ran)} attacks that ran {found}; that is a finding, not a proof of safety."


def _who(result: Result, n_rows: int) -> str:
    if result.known:
        return f"Someone who knows {result.known:,} of the {n_rows:,} people"
    public = "public distributions" if result.attack == "quantiles" else "public means and ranges"
    return {0: "Anyone who holds the release", 1: f"Anyone who knows {public}"}.get(
        result.rung, "Someone with a sample of the population"
    )


def _share(result: Result) -> str:
    rate = result.rate or 0.0
    everyone = "the others" if result.known else "the people"
    if rate >= 0.995 and (result.cell_rate or 0.0) >= 0.99:
        return f"every value of {everyone}"
    if rate >= 0.995:
        return f"at least half of the values of each of {everyone}"
    guessing = max(result.baseline or 0.0, result.control or 0.0)
    return f"the records of {rate:.0%} of {everyone} (guessing: {guessing:.0%})"
