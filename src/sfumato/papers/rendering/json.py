"""A reproduction as JSON with a versioned schema."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sfumato.papers.result import Cell, Figure, Reproduction, Table

SCHEMA = "sfumato-reproduction-1"


def _number(value: float | None) -> float | None:
    # JSON has no infinities; an open end of a bar is null.
    return None if value is None or not math.isfinite(value) else float(value)


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "printed": _number(cell.printed),
        "ours": _number(cell.ours),
        "ratio": _number(cell.ratio),
        "bar": [_number(cell.bar.low), _number(cell.bar.high)],
        "status": cell.status,
        "note": cell.note,
    }


def _table(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "title": table.title,
        "unit": table.unit,
        "bar": table.bar,
        "columns": list(table.columns),
        "rows": [{"label": row.label, "cells": [_cell(cell) for cell in row.cells]} for row in table.rows],
        "notes": list(table.notes),
    }


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "name": figure.name,
        "title": figure.title,
        "note": figure.note,
        "panels": [
            {
                "title": panel.title,
                "x_label": panel.x_label,
                "y_label": panel.y_label,
                "series": [
                    {"label": s.label, "mark": s.mark, "x": list(s.x), "y": list(s.y), "group": list(s.group)}
                    for s in panel.series
                ],
            }
            for panel in figure.panels
        ],
    }


def to_json(results: Sequence[Reproduction]) -> dict[str, Any]:
    """Return reproductions as one plain object.

    Examples
    --------
    >>> to_json([])
    {'schema': 'sfumato-reproduction-1', 'papers': []}
    """
    return {
        "schema": SCHEMA,
        "papers": [
            {
                "paper": result.paper,
                "title": result.title,
                "citation": result.citation,
                "quick": result.quick,
                "protocol": list(result.protocol),
                "counts": dict(result.counts()),
                "tables": [_table(table) for table in result.tables],
                "figures": [_figure(figure) for figure in result.figures],
            }
            for result in results
        ],
    }
