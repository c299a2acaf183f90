"""The experiments of the five papers: their tables and figures, the printed numbers beside ours.

Names are imported on first use, so that importing this package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato._lazy import lazy_names

if TYPE_CHECKING:
    from sfumato.papers.catalogue import Paper, paper, papers
    from sfumato.papers.data_files import Dataset, data_folder, datasets, read_dataset, read_numbers
    from sfumato.papers.point_layouts import draw_points
    from sfumato.papers.rendering.html import to_html
    from sfumato.papers.rendering.json import to_json
    from sfumato.papers.rendering.markdown import to_markdown
    from sfumato.papers.rendering.text import to_text
    from sfumato.papers.result import Bar, Cell, Figure, Panel, Reproduction, Row, Series, Table, judge
    from sfumato.papers.runner import reproduce

__all__ = [
    "Bar",
    "Cell",
    "Dataset",
    "Figure",
    "Panel",
    "Paper",
    "Reproduction",
    "Row",
    "Series",
    "Table",
    "data_folder",
    "datasets",
    "draw_points",
    "judge",
    "paper",
    "papers",
    "read_dataset",
    "read_numbers",
    "reproduce",
    "to_html",
    "to_json",
    "to_markdown",
    "to_text",
]

_HOMES = {
    "catalogue": ("Paper", "paper", "papers"),
    "data_files": ("Dataset", "data_folder", "datasets", "read_dataset", "read_numbers"),
    "point_layouts": ("draw_points",),
    "rendering.html": ("to_html",),
    "rendering.json": ("to_json",),
    "rendering.markdown": ("to_markdown",),
    "rendering.text": ("to_text",),
    "result": ("Bar", "Cell", "Figure", "Panel", "Reproduction", "Row", "Series", "Table", "judge"),
    "runner": ("reproduce",),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__getattr__, __dir__ = lazy_names(__name__, _MODULE_OF)
