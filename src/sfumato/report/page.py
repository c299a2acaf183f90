"""Blocks to HTML: one file, no script, nothing from outside, nothing that changes from run to run."""

from __future__ import annotations

import os
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from sfumato.files.storage.outputs import write_atomically
from sfumato.report.blocks import Block, Page


def render_page(page: Page) -> str:
    """Return a page as a complete HTML document.

    Examples
    --------
    >>> from sfumato.report.blocks import Page, Paragraph
    >>> html = render_page(Page("A <title>", "", (Paragraph("a < b"),), ()))
    >>> html.startswith("<!doctype html>"), "a &lt; b" in html, "<script" in html
    (True, True, False)
    """
    return _template().render(page=page, kind=kind_of, style=_style(), whole=True) + "\n"


def render_fragment(page: Page) -> str:
    """Return a page's content with its style, for notebooks."""
    return _template().render(page=page, kind=kind_of, style=_style(), whole=False)


def write_page(page: Page, path: str | os.PathLike[str]) -> str:
    """Write a page to a file, whole or not at all, and return it."""
    html = render_page(page)
    write_atomically(path, lambda file: file.write(html.encode()))
    return html


def kind_of(block: Block) -> str:
    """Return the name of a block's class, by which the template chooses."""
    return type(block).__name__


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("sfumato.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html")


@cache
def _style() -> str:
    return (resources.files("sfumato.report") / "templates" / "page.css").read_text(encoding="utf-8")
