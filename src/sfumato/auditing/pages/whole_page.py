"""What an audit says about whole rows: the same figures as text and as a section of the owner's page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.auditing.pages.text import percent
from sfumato.report.blocks import Block, Column, Paragraph, Section, Table

if TYPE_CHECKING:
    from sfumato.auditing.whole.model import Whole

_KINDS = {"number": "numbers", "count": "counts or codes", "category": "categories"}


def whole_lines(whole: Whole) -> list[str]:
    """Return the figures as lines of text."""
    lines = [f"{len(whole.columns)} columns leave the house; kept as they are: {', '.join(whole.kept) or 'none'}"]
    lines += [f"  {line[0]}: {line[1]} before, {line[2]} after" for line in _alone_rows(whole)]
    lines += [f"  {text}" for text in _facts(whole)]
    for one in whole.inferred:
        lines.append(f"  {one.column} told from the others: {percent(one.rate)}, of strangers {percent(one.control)}")
    return lines


def _alone_rows(whole: Whole) -> list[tuple[str, str, str]]:
    """Return (who, share before, share after) of people who are alone."""
    found = whole.uniqueness
    if found is None:
        return []
    sizes = enumerate(zip(found.before.alone, found.after.alone, strict=True), start=1)
    rows = [(f"alone with at most {size} column(s)", percent(one), percent(two)) for size, (one, two) in sizes]
    return [*rows, (f"alone with all {found.columns}", percent(found.alone_before), percent(found.alone_after))]


def _facts(whole: Whole) -> list[str]:
    """Return sentences about categories and counts."""
    facts = []
    if whole.uniqueness is not None:
        found = whole.uniqueness
        facts.append(
            f"people alone with their categories and counts, on their own row too: {percent(found.own)} of all, "
            f"{percent(found.own_of_alone)} of those who were alone"
        )
        lacking = sum(found.before.combinations) - sum(found.before.tried)
        if lacking:
            facts.append(f"combinations of columns that were not looked at, for want of time: {lacking:,}")
    if whole.anonymity is not None:
        alike = whole.anonymity
        facts.append(
            f"released rows alike in their categories and counts: k = {alike.smallest_class:,}, "
            f"l = {'-' if alike.diversity is None else alike.diversity}, "
            f"t = {'-' if alike.closeness is None else f'{alike.closeness:.2f}'}; "
            f"with fewer than four others: {percent(alike.below_five)}"
        )
    return facts


def whole_section(whole: Whole) -> Section:
    """Return the figures as a section."""
    words = (
        "An attacker sees whole rows: perturbed numbers, categories, and columns that are kept as they are. Linkage "
        "is measured over all of them. What is kept is joined on, so it costs an attacker next to nothing."
    )
    rows = tuple((one.name, _KINDS[one.kind], "as it is" if one.kept else "perturbed") for one in whole.columns)
    columns = (Column("column"), Column("holds"), Column("released"))
    blocks: list[Block] = [Paragraph(words), Table("Every column that leaves the house.", columns, rows)]
    if whole.uniqueness is not None:
        heads = (Column("people"), Column("before", numeric=True), Column("after", numeric=True))
        caption = (
            "Alone with some combination of categories and counts. In a release of exchanged values it is nobody's."
        )
        blocks.append(Table(caption, heads, tuple(_alone_rows(whole))))
    blocks += [Paragraph(f"{text[0].upper()}{text[1:]}.") for text in _facts(whole)]
    if whole.inferred:
        heads = (
            Column("category"),
            Column("told right", "from all other columns, by the nearest released row", numeric=True),
            Column("of strangers", "people who are not in the release", numeric=True),
        )
        told = tuple((one.column, percent(one.rate), percent(one.control)) for one in whole.inferred)
        blocks.append(Table("Categories that are told from others; as much as of strangers is no leak.", heads, told))
    return Section("Whole rows", tuple(blocks))
