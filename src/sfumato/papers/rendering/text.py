"""A reproduction as aligned text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.papers.numbers_text import MARKS, number_text, pair_text
from sfumato.papers.result import Reproduction, Table

LEGEND = "paper > ours;  = matched   ~ inside the bar, not near the print   u the print cannot be reached   ! missed"


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return [
        "  ".join(
            text.ljust(w) if i == 0 else text.rjust(w) for i, (text, w) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]


def table_reasons(table: Table) -> list[str]:
    """Return the reasons of a table's unreachable cells, each once, with the cells they are for."""
    where: dict[str, list[str]] = {}
    for row, column, cell in table.cells():
        if cell.status == "unreachable":
            where.setdefault(cell.note, []).append(f"{row}, {column}")
    return [
        f"{'; '.join(cells) if len(cells) <= 4 else f'{len(cells)} cells'}: {note}" for note, cells in where.items()
    ]


def _table_text(table: Table) -> list[str]:
    unit = f" [{table.unit}]" if table.unit else ""
    lines = [f"{table.name}: {table.title}{unit}"]
    if table.bar:
        lines.append(f"  bar: {table.bar}")
    grid = [["", *table.columns]]
    grid += [[row.label, *(pair_text(cell, table.digits) for cell in row.cells)] for row in table.rows]
    lines += ["  " + line.rstrip() for line in _aligned(grid)]
    lines += [f"  u {reason}" for reason in table_reasons(table)]
    for row, column, cell in table.cells():
        if cell.status == "missed":
            lines.append(f"  ! {row}, {column}: {number_text(cell.ours, 5)}, allowed {cell.bar}")
    return [*lines, *(f"  {note}" for note in table.notes)]


def to_text(results: Sequence[Reproduction]) -> str:
    """Return reproductions as text."""
    lines: list[str] = []
    for result in results:
        lines += [f"{result.paper}: {result.title}", result.citation, ""]
        lines += [f"- {sentence}" for sentence in result.protocol]
        lines += ["", LEGEND, ""]
        for table in result.tables:
            lines += [*_table_text(table), ""]
        counts = ", ".join(f"{count} {status} ({MARKS[status]})" for status, count in result.counts().items())
        lines += [f"{result.paper}: {counts}", ""]
    return "\n".join(lines)
