"""What each column is for: dropped, released unchanged, or perturbed; and a guess with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sfumato.exceptions import DataError, ParameterError
from sfumato.files.source import require_columns

Role = Literal["identifier", "keep", "confidential"]

_IDENTIFIER_WORDS = (
    "id",
    "name",
    "email",
    "mail",
    "phone",
    "ssn",
    "passport",
    "address",
    "uuid",
    "guid",
    "iban",
    "url",
)
_FEW_VALUES = 50


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


def assign_roles(
    names: Sequence[str],
    *,
    identifier: Sequence[str] = (),
    keep: Sequence[str] = (),
    record_id: str | None = None,
    what: str = "the table",
) -> Roles:
    """Return the role of every column: what is neither dropped nor kept is confidential.

    Parameters
    ----------
    names : sequence of str
        All columns.
    record_id : str, optional
        Dropped unless it is kept.
    what : str
        How errors call the table.

    Examples
    --------
    >>> assign_roles(["id", "town", "age"], identifier=["id"], keep=["town"]).confidential
    ('age',)
    """
    require_columns([*identifier, *keep, *([record_id] if record_id else [])], names, what)
    both = sorted(set(identifier) & set(keep))
    if both:
        raise ParameterError(f"column {both[0]!r} is both dropped and kept", hint="name it once")
    dropped = set(identifier) | ({record_id} if record_id and record_id not in keep else set())
    confidential = tuple(name for name in names if name not in dropped and name not in keep)
    if not confidential:
        raise DataError(f"{what}: no column is left to protect", hint="keep or drop fewer columns")
    return Roles(
        tuple(name for name in names if name in dropped),
        tuple(name for name in names if name in keep),
        confidential,
        record_id,
    )


@dataclass(frozen=True)
class ColumnTraits:
    """What is known about a column when its role is guessed.

    Attributes
    ----------
    name : str
    kind : "integer", "number", "text", "date" or "flag"
    rows : int
        Cells looked at.
    distinct : int
        Different values among them.
    detail : str
        What else its numbers say: few whole values, a value that many rows have.
    handed_out : bool
        Whether whole numbers that differ in every row look like those of people, and not like a measurement.
    """

    name: str
    kind: str
    rows: int
    distinct: int
    detail: str = ""
    handed_out: bool = True


@dataclass(frozen=True)
class Guess:
    """A guessed role and why."""

    name: str
    role: Role
    reason: str


def guess_roles(columns: Sequence[ColumnTraits], *, exchange: bool = False) -> tuple[Guess, ...]:
    """Guess the role of every column; a person must confirm it.

    Parameters
    ----------
    exchange : bool
        Whether the release can exchange texts, flags and dates: then those that people share are perturbed, and nothing
        is kept unless somebody says so.

    Examples
    --------
    >>> traits = [ColumnTraits("customer_id", "text", 900, 900), ColumnTraits("age", "integer", 900, 60)]
    >>> for guess in guess_roles(traits):
    ...     print(guess.name, guess.role, "-", guess.reason)
    customer_id identifier - a different value in every row
    age confidential - a column of numbers
    """
    guesses = (_guess(column) for column in columns)
    return tuple(
        _exchanged(guess, column) if exchange else guess for guess, column in zip(guesses, columns, strict=True)
    )


def _exchanged(guess: Guess, column: ColumnTraits) -> Guess:
    """Return a guess for a release that exchanges values of every kind."""
    if column.kind == "date" or (column.kind in {"text", "flag"} and guess.role == "keep"):
        return Guess(column.name, "confidential", f"{column.kind} with {column.distinct} different values, exchanged")
    if guess.role == "confidential" and column.detail:
        return Guess(column.name, "confidential", column.detail)
    return guess


def _guess(column: ColumnTraits) -> Guess:
    words = column.name.lower().replace("-", "_").replace(" ", "_").split("_")
    named = next((word for word in words if word in _IDENTIFIER_WORDS), None)
    every = column.rows > 1 and column.distinct == column.rows
    if column.kind == "number":
        return Guess(column.name, "confidential", "a column of numbers")
    if column.kind == "integer":
        if every and (named or (column.rows >= 100 and column.handed_out)):
            return Guess(column.name, "identifier", "whole numbers, a different one in every row")
        if named and column.distinct > column.rows / 2:
            return Guess(column.name, "identifier", f"its name says {named!r}")
        return Guess(column.name, "confidential", "a column of numbers")
    if every:
        return Guess(column.name, "identifier", "a different value in every row")
    if named:
        return Guess(column.name, "identifier", f"its name says {named!r}")
    if column.distinct > max(_FEW_VALUES, column.rows // 20):
        return Guess(column.name, "identifier", f"{column.kind} with many different values: it can single people out")
    return Guess(column.name, "keep", f"{column.kind} with few different values; drop it if it can single people out")
