"""The frontier as a picture: one mark for each method and table, atom mixing apart from the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.report.chart import Axis, drawing, frame, percent, square_root, text

__all__ = ["frontier_chart"]

_TICKS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6)
_SECURITY = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0)
_LINKS = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0)
_OURS, _GUARD, _REST = "#0a6b4f", "#1f6fb2", "#b0562a"


def _marks(measured: dict[str, Any], figure: str) -> list[tuple[float, float, str]]:
    found = []
    for records in measured.values():
        for exact in (False, True):
            start = "mix exact key " if exact else "mix key "
            rows = [record for label, record in records.items() if label.startswith(start)]
            seen = [row[figure] for row in rows if row.get(figure) is not None]
            if seen:
                found.append((float(np.mean([row["excess"] for row in rows])), float(np.mean(seen)), _OURS))
        for label, record in records.items():
            if " key " not in label and record.get("excess") is not None and record.get(figure) is not None:
                found.append((record["excess"], record[figure], _GUARD if "guard" in label else _REST))
    return sorted(found, key=lambda mark: mark[2] == _OURS)


def _panel(measured: dict[str, Any], figure: str, x: Axis, y: Axis) -> str:
    body = frame(x, y)
    for across, up, colour in _marks(measured, figure):
        px, py = x.place(min(across, _TICKS[-1])), y.place(min(up, 1.0))
        if colour == _OURS:
            body += f'<circle cx="{px:.1f}" cy="{py:.1f}" r="5" fill="{colour}" stroke="#fff" stroke-width="1"/>'
        elif colour == _GUARD:
            body += f'<rect x="{px - 4:.1f}" y="{py - 4:.1f}" width="8" height="8" fill="{colour}" stroke="#fff"/>'
        else:
            body += (
                f'<path d="M{px - 4:.1f} {py - 4:.1f}L{px + 4:.1f} {py + 4:.1f}M{px - 4:.1f} {py + 4:.1f}L{px + 4:.1f} '
                f'{py - 4:.1f}" stroke="{colour}" stroke-width="1.6"/>'
            )
    return body


def frontier_chart(measured: dict[str, Any]) -> str:
    """Return the chart as an SVG element."""
    title = "excess misclassification (less is better)"
    axes = [Axis(title, _TICKS, start, start + 360, square_root, percent) for start in (60, 520)]
    security = Axis("residual security (more is better)", _SECURITY, 330, 60, square_root, "{:g}".format)
    linkage = Axis("people linked (less is better)", _LINKS, 60, 330, square_root, percent)
    body = _panel(measured, "residual", axes[0], security) + _panel(measured, "linkage", axes[1], linkage)
    legend = ((_OURS, "atom mixing"), (_GUARD, "guarded noise"), (_REST, "the other methods"))
    for index, (colour, words) in enumerate(legend):
        at = 60 + 150 * index
        body += f'<rect x="{at}" y="14" width="10" height="10" fill="{colour}"/>' + text(at + 16, 23, words)
    description = "One mark for each method and table. Up and to the left is better in both panels."
    return drawing(910, 400, "The frontier of all methods", description, body)
