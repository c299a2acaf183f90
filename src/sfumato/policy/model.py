"""The policy: what may be released and how, in TOML, read strictly; it holds no secrets."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator, model_validator

from sfumato.core.relations import relation_problem
from sfumato.exceptions import PolicyError, nearest_name
from sfumato.files.schema import ColumnRules

_LARGEST_FILE = 1 << 20
_SECTION = re.compile(r"^\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_SETTING = re.compile(
    r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*="""
)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Columns(_Strict):
    """Which columns are dropped, which are released unchanged, and what holds between them in every row."""

    identifier: list[str] = Field(default_factory=list)
    keep: list[str] = Field(default_factory=list)
    record_id: str | None = None
    missing_values: list[str] = Field(default_factory=list)
    relations: list[str] | None = None
    rare: Literal["move", "merge", "mask"] = "move"

    @field_validator("relations")
    @classmethod
    def _can_be_read(cls, relations: list[str] | None) -> list[str] | None:
        for text in relations or []:
            problem = relation_problem(text)
            if problem:
                raise ValueError(problem)
        return relations


class Column(_Strict):
    """Rules of one confidential column."""

    decimals: int | None = Field(default=None, ge=0, le=15)
    bounds: list[int | float] | None = None
    missing_values: list[str] = Field(default_factory=list)
    kind: Literal["continuous", "count", "category", "ordered", "date"] | None = None
    order: list[str] = Field(default_factory=list)
    rare: Literal["move", "merge", "mask"] | None = None

    @field_validator("bounds")
    @classmethod
    def _two_ends(cls, bounds: list[float] | None) -> list[float] | None:
        if bounds is not None and (len(bounds) != 2 or not bounds[0] < bounds[1]):
            raise ValueError("must be two numbers, the smaller first: bounds = [18, 110]")
        return bounds


class MethodChoice(BaseModel):
    """The method and its own parameters, which the catalogue checks."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)
    name: str

    @property
    def parameters(self) -> dict[str, Any]:
        """The method's own parameters."""
        return dict(self.model_extra or {})


class Enhance(_Strict):
    """Noise for a random share of the rows on top of the method (the papers' rho)."""

    fraction: float = Field(default=0.05, ge=0, le=1)
    distributions: list[list[str | int | float]] | None = None


class Guard(_Strict):
    """Clusterings whose memberships the release must keep."""

    kmeans: list[int] = Field(default_factory=lambda: [2, 3, 4, 5, 6, 7, 8], min_length=1)
    scaling: Literal["std", "range", "none"] = "std"

    @field_validator("kmeans")
    @classmethod
    def _two_or_more(cls, kmeans: list[int]) -> list[int]:
        if any(k < 2 for k in kmeans):
            raise ValueError("a clustering has at least 2 clusters")
        return kmeans


class Limits(_Strict):
    """What an audit must find before the file appears."""

    max_misclassification: float | None = Field(default=None, ge=0, le=1)
    min_grade: Literal["A", "B", "C", "D", "F"] | None = None
    known_rows: int | None = Field(default=None, ge=1)


class ReleaseChoice(_Strict):
    """Name of the release, and whether its rows are shuffled."""

    name: str = "r0"
    shuffle: bool = True


class Policy(_Strict):
    r"""A policy; `Policy()` perturbs every column with the default method.

    Every part is a section of a policy file, see docs/guide/policy.md, and may be left out.

    Parameters
    ----------
    columns : Columns
        Roles of columns. Default: all are perturbed.
    column : dict from names to Column
        Rules for single columns: decimals, bounds, markers of missing values. Default: none.
    method : MethodChoice, optional
        Id and parameters of the method.
    enhance : Enhance, optional
        Noise on a share of the rows, on top of the method.
    guard : Guard, optional
        Clusterings that the release must keep.
    audit : Limits, optional
        Limits that the audit must find before the release appears.
    release : ReleaseChoice
        Name of the release, and whether its rows are shuffled. Default: "r0", shuffled.
    missing_values : list of str
        What stands for a missing value in every column, besides an empty cell. Default: none.

    Examples
    --------
    >>> policy = parse_policy('[columns]\nidentifier = ["id"]\n[method]\nname = "ina"\nbeta = 5\n')
    >>> policy.columns.identifier, policy.method.name, policy.method.parameters
    (['id'], 'ina', {'beta': 5})
    """

    columns: Columns = Field(default_factory=Columns)
    column: dict[str, Column] = Field(default_factory=dict)
    method: MethodChoice | None = None
    enhance: Enhance | None = None
    guard: Guard | None = None
    audit: Limits | None = None
    release: ReleaseChoice = Field(default_factory=ReleaseChoice)
    missing_values: list[str] = Field(default_factory=list)

    _what: str = PrivateAttr(default="")
    _lines: dict[tuple[str, ...], int] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _one_role_each(self) -> Policy:
        both = sorted(set(self.columns.identifier) & set(self.columns.keep))
        if both:
            raise ValueError(f"column {both[0]!r} is both dropped (identifier) and kept")
        return self

    def read_from(self, what: str, lines: dict[tuple[str, ...], int]) -> Policy:
        """Remember where the policy was read, for messages."""
        self._what, self._lines = what, lines
        return self

    def where(self, *place: str) -> str:
        """Return the file and the line of a setting, as messages begin; nothing for a policy without a file."""
        line = line_of(self._lines, place)
        if not self._what:
            return ""
        return f"{self._what}: " if line is None else f"{self._what}, line {line}: "

    def rules(self, names: Sequence[str]) -> dict[str, ColumnRules]:
        """Return the rules of each confidential column."""
        everywhere = (*self.missing_values, *self.columns.missing_values)
        out = {}
        for name in names:
            own = self.column.get(name, Column())
            bounds = None if own.bounds is None else (float(own.bounds[0]), float(own.bounds[1]))
            out[name] = ColumnRules(own.decimals, bounds, (*everywhere, *own.missing_values))
        return out


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
        raw = path.read_bytes()
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


def line_of(lines: Mapping[tuple[str, ...], int], place: Sequence[str]) -> int | None:
    """Return the line of a setting, or of the section that holds it."""
    for depth in range(len(place), 0, -1):
        if tuple(place[:depth]) in lines:
            return lines[tuple(place[:depth])]
    return None


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
