"""From attack results to a grade and one plain sentence.

The grade weighs how much an attacker gets (the lower bound of the lift over guessing) against what it costs:
nothing, a sample, few records (at most d + 2 known people), many records, or a person's full record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.attack.result import Result, best_of

__all__ = ["GRADES", "Judgement", "judge"]

GRADES = ("A", "B", "C", "D", "F")
_CHEAP = {"nothing", "sample", "few records"}
_MANY = {"many records"}


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


def judge(results: Sequence[Result], n_rows: int, *, seed: int = 0) -> Judgement:
    """Return the grade of a release.

    Parameters
    ----------
    results : sequence of Result
        All attacks.
    n_rows : int
        People in the table.
    seed : int
        Which half of the records chooses the strongest attack.
    """
    values = [result for result in results if result.goal == "values"]
    cheap = best_of([result for result in values if result.cost in _CHEAP], seed=seed)
    many = best_of([result for result in values if result.cost in _MANY], seed=seed)
    linkage = best_of([result for result in results if result.goal == "links"], seed=seed)
    low = {name: _lower(result) for name, result in (("cheap", cheap), ("many", many), ("link", linkage))}
    if low["cheap"] > 0.5:
        grade = "F"
    elif low["cheap"] > 0.2 or low["many"] > 0.5:
        grade = "D"
    elif low["cheap"] > 0.05 or low["many"] > 0.2 or low["link"] > 0.5:
        grade = "C"
    elif low["many"] > 0.05 or low["link"] > 0.05:
        grade = "B"
    else:
        grade = "A"
    return Judgement(grade, _sentence(grade, cheap, many, linkage, low, results, n_rows), cheap, many, linkage)


def _lower(result: Result | None) -> float:
    return 0.0 if result is None or result.lift_low is None else max(0.0, result.lift_low)


def _sentence(
    grade: str,
    cheap: Result | None,
    many: Result | None,
    linkage: Result | None,
    low: dict[str, float],
    results: Sequence[Result],
    n_rows: int,
) -> str:
    ran = sum(result.rate is not None for result in results)
    if grade == "A":
        found = f"None of the {ran} attacks that ran recovered more than guessing does"
        return f"{found}; that is a finding, not a proof of safety."
    if low["cheap"] > 0.05 and cheap is not None:
        return f"{_who(cheap, n_rows)} recovers {_share(cheap)}."
    if low["many"] > 0.05 and many is not None and (grade != "C" or low["many"] > 0.2 or low["link"] <= 0.5):
        return f"{_who(many, n_rows)} recovers {_share(many)}."
    assert linkage is not None
    return f"Someone who knows a person's full record finds their row in {linkage.rate or 0.0:.0%} of the cases."


def _who(result: Result, n_rows: int) -> str:
    if result.known:
        return f"Someone who knows {result.known:,} of the {n_rows:,} people"
    return {0: "Anyone who holds the release", 1: "Anyone who knows public means and ranges"}.get(
        result.rung, "Someone with a sample of the population"
    )


def _share(result: Result) -> str:
    rate = result.rate or 0.0
    others = "the others" if result.known else "the people"
    if rate >= 0.995:
        return "every record of the others" if result.known else "every record"
    return f"the records of {rate:.0%} of {others} (guessing: {max(result.baseline or 0.0, result.control or 0.0):.0%})"
