"""The audit as a page for the owner: the verdict first, then what the release is good for, then every attack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.auditing.grading import MEANINGS
from sfumato.auditing.pages.text import percent
from sfumato.auditing.pages.utility_page import utility_section
from sfumato.auditing.pages.whole_page import whole_section
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
from sfumato.report.curve import Known, curve_chart

if TYPE_CHECKING:
    from sfumato.auditing.equality import ColumnEquality
    from sfumato.auditing.model import AttackLine, Audit

_RUNGS = {
    0: "0: nothing but the release",
    1: "1: public means or distributions",
    2: "2: a sample of the population",
    3: "3: people's records, not their rows",
    4: "4: people's records and their rows",
}


def audit_page(audit: Audit, *, command: str | None = None) -> Page:
    """Return the owner's page.

    Parameters
    ----------
    command : str, optional
        What to type to repeat it; by default the call in Python.
    """
    described = f", method {audit.method}" if audit.method else ""
    sections = [
        utility_section(audit.utility, audit.densities, None if audit.whole is None else audit.whole.utility),
        _columns(audit),
        *(() if audit.whole is None else (whole_section(audit.whole),)),
        _attacks(audit),
        _curve(audit),
        _inversion(audit),
        _idle(audit),
        _canaries(audit),
        grades_section(),
        _repeat(audit, command),
    ]
    return Page(
        f"Audit of a release: grade {audit.grade}",
        f"{audit.n_rows:,} rows, {len(audit.columns)} columns{described}. For the owner only: this page says how to "
        "break the release.",
        tuple(_top(audit)),
        tuple(sections),
    )


def _top(audit: Audit) -> list[Block]:
    top: list[Block] = [Headline(audit.grade, audit.verdict, f"Grade {audit.grade}: {MEANINGS[audit.grade]}")]
    if not audit.trustworthy:
        top.append(Paragraph("This audit cannot be trusted: a canary did not behave (see below).", "warning"))
    if audit.insecure_seed:
        top.append(Paragraph("Made with insecure_seed: anyone can find the noise by trying seeds.", "warning"))
    links = [line.rate for line in audit.strongest if line.goal == "links" and line.rate is not None]
    broken = audit.curve.breaks_at
    excess = audit.utility.excess_mean if audit.utility is not None else None
    top.append(
        Figures(
            (
                ("Rows in another cluster", percent(excess), "beyond a second run; less is better"),
                (
                    "Residual security",
                    number(audit.privacy.median_residual),
                    "median column: 0 laid open, 1 hidden; more is better",
                ),
                ("Best linkage", percent(max(links) if links else None), "people whose row is found; less is better"),
                (
                    "Breaks at",
                    f"{broken:,} records" if broken else "not found",
                    "known records that lay more than half of the others open",
                ),
            )
        )
    )
    return top


def number(value: float | None) -> str:
    """Return a figure with three decimals, or a dash.

    Examples
    --------
    >>> number(0.12345), number(None)
    ('0.123', '-')
    """
    return "-" if value is None else f"{value:.3f}"


def rough(value: float | None) -> str:
    """Return a figure to one digit: enough to read, too coarse to undo an offset or a factor by.

    Examples
    --------
    >>> rough(0.0372), rough(12.6), rough(0.0), rough(None)
    ('0.04', '10', '0', '-')
    """
    return "-" if value is None else f"{float(f'{value:.0e}'):g}"


def _columns(audit: Audit) -> Section:
    equal = {one.name: one for one in audit.equality}
    rows = tuple(
        (
            one.name,
            Cell(number(one.residual), bar=None if one.residual is None else min(1.0, max(0.0, one.residual))),
            one.residual_attack or "-",
            rough(one.security),
            rough(one.mean_shift),
            _equal(equal.get(one.name)),
        )
        for one in audit.privacy.columns
    )
    columns = (
        Column("column"),
        Column("residual security", "0 laid open, 1 hidden; more is better", numeric=True),
        Column("best attack on it"),
        Column("the papers' Sec", "one digit; blind to inversion; more looks better", numeric=True),
        Column("mean moved", "standard deviations, one digit; less keeps the data", numeric=True),
        Column("cells as they are", "and what the best guess gets; less is better", numeric=True),
    )
    words = (
        "Residual security is what is left of a column's variance after the best attack on it. The papers' Sec "
        "compares the release with the original directly, so a rotation looks safe to it."
    )
    facts = (
        f"Rows released as they are: {percent(audit.privacy.unchanged_rows)}. "
        f"Fewest released rows that look alike: {audit.privacy.smallest_class:,}."
    )
    table = Table("One line for each column.", columns, rows)
    return Section("What is hidden, column by column", (Paragraph(words), table, Paragraph(facts)))


def _equal(column: ColumnEquality | None) -> Cell | str:
    return "-" if column is None else Cell(percent(column.equal), f"guess {percent(column.guess)}")


def _attacks(audit: Audit) -> Section:
    ran = [line for line in audit.attacks if line.rate is not None]
    words = (
        "An attack recovers a record when at least half of its values come out within 5 % of a standard deviation. It "
        "counts for as much as it beats guessing: the best constant guess, and the same attack with people mixed up."
    )
    blocks: list[Block] = [Paragraph(words)]
    if audit.strongest:
        fair = "The strongest of each cost, chosen on half of the records and measured on the other half."
        blocks.append(Table(fair, _ATTACK_COLUMNS, tuple(_attack(line) for line in audit.strongest)))
    blocks.append(Table("Every attack that had an answer, strongest first.", _ATTACK_COLUMNS, tuple(map(_attack, ran))))
    if audit.exposed:
        blocks.append(_exposed(audit))
    if audit.shadows is not None:
        blocks.append(Items(audit.shadows.lines))
    if audit.worst_records:
        rows = ", ".join(f"{row:,}" for row in audit.worst_records)
        blocks.append(Paragraph(f"Rows that several attacks got, counted from 0: {rows}.", "note"))
    return Section("Every attack, by what it takes", tuple(blocks))


def _exposed(audit: Audit) -> Table:
    rows = tuple(
        (
            one.group,
            one.attack,
            f"{one.people:,}",
            Cell(f"{one.found:.1f}", bar=one.found / one.people),
            f"{one.chance:.1f}",
            percent(one.low),
        )
        for one in audit.exposed
    )
    columns = (
        Column("people who stand alone"),
        Column("attack"),
        Column("people", numeric=True),
        Column("found", "less is better", numeric=True),
        Column("by chance", numeric=True),
        Column("share found, at least", "exact bound, wrong once in a hundred audits", numeric=True),
    )
    return Table(
        "An average hides those who stand far from everybody: they are asked about by themselves.", columns, rows
    )


_ATTACK_COLUMNS = (
    Column("attack"),
    Column("knows", "rung of the ladder"),
    Column("people known", numeric=True),
    Column("records recovered", "or linked; less is better", numeric=True),
    Column("95 % interval", numeric=True),
    Column("guessing", "constant, mixed up", numeric=True),
)


def _attack(line: AttackLine) -> tuple[Cell | str, ...]:
    what = "links people to rows" if line.goal == "links" else ""
    return (
        Cell(line.name, f"{line.id}{', ' + what if what else ''}"),
        _RUNGS.get(line.rung, str(line.rung)),
        f"{line.known:,}" if line.known else "-",
        Cell(percent(line.rate), bar=line.rate),
        f"{percent(line.low)} to {percent(line.high)}",
        f"{percent(line.baseline)}, {percent(line.control)}",
    )


def _curve(audit: Audit) -> Section:
    points = audit.curve.points
    title = "Records known, share of the others recovered"
    if not points:
        return Section(title, (Paragraph("No attack with known records had an answer."),))
    broken = audit.curve.breaks_at
    words = (
        f"The release breaks at {broken:,} known records: from there on more than half of the others' records fall, "
        "beyond guessing."
        if broken
        else "No number of known records that was tried lays half of the others open."
    )
    chart = curve_chart([Known(p.known, p.recovered, p.low, p.high) for p in points], breaks_at=broken)
    caption = "The best of three attacks with known rows, and its 95 % interval in grey."
    return Section(title, (Paragraph(words), Picture(chart, caption)))


def _inversion(audit: Audit) -> Section:
    found = audit.inverted
    rows: list[tuple[Cell | str, ...]] = [
        ("linked to the nearest row", percent(found.linked_as_released), percent(found.linked_inverted)),
        (
            "cells within 5 % of a standard deviation",
            percent(found.disclosed_as_released),
            percent(found.disclosed_inverted),
        ),
    ]
    after = {one.question: one for one in found.questions}
    for one in audit.questions:
        later = after.get(one.question)
        rows.append(
            (
                Cell(one.question, "people in the release; people who are not, as a control"),
                Cell(percent(one.rate), f"control {percent(one.control)}"),
                "-" if later is None else Cell(percent(later.rate), f"control {percent(later.control)}"),
            )
        )
    words = (
        "Usual scores look at the release as it is. An attacker does not: the best attack undoes what it can, and then "
        f"the same scores are taken again. Best inversion here: {found.attack}"
        + (f", with {found.known:,} known records." if found.known else ".")
    )
    columns = (Column("score, less is better"), Column("as released", numeric=True), Column("inverted", numeric=True))
    table = Table("Singling out, linkability and inference are the regulators' three questions.", columns, tuple(rows))
    return Section("Invert first, then score", (Paragraph(words), table))


def _idle(audit: Audit) -> Section:
    blocks: list[Block] = []
    if audit.did_not_run:
        blocks += [Paragraph("Did not run. That is not the same as safe."), Items(audit.did_not_run)]
    if audit.found_nothing:
        blocks += [Paragraph("Ran and had no answer."), Items(audit.found_nothing)]
    return Section("What did not run", tuple(blocks) or (Paragraph("Every attack ran and had an answer."),))


def _canaries(audit: Audit) -> Section:
    rows = tuple(
        (
            one.name,
            one.expected,
            percent(one.figure),
            "too few rows" if one.passed is None else "as expected" if one.passed else "failed",
        )
        for one in audit.canaries
    )
    columns = (Column("release"), Column("expected"), Column("measured", numeric=True), Column("outcome"))
    words = (
        "Releases of known outcome went through the same attacks: a copy and a rotation must fall, noise must stand."
    )
    return Section("Can this audit be trusted?", (Paragraph(words), Table("The canaries.", columns, rows)))


def grades_section() -> Section:
    """Return what the grades mean."""
    return Section(
        "What the grades mean",
        (
            Table(
                "A grade weighs what an attacker gets against what they must know for it.",
                (Column("grade"), Column("meaning")),
                tuple((Cell("", grade=grade), meaning) for grade, meaning in MEANINGS.items()),
            ),
        ),
    )


def _repeat(audit: Audit, command: str | None) -> Section:
    blocks: list[Block] = [Items(audit.notes)] if audit.notes else []
    blocks.append(Paragraph(f"Effort: {audit.effort}." + (" Left out:" if audit.left_out else "")))
    if audit.left_out:
        blocks.append(Items(audit.left_out))
    return Section("To repeat it", (*blocks, Code(command or audit.call)))
