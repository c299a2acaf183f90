"""The policy: what may be released and how; it holds no secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator, model_validator

from sfumato.core.relations import relation_problem
from sfumato.exceptions import DataError, ParameterError
from sfumato.files.schema import ColumnRules
from sfumato.files.source import require_columns

Role = Literal["identifier", "keep", "confidential"]


@dataclass(frozen=True)
class Roles:
    """The columns of a table by what happens to them, in the order of the table.

    Attributes
    ----------
    identifier : tuple of str
        Dropped.
    keep : tuple of str
        Released unchanged.
    confidential : tuple of str
        Perturbed.
    record_id : str, optional
        The column that names a person.
    """

    identifier: tuple[str, ...]
    keep: tuple[str, ...]
    confidential: tuple[str, ...]
    record_id: str | None = None


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

    def roles(self, names: Sequence[str], what: str = "the table") -> Roles:
        """Return the role of every column of a table: what is neither dropped nor kept is perturbed.

        Parameters
        ----------
        names : sequence of str
            All columns. That of the record id is dropped unless it is kept.
        what : str
            How errors call the table.

        Examples
        --------
        >>> Columns(identifier=["id"], keep=["town"]).roles(["id", "town", "age"]).confidential
        ('age',)
        """
        person = [self.record_id] if self.record_id else []
        require_columns([*self.identifier, *self.keep, *person], names, what)
        both = sorted(set(self.identifier) & set(self.keep))
        if both:
            raise ParameterError(f"column {both[0]!r} is both dropped and kept", hint="name it once")
        kept = set(self.keep)
        dropped = {*self.identifier, *(one for one in person if one not in kept)}
        confidential = tuple(name for name in names if name not in dropped and name not in kept)
        if not confidential:
            raise DataError(f"{what}: no column is left to protect", hint="keep or drop fewer columns")
        return Roles(
            tuple(name for name in names if name in dropped),
            tuple(name for name in names if name in kept),
            confidential,
            self.record_id,
        )


class Column(_Strict):
    """Rules of one confidential column."""

    decimals: int | None = Field(default=None, ge=0, le=15)
    bounds: list[int | float] | None = None
    missing_values: list[str] = Field(default_factory=list)
    kind: Literal["continuous", "count", "category", "ordered", "date"] | None = None
    order: list[str] = Field(default_factory=list)
    categories: list[str] = Field(default_factory=list)
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
    _named: bool = PrivateAttr(default=True)

    @classmethod
    def unnamed(cls, name: str, parameters: Mapping[str, Any]) -> MethodChoice:
        """Return the default method with parameters of somebody who named none: another table may take another one."""
        choice = cls(name=name, **parameters)
        choice._named = False
        return choice

    @property
    def named(self) -> bool:
        """Whether somebody asked for this method."""
        return self._named

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
    people: float | None = Field(default=None, ge=0)

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
            hint='atoms, residual and loss are shares of 1, rows and people numbers: {"atoms": 0.02, "rows": 10}',
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
    effort: Literal["quick", "normal", "thorough"] = "normal"


class ReleaseChoice(_Strict):
    """Name of the release, whether its rows are shuffled and have ids, and what is done about earlier releases."""

    name: str = "r0"
    shuffle: bool = True
    row_id: bool = False
    scale: Literal["std", "range"] | None = None
    repeated: Literal["warn", "error"] = "warn"
    history: list[str] = Field(default_factory=list)
    budget: float | None = Field(default=None, gt=0)  # epsilon of all private releases of the folder of keys


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
    clusterings : list of int or str, optional
        What the release keeps: "ladder", numbers of k-means clusters, other clusterers by name as "ward 5".
    audit : Limits, optional
        Limits that the audit must find before the release appears.
    release : ReleaseChoice
        Name of the release, whether its rows are shuffled, and what is done about earlier releases of the same people.
        Default: "r0", shuffled, a warning.
    missing_values : list of str
        What stands for a missing value in every column, besides an empty cell. Default: none.

    Examples
    --------
    >>> from sfumato.policy.reading import parse_policy
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
    clusterings: list[int | str] | None = Field(default=None, min_length=1)
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
        """Remember where the policy was read, for messages.

        Parameters
        ----------
        what : str
            How messages call the file.
        lines : mapping from places to int
            Line of each section and each setting.
        """
        self._what, self._lines = what, lines
        return self

    def where(self, *place: str) -> str:
        """Return the file and the line of a setting, as messages begin; nothing for a policy without a file.

        Parameters
        ----------
        *place : str
            Names of the section and of the setting.
        """
        line = line_of(self._lines, place)
        if not self._what:
            return ""
        return f"{self._what}: " if line is None else f"{self._what}, line {line}: "

    def rules(self, names: Sequence[str]) -> dict[str, ColumnRules]:
        """Return the rules of each confidential column.

        Parameters
        ----------
        names : sequence of str
            The columns.
        """
        everywhere = (*self.missing_values, *self.columns.missing_values)
        out = {}
        for name in names:
            own = self.column.get(name, Column())
            bounds = None if own.bounds is None else (float(own.bounds[0]), float(own.bounds[1]))
            out[name] = ColumnRules(own.decimals, bounds, (*everywhere, *own.missing_values))
        return out


def line_of(lines: Mapping[tuple[str, ...], int], place: Sequence[str]) -> int | None:
    """Return the line of a setting, or of the section that holds it."""
    for depth in range(len(place), 0, -1):
        if tuple(place[:depth]) in lines:
            return lines[tuple(place[:depth])]
    return None
