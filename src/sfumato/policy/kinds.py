"""What a column holds, guessed from a sample of its cells, with the reason and a role: a person must confirm it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from sfumato.files.codes import codes_of, names_people
from sfumato.frames.counted import numbers_in
from sfumato.frames.kinds import guess_number
from sfumato.policy.overview import ColumnOverview
from sfumato.policy.roles import Role, guess_roles

_OF_NUMBERS = ("continuous", "count", "category", "ordered", "date")  # what a policy may say of them
_OF_OTHERS = ("category", "ordered", "date")


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
    roles = guess_roles([column.traits for column in columns])
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
