"""The outcome of `tune` as text and as a page: the winner both ways, the trade-off chart, the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.auditing.grading import MEANINGS
from sfumato.auditing.pages.audit_page import grades_section
from sfumato.auditing.pages.text import percent
from sfumato.report.blocks import (
    Block,
    Cell,
    Code,
    Column,
    Figures,
    Headline,
    Items,
    Page,
    Paragraph,
    Picture,
    Section,
    Table,
)
from sfumato.report.dial import Level, dial_chart
from sfumato.report.tradeoff import Point, tradeoff_chart
from sfumato.tuning.comparison_page import FIGURES_WORDS
from sfumato.tuning.comparison_text import number

if TYPE_CHECKING:
    from sfumato.tuning.tuned import Figures as Measured
    from sfumato.tuning.tuned import Finalist, Tuned

_WEAK = {"D", "F"}
CHART_WORDS = (
    "Every mark is a setting that was attacked, with its grade in it; only the finalists are named and have a ring. "
    "The figures of the others are rough: little effort for the clusters, eight attacks. The dashed line is your limit."
)


def sentence(found: Tuned) -> str:
    """Return the outcome in one sentence."""
    limits = f"at most {percent(found.max_misclassification)} of the rows in another cluster"
    if found.min_grade is not None:
        limits += f" and grade {found.min_grade} or better"
    one = found.nearest
    if found.met:
        return f"{one.name} [{one.label}] with {one.settings} meets your limits: {limits}."
    return f"Nothing that was tried meets your limits: {limits}. Nearest: {one.name} [{one.label}] with {one.settings}."


def warnings_of(found: Tuned) -> list[str]:
    """Return what must be said loudly."""
    out = []
    worst = _worst_grade(found.nearest)
    if found.met and worst in _WEAK:
        out.append(
            f"Grade {worst}: this setting keeps the clusters but protects little. Allow more misclassification, or ask "
            "for a grade (min_grade) and see what it costs."
        )
    lucky = [
        one
        for one in found.finalists
        if one.held_out and not one.holds and one.search.excess <= found.max_misclassification
    ]
    out += [
        f"{one.label} ({one.settings}) met the limits in the search and missed them when repeated: luck."
        for one in lucky
        if found.min_grade is None or one.search.grade <= found.min_grade
    ]
    return out


def _worst_grade(one: Finalist) -> str:
    return max(figures.grade for figures in one.held_out or (one.search,))


def tuned_text(found: Tuned) -> str:
    """Return the outcome as text."""
    lines = [sentence(found), *(f"warning: {text}" for text in warnings_of(found)), ""]
    lines.append(
        f"looked at {found.looked_at:,} settings, attacked {found.attacked:,}, audited {len(found.finalists)} in full; "
        f"then {found.repetitions} repetitions with other keys"
    )
    lines += ["", f"  {'finalist':18}{'':20}{'grade':>6} {'other cluster':>14} {'residual':>9} {'linked':>8}"]
    for one in found.finalists:
        lines.append(f"  {one.label:18}{'in the search':20}{_figures(one.search)}  {one.settings}")
        lines += [f"  {'':18}{f'held out {i}':20}{_figures(figures)}" for i, figures in enumerate(one.held_out, 1)]
    lines += [
        "",
        "  other cluster: rows that k-means puts into another cluster, beyond a re-run (less is better)",
        "  residual: residual security of the median column (more is better); linked: best linkage (less is better)",
    ]
    if found.dial:
        lines += ["", f"  {'detail':18}{'grade':>6} {'kept':>8} {'not kept':>9} {'residual':>9} {'linked':>8}"]
        lines += [
            f"  {one.detail:18}{one.grade:>6} {percent(one.kept):>8} {percent(one.not_kept):>9} "
            f"{number(one.residual):>9} {percent(one.linkage):>8}"
            for one in found.dial
        ]
        lines.append(f"  {DIAL_WORDS}")
    if found.policy:
        lines += ["", "policy", *(f"  {line}" for line in found.policy.splitlines())]
    lines += [f"note: {note}" for note in found.notes]
    return "\n".join(lines) + "\n"


def _figures(one: Measured) -> str:
    return f"{one.grade:>6} {percent(one.excess):>14} {number(one.residual):>9} {percent(one.linkage):>8}"


def tuned_page(found: Tuned, *, command: str | None = None) -> Page:
    """Return the page of a search.

    Parameters
    ----------
    command : str, optional
        What to type to repeat it.
    """
    one = found.nearest
    grade = _worst_grade(one)
    shown = one.held_out or (one.search,)
    top: list[Block] = [
        Headline(grade, sentence(found), MEANINGS[grade]),
        *(Paragraph(text, "warning") for text in warnings_of(found)),
        Figures(
            (
                ("Rows in another cluster", percent(max(f.excess for f in shown)), "worst repetition, less is better"),
                ("Residual security", number(min(f.residual for f in shown)), "0 laid open, 1 hidden; more is better"),
                ("Best linkage", percent(max((f.linkage or 0.0) for f in shown)), "people found, less is better"),
            )
        ),
    ]
    sections = [
        Section("The finalists, in the search and held out", (Paragraph(HELD_OUT_WORDS), _table(found))),
        Section(
            "What is hidden, against what it costs",
            (Picture(_chart(found), CHART_WORDS), Paragraph(FIGURES_WORDS, "note")),
        ),
    ]
    if found.dial:
        levels = [Level(one.detail, one.residual, one.linkage, one.kept, one.not_kept) for one in found.dial]
        sections.append(Section("How much detail", (Picture(dial_chart(levels), DIAL_WORDS),)))
    if found.policy:
        how = (
            "Save this as policy.toml (sfumato tune -o does), check the columns, and release with --policy policy.toml."
        )
        sections.append(Section("The policy", (Paragraph(how), Code(found.policy))))
    sections.append(grades_section())
    again = command or f"sfumato.tune(table, {found.max_misclassification:g}, seed={found.seed})"
    how_much = (
        f"{found.looked_at:,} settings were looked at, {found.attacked:,} attacked, {len(found.finalists)} audited"
        + (f", {found.not_applicable:,} did not apply to this table." if found.not_applicable else ".")
    )
    sections.append(Section("To repeat it", (Items((how_much, *found.notes)), Code(again))))
    return Page(
        "The best method for this table" if found.met else "Nothing meets the limits on this table",
        f"{found.rows_measured:,} of {found.n_rows:,} rows, {len(found.columns)} columns. For the owner: the policy "
        "names the method and its parameters.",
        tuple(top),
        tuple(sections),
    )


DIAL_WORDS = (
    "One release for each level of detail, which keeps the ladder: rows in another cluster for 3, 6 and 10 clusters, "
    "which it keeps, and for more clusters than it keeps. They are rough. Choose with --detail, or [detail] level."
)
HELD_OUT_WORDS = (
    "A search that tries many settings also finds the lucky ones. So the finalists were released again, best first, "
    "with keys and seeds that the search never saw. The first that stays within the limits every time wins."
)


def _table(found: Tuned) -> Table:
    columns = (
        Column("setting"),
        Column("release"),
        Column("grade"),
        Column("rows in another cluster", "less is better", numeric=True),
        Column("residual security", "more is better", numeric=True),
        Column("linked", "less is better", numeric=True),
    )
    rows: list[tuple[Cell | str, ...]] = []
    for one in found.finalists:
        verdict = (
            "wins" if found.chosen == one else "" if not one.held_out else "holds" if one.holds else "does not hold"
        )
        rows.append((Cell(one.label, one.settings), "in the search", *_cells(one.search)))
        for i, figures in enumerate(one.held_out, 1):
            last = i == len(one.held_out)
            rows.append((Cell("", ""), Cell(f"held out {i}", verdict if last else ""), *_cells(figures)))
    return Table("Best first, as the search ranked them.", columns, tuple(rows))


def _cells(one: Measured) -> tuple[Cell | str, ...]:
    return (
        Cell("", grade=one.grade),
        percent(one.excess),
        Cell(number(one.residual), bar=min(1.0, one.residual)),
        Cell(percent(one.linkage), bar=one.linkage),
    )


def _chart(found: Tuned) -> str:
    finals = {(one.label, one.settings) for one in found.finalists}
    points = [
        Point("", one.figures.excess, one.figures.residual, one.figures.linkage, one.figures.grade)
        for one in found.tried
        if (one.label, one.settings) not in finals
    ]
    named = [
        Point(one.label, one.search.excess, one.search.residual, one.search.linkage, one.search.grade, best=True)
        for one in found.finalists
    ]
    return tradeoff_chart([*points, *named], limit=found.max_misclassification)
