"""Policies read strictly from TOML: a mistake is told with its line, the reason and the nearest valid name."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

from pydantic import BaseModel, ValidationError

from sfumato.core.system import read_regular
from sfumato.exceptions import PolicyError, nearest_name
from sfumato.policy.model import Column, Columns, Enhance, Guard, Limits, MethodChoice, Policy, ReleaseChoice, line_of

_LARGEST_FILE = 1 << 20
_SECTION = re.compile(r"^\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_SETTING = re.compile(
    r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*="""
)


def read_policy(path: str | os.PathLike[str]) -> Policy:
    """Read a policy file.

    Parameters
    ----------
    path : path
        The policy file (TOML).

    Returns
    -------
    Policy
    """
    path = Path(path)
    problem = None
    text = ""
    try:
        raw = read_regular(path, _LARGEST_FILE + 1)
        if len(raw) > _LARGEST_FILE:
            problem = "too large for a policy"
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        problem = "not UTF-8 text"
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    if problem is not None:
        raise PolicyError(f"{path}: {problem}", hint="`sfumato policy init DATA` writes one to begin with")
    return parse_policy(text, str(path))


def parse_policy(text: str, what: str = "policy") -> Policy:
    """Read a policy from its text; errors name the line, the reason and the nearest valid name.

    Parameters
    ----------
    text : str
        TOML.
    what : str
        How errors call it. Default: "policy".
    """
    reason = None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason = str(error)
    except RecursionError:
        reason = "tables or lists inside one another, too deep to be read"
    if reason is not None:
        raise PolicyError(f"{what}: not TOML: {reason}", hint="see the policy reference in docs/guide/policy.md")
    lines = find_lines(text)
    try:
        policy = Policy.model_validate(data)
    except ValidationError as error:
        raise _explained(error, lines, what) from None
    return policy.read_from(what, lines)


def _explained(error: ValidationError, lines: dict[tuple[str, ...], int], what: str) -> PolicyError:
    first = error.errors(include_url=False)[0]
    place = tuple(str(part) for part in first["loc"])
    line = line_of(lines, place)
    where = what if line is None else f"{what}, line {line}"
    name = ".".join(part for part in place if not part.isdigit())
    if first["type"] == "extra_forbidden":
        known = _fields_at(place[:-1])
        near, listed = nearest_name(place[-1], known), f"known here: {', '.join(known)}"
        kind = "section" if len(place) == 1 else "setting"
        return PolicyError(f"{where}: unknown {kind} {name!r}", hint=f"{near} {listed}" if near else listed)
    reason = str(first["msg"]).removeprefix("Value error, ")
    return PolicyError(f"{where}: {name + ': ' if name else ''}{reason[:1].lower()}{reason[1:]}")


def _fields_at(place: tuple[str, ...]) -> list[str]:
    parts: dict[str, type[BaseModel]] = {
        "columns": Columns,
        "column": Column,
        "method": MethodChoice,
        "enhance": Enhance,
        "guard": Guard,
        "audit": Limits,
        "release": ReleaseChoice,
    }
    return list((parts[place[0]] if place else Policy).model_fields)


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
