"""From attack results to a grade and one plain sentence.

The grade weighs how much an attacker gets (the lower bound of the lift over guessing) against what it costs:
nothing, a sample, few records (at most d + 2 known people), many records, or half or all of a person's record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.attack.engine.result import Result, best_of
from sfumato.auditing.curve import Curve
from sfumato.auditing.verbatim import Verbatim

MEANINGS = {
    "A": "None of the attacks gets noticeably more than guessing. That is a finding, not a proof.",
    "B": "Someone who knows many records gets a little, or someone who knows a person's full record can sometimes find "
    "their row.",
    "C": "Someone who knows few records gets a little, someone who knows many gets part of the rest, or people with a "
    "known record are mostly found.",
    "D": "Someone who knows few records gets a fifth of the rest, or someone who knows many gets more than half.",
    "F": "Anyone, or someone who knows few records, gets more than half of the others' records.",
}
GRADES = tuple(MEANINGS)
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
    """

    grade: str
    verdict: str
    cheap: Result | None
    many: Result | None
    linkage: Result | None


def judge(
    results: Sequence[Result],
    n_rows: int,
    n_columns: int,
    *,
    curve: Curve | None = None,
    verbatim: Verbatim | None = None,
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
    seed : int
        Which half of the records chooses the strongest attack.
    """
    values = [result for result in results if result.goal == "values"]
    groups = {
        "cheap": [result for result in values if result.cost in _CHEAP],
        "many": [result for result in values if result.cost == "many records"],
        "most": [result for result in values if result.cost == "most records"],
        "half": [result for result in values if result.cost == "half record"],
        "link": [result for result in results if result.goal == "links"],
    }
    best = {name: best_of(group, seed=seed) for name, group in groups.items()}
    low = {name: max(_lower(best[name]), _all_open(group)) for name, group in groups.items()}
    for point in curve.points if curve is not None else ():
        few, many = n_columns + 2, max(3 * n_columns + 6, n_rows // 10)
        cost = "cheap" if point.known <= few else "many" if point.known <= many else "most"
        low[cost] = max(low[cost], point.lift_low)
    copied = 0.0 if verbatim is None else verbatim.lift
    if low["cheap"] > 0.5 or copied > 0.5:
        grade = "F"
    elif low["cheap"] > 0.2 or low["many"] > 0.5 or copied > 0.2:
        grade = "D"
    elif low["cheap"] > 0.05 or low["many"] > 0.2 or max(low["most"], low["half"], low["link"]) > 0.5 or copied > 0.05:
        grade = "C"
    elif max(low["many"], low["most"], low["half"], low["link"]) > 0.05 or copied > 0.0:
        grade = "B"
    else:
        grade = "A"
    verdict = _sentence(best, low, curve, verbatim, results, n_rows)
    return Judgement(grade, verdict, best["cheap"], best["many"] or best["most"], best["link"])


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
) -> str:
    said = []
    if verbatim is not None and verbatim.lift > 0.0 and low["cheap"] <= 0.5:
        where = (
            ", most of them at other rows than their own: are the rows shuffled?" if verbatim.looks_shuffled else "."
        )
        said.append(f"{verbatim.anywhere:.1%} of the records stand in the release as they are{where}")
    for name in ("cheap", "many", "most"):
        result = best[name]
        if low[name] > 0.05 and result is not None and _lower(result) > 0.05:
            return " ".join([f"{_who(result, n_rows)} recovers {_share(result)}.", *said])
        if low[name] > 0.05 and curve is not None and curve.breaks_at is not None:
            known = f"Someone who knows {curve.breaks_at:,} of the {n_rows:,} people"
            return " ".join([f"{known} recovers more than half of the others' records.", *said])
        if low[name] > 0.05:
            return " ".join(["Nothing is left to hide: an attack lays every column open.", *said])
    linkage = best["link"]
    if low["link"] > 0.05 and linkage is not None:
        rate = f"{linkage.rate or 0.0:.0%}"
        said.insert(0, f"Someone who knows a person's full record finds their row in {rate} of the cases.")
    half = best["half"]
    if low["half"] > 0.05 and half is not None:
        share = f"{half.rate or 0.0:.0%}"
        said.append(f"Someone who knows half of a person's values completes the record in {share} of the cases.")
    if said:
        return " ".join(said)
    ran = [result for result in results if result.rate is not None]
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
