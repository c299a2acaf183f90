"""Where a setting stands in a TOML file: the standard parser does not say."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

_SECTION = re.compile(r"^\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_SETTING = re.compile(
    r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*="""
)


def find_lines(text: str) -> dict[tuple[str, ...], int]:
    r"""Return the line of every section and setting of a TOML text.

    Examples
    --------
    >>> find_lines('[column.age]\nbounds = [18, 110]\n')
    {('column',): 1, ('column', 'age'): 1, ('column', 'age', 'bounds'): 2}
    """
    lines: dict[tuple[str, ...], int] = {}
    section: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        head = _SECTION.match(line)
        if head:
            section = _path(head[1])
            for depth in range(1, len(section) + 1):
                lines.setdefault(section[:depth], number)
            continue
        setting = _SETTING.match(line)
        if setting:
            lines.setdefault((*section, *_path(setting[1])), number)
    return lines


def line_of(lines: Mapping[tuple[str, ...], int], place: Sequence[str]) -> int | None:
    """Return the line of a setting, or of the section that holds it."""
    for depth in range(len(place), 0, -1):
        if tuple(place[:depth]) in lines:
            return lines[tuple(place[:depth])]
    return None


def nearest_of(word: str, names: Sequence[str]) -> str | None:
    """Return the name that is nearest to a word, if one is near."""
    near = get_close_matches(word, names, n=1)
    return near[0] if near else None


def _path(text: str) -> tuple[str, ...]:
    try:
        found = tomllib.loads(f"{text} = 0")
    except tomllib.TOMLDecodeError:
        return (text,)
    parts: list[str] = []
    here: object = found
    while isinstance(here, dict):
        name, here = next(iter(here.items()))
        parts.append(str(name))
    return tuple(parts)
