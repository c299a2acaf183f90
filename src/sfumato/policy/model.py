"""The policy: what may be released and how, in TOML, read strictly; it holds no secrets."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator, model_validator

from sfumato.core.relations import relation_problem
from sfumato.exceptions import ParameterError, PolicyError
from sfumato.files.schema import ColumnRules
from sfumato.policy.lines import find_lines, line_of, nearest_of

_LARGEST_FILE = 1 << 20


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


class Detail(_Strict):
    """How finely the ladder of kept clusterings may cut the table: a level, and limits of one's own over it."""

    level: Literal["coarse", "medium", "fine"] = "medium"
    atoms: float | None = Field(default=None, gt=0, le=1)
    rows: int | None = Field(default=None, ge=1)
    residual: float | None = Field(default=None, ge=0, le=1)
    loss: float | None = Field(default=None, ge=0, le=1)

    @classmethod
    def of(cls, wanted: str | Mapping[str, Any]) -> Detail:
        """Return the detail that somebody asks for by a word, or by numbers."""
        given = {"level": wanted} if isinstance(wanted, str) else dict(wanted)
        try:
            return cls.model_validate(given)
        except ValidationError:
            pass
        raise ParameterError(
            "detail is 'coarse', 'medium' or 'fine', or limits of one's own",
            hint='atoms, residual and loss are shares of 1, rows is a whole number: {"atoms": 0.02, "rows": 10}',
        )

    @property
    def parameter(self) -> Any:
        """What the methods call `detail`."""
        own = self.model_dump(exclude_none=True)
        return self.level if len(own) == 1 else own


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
    detail : Detail, optional
        How finely the ladder of kept clusterings may cut the table.
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
    detail: Detail | None = None
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
        near = nearest_of(place[-1], known)
        asked = f"did you mean {near!r}? " if near else ""
        kind = "section" if len(place) == 1 else "setting"
        return PolicyError(f"{where}: unknown {kind} {name!r}", hint=f"{asked}known here: {', '.join(known)}")
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
