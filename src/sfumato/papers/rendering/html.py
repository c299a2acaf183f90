"""Reproductions as one self-contained HTML page without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from sfumato.papers.numbers_text import number_text, ratio_text
from sfumato.papers.rendering.svg import figure_svg
from sfumato.papers.rendering.text import table_reasons
from sfumato.papers.result import Cell, Figure, Reproduction, Table

_STYLE = """
body{font:15px/1.5 sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#222;background:#fff}
h1{font-size:1.6rem}h2{margin-top:2.5rem;border-bottom:1px solid #ccc}h3{margin-bottom:.2rem}
table{border-collapse:collapse;margin:.5rem 0;font-size:.85rem}th,td{padding:.2rem .5rem;text-align:right;
border-bottom:1px solid #e4e4e4}th:first-child{text-align:left}.bar,.note{color:#555;font-size:.85rem;margin:.1rem 0}
td small{color:#666;display:block}.matched{background:#e6f3ea}.trend{background:#fdf6df}.unreachable{background:#ececec}
.missed{background:#f8d7d3}.wide{overflow-x:auto}svg{max-width:100%;height:auto}@media print{h2{break-before:page}}
"""


def _cell(cell: Cell, digits: int) -> str:
    printed, ours = number_text(cell.printed, max(digits, 4)), number_text(cell.ours, digits)
    hint = escape(f"{cell.status}; allowed {cell.bar}" + (f"; {cell.note}" if cell.note else ""), quote=True)
    kind = cell.status if cell.judged else "shown"
    below = f"{printed} &middot; {ratio_text(cell)}"
    return f'<td class="{kind}" title="{hint}">{ours}<small>{below}</small></td>'


def _table(table: Table) -> str:
    unit = f" [{escape(table.unit)}]" if table.unit else ""
    head = "".join(f"<th>{escape(column)}</th>" for column in ("", *table.columns))
    rows = "".join(
        f"<tr><th>{escape(row.label)}</th>{''.join(_cell(cell, table.digits) for cell in row.cells)}</tr>"
        for row in table.rows
    )
    notes = [f"Unreachable: {reason}" for reason in table_reasons(table)] + list(table.notes)
    bar = f'<p class="bar">Bar: {escape(table.bar)}</p>' if table.bar else ""
    return (
        f"<h3>{escape(table.name)}: {escape(table.title)}{unit}</h3>{bar}"
        f'<div class="wide"><table><tr>{head}</tr>{rows}</table></div>'
        + "".join(f'<p class="note">{escape(note)}</p>' for note in notes)
    )


def _figure(figure: Figure) -> str:
    note = f'<p class="note">{escape(figure.note)}</p>' if figure.note else ""
    return f"<h3>{escape(figure.name)}: {escape(figure.title)}</h3>{figure_svg(figure)}{note}"


def _paper(result: Reproduction) -> str:
    counts = ", ".join(f"{count} {status}" for status, count in result.counts().items())
    protocol = "".join(f"<li>{escape(sentence)}</li>" for sentence in result.protocol)
    return (
        f'<h2 id="{result.paper}">{escape(result.title)}</h2><p>{escape(result.citation)}</p>'
        f"<p><b>{counts}</b>{' (quick run)' if result.quick else ''}</p><ul>{protocol}</ul>"
        + "".join(_table(table) for table in result.tables)
        + "".join(_figure(figure) for figure in result.figures)
    )


def to_html(results: Sequence[Reproduction]) -> str:
    """Return reproductions as an HTML page."""
    links = " &middot; ".join(f'<a href="#{result.paper}">{escape(result.paper)}</a>' for result in results)
    key = (
        "Each cell: ours, below it the paper's number and the ratio. "
        '<span class="matched">matched</span>, <span class="trend">inside the bar, not near the print</span>, '
        '<span class="unreachable">the print cannot be reached</span>, <span class="missed">missed</span>.'
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The papers, reproduced</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f"<h1>The papers, reproduced</h1><p>{key}</p><p>{links}</p>"
        f"{''.join(_paper(result) for result in results)}</body></html>\n"
    )
