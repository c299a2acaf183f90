"""A comparison as data: one frozen object, from which text, JSON and the page are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from sfumato.auditing.grading import GRADES
from sfumato.perturb.catalogue import method
from sfumato.report.model import Frozen, Reported
from sfumato.tuning.trial import Trial, keeps_columns

if TYPE_CHECKING:
    from sfumato.report.blocks import Page

Grade = Literal["A", "B", "C", "D", "F"]


class Compared(Frozen):
    """One setting on the table. Shares are between 0 and 1."""

    label: str = Field(description="short name in tables and charts")
    method: str = Field(description="id in the catalogue of methods")
    name: str = Field(description="name of the class in sfumato.perturb")
    source: Literal["default", "paper", "search", "policy"]
    settings: str = Field(description="the parameters in words; secret ones are never shown")
    grade: Grade
    verdict: str
    trustworthy: bool = Field(description="whether every canary of the audit behaved")
    timed_out: tuple[str, ...] = Field(
        default=(), description="attacks that ran out of time; without them the grade may be too good"
    )
    excess_mean: float = Field(description="rows in another cluster beyond a re-run, mean over k; less is better")
    excess_worst: float = Field(description="the same for the worst k")
    shared_worst: float | None = Field(description="rows in another cluster with shared starts, worst k")
    rescaled_worst: float | None = Field(description="excess_mean after the miner's own rescaling, worse of two")
    residual: float | None = Field(description="residual security of the median column; more is better")
    weakest_residual: float | None = Field(description="residual security of the weakest column; more is better")
    linkage: float | None = Field(description="best linkage: people whose row is found; less is better")
    best: bool = Field(description="whether no other setting is better in grade, residual security and clusters")
    numbers_only: bool = Field(
        default=False, description="whether it takes numbers only, and was measured without the other columns"
    )
    cost_mean: float | None = Field(
        default=None,
        description="where rows belong to nobody: cost of the release's centres on the original over the best, mean",
    )


class LeftOut(Frozen):
    """A setting that was not compared, and why."""

    label: str
    reason: str


class Comparison(Reported):
    """Every method side by side on one table; see `sfumato.compare`."""

    schema_: Literal["sfumato-comparison-1"] = Field(default="sfumato-comparison-1", alias="schema")
    n_rows: int
    rows_measured: int
    columns: tuple[str, ...]
    clusters: tuple[int, ...] = Field(description="numbers of k-means clusters")
    seed: int
    tried: tuple[Compared, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]

    def to_text(self) -> str:
        """Return the comparison as a plain table."""
        from sfumato.tuning.comparison_text import comparison_text

        return comparison_text(self)

    def to_svg(self) -> str:
        """Return the trade-off chart as a picture of its own."""
        from sfumato.report.chart import stand_alone
        from sfumato.tuning.comparison_page import chart_of

        return stand_alone(chart_of(self.tried))

    def _page(self, command: str | None = None) -> Page:
        from sfumato.tuning.comparison_page import comparison_page

        return comparison_page(self, command=command)

    def __repr__(self) -> str:
        return f"Comparison({len(self.tried)} settings on {self.rows_measured} rows)"


def compared(trial: Trial) -> Compared:
    """Return a trial as a line of the comparison, of which nobody has said yet whether it is among the best."""
    privacy, useful = trial.audit.privacy, trial.useful
    return Compared(
        label=trial.setting.label,
        method=trial.setting.method,
        name=method(trial.setting.method).name,
        source=trial.setting.source,
        settings=_words(trial),
        grade=trial.audit.grade,
        verdict=trial.audit.verdict,
        trustworthy=trial.audit.trustworthy,
        timed_out=trial.timed_out,
        excess_mean=useful.excess_mean,
        excess_worst=useful.excess_worst,
        shared_worst=useful.shared_worst,
        rescaled_worst=useful.rescaled_worst,
        residual=privacy.median_residual,
        weakest_residual=privacy.min_residual,
        linkage=trial.linkage,
        best=False,
        cost_mean=useful.cost_mean,
    )


def _words(trial: Trial) -> str:
    """Return the parameters in words, and what else its figures need."""
    told = trial.setting.words + ("" if keeps_columns(trial.setting) else "; clusters compared unscaled")
    cost = trial.useful.cost_mean
    return told if cost is None else f"{told}; centres cost {cost:.3f} times the best"


def judged(lines: Sequence[Compared], *, numbers_only: bool) -> list[Compared]:
    """Return lines that stand side by side, each of which says whether it is among the best.

    Parameters
    ----------
    lines : sequence of Compared
    numbers_only : bool
        See `Compared`.
    """
    mark = " (numbers)" if numbers_only else ""
    return [
        line.model_copy(update={"label": line.label + mark, "best": best, "numbers_only": numbers_only})
        for line, best in zip(lines, pareto_front(lines), strict=True)
    ]


def pareto_front(lines: Sequence[Compared]) -> list[bool]:
    """Tell for each line whether no other is at least as good in everything and better in something.

    Everything is: grade, residual security of the median column, excess misclassification.
    """
    figures = [
        (
            GRADES.index(line.grade),
            -round(line.residual or 0.0, 4),
            round(line.excess_mean, 4),
        )
        for line in lines
    ]
    return [
        not any(other != own and all(a <= b for a, b in zip(other, own, strict=True)) for other in figures)
        for own in figures
    ]
