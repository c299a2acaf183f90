"""The experiments of the five papers: their tables and figures, the printed numbers beside ours.

Names are imported on first use, so that importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.papers.catalogue import Paper, paper, papers
    from sfumato.papers.data_files import Dataset, data_folder, datasets, read_dataset, read_numbers
    from sfumato.papers.point_layouts import draw_points
    from sfumato.papers.render_html import to_html
    from sfumato.papers.render_json import to_json
    from sfumato.papers.render_markdown import to_markdown
    from sfumato.papers.render_text import to_text
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
    "render_html": ("to_html",),
    "render_json": ("to_json",),
    "render_markdown": ("to_markdown",),
    "render_text": ("to_text",),
    "result": ("Bar", "Cell", "Figure", "Panel", "Reproduction", "Row", "Series", "Table", "judge"),
    "runner": ("reproduce",),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
