"""What a page is made of: plain frozen data, without any HTML."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Headline:
    """The verdict at the top of a page: a grade, a sentence, and what the grade means."""

    grade: str
    sentence: str
    meaning: str


@dataclass(frozen=True)
class Paragraph:
    """Text; `kind` is "plain", "note" (smaller) or "warning" (framed)."""

    text: str
    kind: str = "plain"


@dataclass(frozen=True)
class Figures:
    """A few figures to read first: (what, value, unit and direction) each."""

    items: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Items:
    """A list of short texts."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """A column of a table; `note` says unit and direction under its title."""

    title: str
    note: str = ""
    numeric: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes
    ----------
    text : str
    note : str
        Smaller, behind the text.
    bar : float or None
        A share from 0 to 1, drawn as a bar under the text.
    grade : str
        A grade, drawn as a badge before the text.
    """

    text: str
    note: str = ""
    bar: float | None = None
    grade: str = ""


@dataclass(frozen=True)
class Table:
    """A table; plain strings are cells without notes. The first cell of a row is its heading."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell | str, ...], ...]


@dataclass(frozen=True)
class Picture:
    """A chart as an SVG element made by this package, and what it shows in words."""

    svg: str
    caption: str


@dataclass(frozen=True)
class Code:
    """Something to type."""

    text: str


Block = Headline | Paragraph | Figures | Items | Table | Picture | Code


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """A whole page.

    Attributes
    ----------
    title : str
    subtitle : str
        One line under the title: what the page is about, and for whom it is.
    top : tuple of Block
        What stands before the first section.
    sections : tuple of Section
    """

    title: str
    subtitle: str
    top: tuple[Block, ...]
    sections: tuple[Section, ...]
