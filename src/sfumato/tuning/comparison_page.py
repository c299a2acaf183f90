"""A comparison as a page: what to take, the trade-off chart, the table, what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sfumato.auditing.pages.audit_page import grades_section
from sfumato.auditing.pages.text import percent
from sfumato.report.blocks import Block, Cell, Code, Column, Items, Page, Paragraph, Picture, Section, Table
from sfumato.report.tradeoff import Point, tradeoff_chart
from sfumato.tuning.comparison_text import by_merit, late_notes, number

if TYPE_CHECKING:
    from sfumato.tuning.comparison import Compared, Comparison

CHART_WORDS = (
    "Each mark is one release of your table, with its grade in it. To the left, the clusters stay; further up, less "
    "can be recovered (left panel) or linked (right panel). A ring marks settings that no other beats in everything."
)


def comparison_page(found: Comparison, *, command: str | None = None) -> Page:
    """Return the page of a comparison.

    Parameters
    ----------
    command : str, optional
        What to type to repeat it.
    """
    measured = (
        f"{found.rows_measured:,} of {found.n_rows:,}" if found.rows_measured < found.n_rows else f"{found.n_rows:,}"
    )
    top: list[Block] = [Paragraph(_advice(found))]
    if not all(one.trustworthy for one in found.tried):
        top.append(Paragraph("These audits cannot be trusted: a canary did not behave.", "warning"))
    sections = [
        Section("What is hidden, against what it costs", (Picture(chart_of(found.tried), CHART_WORDS),)),
        Section("Every setting", (tried_table(by_merit(found.tried)), Paragraph(FIGURES_WORDS, "note"))),
    ]
    if found.left_out:
        reasons = Items(tuple(f"{one.label}: {one.reason}" for one in found.left_out))
        sections.append(Section("Not compared, and why", (reasons,)))
    sections.append(grades_section())
    sections.append(Section("What the best ones leave open", (_verdicts(found.tried),)))
    again = command or f"sfumato.compare(table, seed={found.seed})"
    last: tuple[Block, ...] = (Code(again),)
    notes = (*found.notes, *late_notes(found.tried))
    if notes:
        last = (Items(notes), *last)
    sections.append(Section("To repeat it", last))
    return Page(
        "Which method for this table?",
        f"{measured} rows, {len(found.columns)} columns. For the owner: this page says how releases are broken.",
        tuple(top),
        tuple(sections),
    )


FIGURES_WORDS = (
    "Rows in another cluster: k-means, started anew by the reader of the release, puts this share of the rows into "
    "another cluster than on the original, beyond what a second run on the original itself does. Residual security: "
    "what the best attack leaves hidden of a column, 0 laid open, 1 fully hidden. Linked: people whose row is found by "
    "someone who knows their full record."
)


def _advice(found: Comparison) -> str:
    good = [one for one in by_merit(found.tried) if one.grade in {"A", "B"} and one.excess_mean <= 0.05]
    if good:
        first = good[0]
        return (
            f"{first.name} [{first.label}] keeps the clusters ({percent(first.excess_mean)} of the rows change) and "
            f"gets grade {first.grade}. Let sfumato tune look for better parameters before you settle."
        )
    return (
        "No setting here keeps the clusters (at most 5 % of the rows in another one) and gets grade A or B. The chart "
        "shows what you can trade; sfumato tune searches between these settings."
    )


def chart_of(tried: Sequence[Compared]) -> str:
    """Return the trade-off chart of settings."""
    return tradeoff_chart(
        [
            Point(one.label.replace(" (paper)", "*"), one.excess_mean, one.residual, one.linkage, one.grade, one.best)
            for one in by_merit(tried)
        ]
    )


def tried_table(tried: Sequence[Compared]) -> Table:
    """Return the table of settings."""
    columns = (
        Column("method"),
        Column("grade"),
        Column("rows in another cluster", "mean over k, less is better", numeric=True),
        Column("worst k", "less is better", numeric=True),
        Column("shared starts", "worst k, less is better", numeric=True),
        Column("after rescaling", "mean, less is better", numeric=True),
        Column("residual security", "median column, more is better", numeric=True),
        Column("linked", "best linkage, less is better", numeric=True),
    )
    rows = tuple(
        (
            Cell(one.label.replace(" (paper)", "*"), f"{one.name}: {one.settings}"),
            Cell("", "not beaten" if one.best else "", grade=one.grade),
            percent(one.excess_mean),
            percent(one.excess_worst),
            percent(one.shared_worst),
            percent(one.rescaled_worst),
            Cell(number(one.residual), bar=min(1.0, one.residual or 0.0)),
            Cell(percent(one.linkage), bar=one.linkage),
        )
        for one in tried
    )
    return Table("Best grade first; * with the parameters of the method's paper.", columns, rows)


def _verdicts(tried: Sequence[Compared]) -> Items:
    return Items(tuple(f"{one.label}, grade {one.grade}: {one.verdict}" for one in by_merit(tried) if one.best))
