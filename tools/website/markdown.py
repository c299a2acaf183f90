"""Markdown that several pages are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell(text) for text in line)} |" for line in lines) + "\n"


def cell(text: str) -> str:
    """Return a text that may stand in a cell: one line, its bars escaped."""
    return " ".join(str(text).split()).replace("|", "\\|")


def code(text: object) -> str:
    """Return a text as code; nothing for nothing."""
    said = str(text)
    if not said:
        return ""
    return f"`` {said} ``" if "`" in said else f"`{said}`"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return what is known of a thing as a list."""
    return "\n".join(f"- **{name}**: {text}" for name, text in pairs) + "\n"
