"""What each column is for, and what it holds: guessed with the reason, for a person to confirm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from sfumato.files.codes import codes_of, names_people
from sfumato.frames.counted import numbers_in
from sfumato.frames.kinds import guess_number
from sfumato.policy.model import Role
from sfumato.policy.overview import ColumnOverview

_OF_NUMBERS = ("continuous", "count", "category", "ordered", "date")  # what a policy may say of them
_OF_OTHERS = ("category", "ordered", "date")
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


@dataclass(frozen=True)
class KindGuess:
    """What a column seems to hold.

    Attributes
    ----------
    name : str
    kind : "continuous", "spiked", "count", "category", "ordered", "flag", "date" or "text"
        "spiked" are numbers of which many rows have the same, "text" is free text or an identifier.
    reason : str
    role : "confidential", "keep" or "identifier"
        Free text and identifiers are dropped unless somebody says so; everything else is perturbed.
    choices : tuple of str
        Kinds that its owner may say it has, as a policy knows them.
    """

    name: str
    kind: str
    reason: str
    role: Role
    choices: tuple[str, ...]


def guess_kinds(columns: Sequence[ColumnOverview], sample: pl.DataFrame) -> tuple[KindGuess, ...]:
    """Guess what the columns of a table hold, and what becomes of them.

    Parameters
    ----------
    sample : polars.DataFrame
        Some rows; no value of them is told.

    Examples
    --------
    >>> sample = pl.DataFrame({"id": [f"C{i}" for i in range(90)], "job": ["cook", "clerk", "nurse"] * 30})
    >>> columns = [ColumnOverview(name, "text", 0, 90, sample[name].n_unique()) for name in sample.columns]
    >>> for guess in guess_kinds(columns, sample):
    ...     print(guess.name, guess.kind, guess.role, "-", guess.reason)
    id text identifier - a different value in every row
    job category confidential - 3 different values
    """
    roles = guess_roles([ColumnTraits(one.name, one.kind, one.sampled, one.distinct) for one in columns])
    out = []
    for column, role in zip(columns, roles, strict=True):
        kind, reason, choices = _look(sample[column.name], column)
        named = role.role == "identifier" and role.reason.startswith("its name says")
        if kind == "text" and role.role == "identifier" and not column.odd:
            reason = role.reason
        elif named:
            reason = f"{reason}; {role.reason}"
        dropped = kind == "text" or named
        out.append(KindGuess(column.name, kind, reason, "identifier" if dropped else "confidential", choices))
    return tuple(out)


def _look(cells: pl.Series, column: ColumnOverview) -> tuple[str, str, tuple[str, ...]]:
    """Return kind, reason, and what else it may be said to hold."""
    values = numbers_in(cells)
    if values is not None:
        held = values.drop_nulls()
        if names_people(held.unique(), len(held)):
            return "text", "whole numbers, a different one in every row", _OF_NUMBERS
        if not len(held):
            return "text", "no value at all", ()
        guess = guess_number(held.to_numpy().astype("float64"), integer=held.dtype.is_integer())
        two = held.n_unique() <= 2
        kind = "flag" if two else "spiked" if guess.held else guess.kind
        markers = "; marks of missing values among them" if column.odd else ""
        return kind, guess.reason + markers, _OF_NUMBERS
    if column.odd:
        return "text", column.odd, _OF_OTHERS
    held = cells.drop_nulls()
    held = held.filter(held != "") if held.dtype == pl.String else held
    codes = codes_of(held, gaps=False, rows=len(held)) if len(held) else None
    if codes is None:
        return "text", f"{column.distinct:,} different values in {len(held):,} cells, hardly shared", _OF_OTHERS
    kind = "date" if codes.kind == "count" else "flag" if len(codes.levels) <= 2 else "category"
    return kind, codes.reason, _OF_OTHERS
