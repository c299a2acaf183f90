"""The audit as data: one frozen object, from which JSON, text and HTML are made."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from sfumato.attack.engine.result import Result
from sfumato.auditing.canaries import Canary
from sfumato.auditing.claimed import Claimed
from sfumato.auditing.copies import Copies
from sfumato.auditing.curve import Curve
from sfumato.auditing.densities import Densities
from sfumato.auditing.equality import ColumnEquality
from sfumato.auditing.exposed import ExposedGroup
from sfumato.auditing.privacy import Privacy
from sfumato.auditing.questions import Answer
from sfumato.auditing.shadowed import Shadowed
from sfumato.auditing.utility.result import Utility
from sfumato.auditing.whole.model import Whole
from sfumato.report.model import Frozen, Reported

if TYPE_CHECKING:
    from sfumato.report.blocks import Page

SCHEMA: Literal["sfumato-audit-1"] = "sfumato-audit-1"


class AttackLine(Frozen):
    """One attack in the report."""

    id: str
    name: str
    rung: int = Field(description="0 nothing but the release, 1 public figures, 2 a sample, 3 people, 4 known rows")
    cost: str
    goal: Literal["values", "links"]
    status: Literal["ran", "not applicable", "ineffective", "timed out", "error"]
    reason: str
    known: int = Field(description="people the attacker knows")
    scored: int = Field(description="records on which it was scored")
    rate: float | None = Field(description="share of the scored records recovered or linked; less is better")
    low: float | None
    high: float | None
    baseline: float | None = Field(description="what the best constant guess reaches")
    control: float | None = Field(description="what the attack reaches with broken correspondence")
    lift: float | None = Field(description="(rate - b) / (1 - b), b the larger of baseline and control")
    lift_low: float | None


class Inverted(Frozen):
    """The usual scores on the release, and on the best inverted table."""

    attack: str
    known: int
    rows: int
    linked_as_released: float | None = Field(description="nearest-row linkage on the release")
    linked_inverted: float | None = Field(description="the same on the inverted table")
    disclosed_as_released: float | None = Field(description="cells within 5 % of a standard deviation")
    disclosed_inverted: float | None
    questions: tuple[Answer, ...] = Field(description="the three questions, asked of the inverted table")


class Audit(Reported):
    """What an audit found; see `sfumato.audit`.

    It holds no original and no released value: figures, and row positions only.
    """

    schema_: Literal["sfumato-audit-1"] = Field(default=SCHEMA, alias="schema")
    grade: Literal["A", "B", "C", "D", "F"]
    verdict: str
    trustworthy: bool = Field(description="whether every canary behaved")
    canaries: tuple[Canary, ...]
    n_rows: int
    columns: tuple[str, ...]
    method: str | None
    insecure_seed: bool = Field(description="whether the release was made with a seed for tests")
    strongest: tuple[AttackLine, ...] = Field(
        description="the strongest attack of each cost, chosen on half of the records and measured on the other half"
    )
    attacks: tuple[AttackLine, ...]
    found_nothing: tuple[str, ...] = Field(description="attacks that ran and had no answer")
    did_not_run: tuple[str, ...]
    curve: Curve
    utility: Utility | None
    densities: Densities | None = Field(
        default=None, description="shades of the table and the release; cells with fewer than five rows are empty"
    )
    privacy: Privacy
    questions: tuple[Answer, ...]
    inverted: Inverted
    worst_records: tuple[int, ...] = Field(description="positions of the records that most attacks recovered")
    exposed: tuple[ExposedGroup, ...] = Field(
        default=(), description="what attacks get of the people who stand alone, the worst group first"
    )
    equality: tuple[ColumnEquality, ...] = Field(
        default=(), description="how often the cells of each column stand as they are, against the best guess"
    )
    shadows: Shadowed | None = Field(
        default=None, description="what shadow releases tell, where they were asked for: members, and what one changes"
    )
    order: Literal["given", "found", "assumed", "not known"] = Field(
        default="assumed", description="who is who: told, found by near copies or ids, taken as it stands, or not known"
    )
    copies: Copies | None = Field(
        default=None, description="people who stand in the release as they are or nearly so, wherever; null if chance"
    )
    claim: Claimed | None = Field(
        default=None, description="a formal guarantee, and what shadow runs of its noise find; absent without one"
    )
    notes: tuple[str, ...]
    effort: str = Field(default="normal", description="how hard it tried: quick, normal or thorough")
    left_out: tuple[str, ...] = Field(default=(), description="what an audit of this effort did not look at")
    call: str = Field(default="sfumato.audit(original, released)", description="what repeats the audit, in Python")
    whole: Whole | None = Field(
        default=None, description="whole rows of tables with categories or kept columns; absent for plain numbers"
    )

    def to_json(self) -> str:
        """Return the audit as JSON, with a versioned `schema` field."""
        plain = {name for name in ("whole", "claim") if getattr(self, name) is None}
        return self.model_dump_json(indent=2, by_alias=True, exclude=plain) + "\n"

    def to_text(self) -> str:
        """Return the audit as plain text."""
        from sfumato.auditing.pages.text import render_text

        return render_text(self)

    def to_html(
        self, path: str | os.PathLike[str] | None = None, *, public: bool = False, command: str | None = None
    ) -> str:
        """Return the audit as one self-contained page without scripts; write it to a path if one is given.

        The page says how to break the release: it is for the owner, not for the public.

        Parameters
        ----------
        path : path, optional
            Where the page is written as well. Default: nowhere.
        public : bool
            Whether to make the summary for the public instead: the grade and what the release is good for.
            Default: False.
        command : str, optional
            What to type to repeat the audit; by default the call in Python. Not in the public summary.
        """
        from sfumato.auditing.pages.public_page import public_page
        from sfumato.report.page import render_page, write_page

        page = public_page(self) if public else self._page(command)
        return render_page(page) if path is None else write_page(page, path)

    def _page(self, command: str | None = None) -> Page:
        from sfumato.auditing.pages.audit_page import audit_page

        return audit_page(self, command=command)

    def __repr__(self) -> str:
        return f"Audit(grade={self.grade!r}, verdict={self.verdict!r})"


def attack_line(result: Result) -> AttackLine:
    """Return a result as a line of the report, without what each record earned."""
    return AttackLine(
        id=result.attack,
        name=result.name,
        rung=result.rung,
        cost=result.cost,
        goal=result.goal,
        status=result.status,
        reason=result.reason,
        known=result.known,
        scored=result.scored,
        rate=result.rate,
        low=result.low,
        high=result.high,
        baseline=result.baseline,
        control=result.control,
        lift=result.lift,
        lift_low=result.lift_low,
    )
