"""Relations between columns that every row keeps: `total = a + b`, `from <= to`, `x = -1 exactly where y = 0`.

Operators stand between spaces, so that names may hold signs; names with spaces may stand in double quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato._arrays import Flags, Floats
from sfumato.exceptions import ParameterError

MOST_PAIRS = 50_000  # pairs of columns that are looked at
MISSING = "missing"  # the value of a missing cell
_TOLERANCE = 1e-9
_ORDERS = (" <= ", " >= ", " < ", " > ")
_FORMS = '"total = a + b", "from <= to", "x = -1 exactly where y = 0", "x = missing where y = no"'


@dataclass(frozen=True)
class Relation:
    """What holds in every row.

    Attributes
    ----------
    text : str
        As it was written.
    kind : "sum", "order" or "where"
    left : str
        The column on the left.
    terms : tuple of (float, str)
        Of a sum: factors and columns on the right. Of an order: the larger column alone.
    constant : float
        Of a sum.
    strict : bool
        Of an order: whether equal values break it. Of "where": whether it holds both ways ("exactly").
    values : pair of str
        Of "where": the value of each of the two columns.
    """

    text: str
    kind: str
    left: str
    terms: tuple[tuple[float, str], ...]
    constant: float = 0.0
    strict: bool = False
    values: tuple[str, str] = ("", "")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it binds."""
        return (self.left, *(name for _, name in self.terms))

    def broken(self, column: Callable[[str], Floats], decimals: Mapping[str, int | None] | None = None) -> Flags:
        """Return which rows break it; sums and orders say nothing about rows with a missing cell.

        Parameters
        ----------
        column : callable
            Returns the numbers of a column; NaN where a cell is missing.
        decimals : mapping, optional
            Decimals of columns: a sum that is written with fewer than its terms may be rounded.
        """
        left = column(self.left)
        if self.kind == "where":
            here = _equals(left, self.values[0])
            there = _equals(column(self.terms[0][1]), self.values[1])
            return here != there if self.strict else there & ~here
        with np.errstate(invalid="ignore"):
            if self.kind == "order":
                right = column(self.terms[0][1])
                wrong: Flags = ~(left < right) if self.strict else ~(left <= right)
                return wrong & ~(np.isnan(left) | np.isnan(right))
            right, size = self.total(column), np.abs(left)
            for factor, name in self.terms:
                size = np.maximum(size, np.abs(factor * column(name)))
            gap = np.abs(left - right) > self._slack(decimals or {}) + _TOLERANCE * np.maximum(size, 1.0)
            return gap & ~np.isnan(left - right)

    def total(self, column: Callable[[str], Floats]) -> Floats:
        """Return the right side of a sum."""
        total = np.asarray(column(self.terms[0][1]) * self.terms[0][0] + self.constant)
        for factor, name in self.terms[1:]:
            total = total + factor * column(name)
        return total

    def _slack(self, decimals: Mapping[str, int | None]) -> float:
        own = decimals.get(self.left)
        if own is None:
            return 0.0
        finer = [decimals.get(name) for _, name in self.terms]
        return 0.5 * 10.0**-own if any(one is None or one > own for one in finer) else 0.0


def parse_relation(text: str) -> Relation:
    """Read a relation.

    Examples
    --------
    >>> parse_relation("total = a + 2 * b").terms
    ((1.0, 'a'), (2.0, 'b'))
    >>> parse_relation('"paid back" >= due').columns
    ('due', 'paid back')
    """
    for word, exactly in ((" exactly where ", True), (" where ", False)):
        if word in text:
            (one, first), (other, second) = (_condition(part, text) for part in text.split(word, 1))
            return Relation(text, "where", one, ((1.0, other),), strict=exactly, values=(first, second))
    for sign in _ORDERS:
        if sign in text:
            one, other = (_name(part, text) for part in text.split(sign, 1))
            if ">" in sign:
                one, other = other, one
            return Relation(text, "order", one, ((1.0, other),), strict="=" not in sign)
    if " = " not in text:
        raise _not_read(text)
    left, right = text.split(" = ", 1)
    terms, constant = [], 0.0
    for sign_of, part in zip(*_signed(right), strict=True):
        factor, _, name = part.rpartition(" * ")
        number = _number(name)
        scale = sign_of * (_number(factor) or 0.0 if factor else 1.0)
        if scale == 0.0:
            raise _not_read(text)
        if number is not None:
            constant += scale * number
        else:
            terms.append((scale, _name(name, text)))
    if not terms:
        raise _not_read(text)
    return Relation(text, "sum", _name(left, text), tuple(terms), constant)


def relation_problem(text: str) -> str:
    """Return why a text is no relation; nothing if it is one."""
    try:
        parse_relation(text)
    except ParameterError as error:
        return f"{error.message}: {error.hint}"
    return ""


def coded_relation(relation: Relation, codes: Mapping[str, Mapping[str, float]]) -> Relation:
    """Return a relation whose values are the numbers of columns that are counted.

    Parameters
    ----------
    codes : mapping from columns to mappings from values to numbers
        Columns that are not there hold numbers themselves.
    """
    if relation.kind != "where":
        return relation
    found = []
    for name, value in zip(relation.columns, relation.values, strict=True):
        known = codes.get(name, {})
        number = known.get(value, None if known else _number(value))
        if number is None and value != MISSING:
            raise ParameterError(
                f"the relation {relation.text!r} names a value that column {name!r} does not have",
                hint="take a value of the column, or missing",
            )
        found.append(MISSING if number is None else repr(float(number)))
    text = f'"{relation.left}" = {found[0]} {"exactly " if relation.strict else ""}where "{relation.terms[0][1]}" = '
    return replace(relation, values=(found[0], found[1]), text=text + found[1])


def bound_groups(relations: Sequence[Relation]) -> list[set[str]]:
    """Return the columns that relations bind together, directly or by way of others.

    Examples
    --------
    >>> groups = bound_groups([parse_relation("c = a + b"), parse_relation("d < c"), parse_relation("x <= y")])
    >>> [sorted(group) for group in groups]
    [['a', 'b', 'c', 'd'], ['x', 'y']]
    """
    groups: list[set[str]] = []
    for relation in relations:
        near = [group for group in groups if group & set(relation.columns)]
        groups = [group for group in groups if group not in near]
        groups.append(set(relation.columns).union(*near))
    return groups


def _equals(values: Floats, value: str) -> Flags:
    return np.isnan(values) if value == MISSING else values == float(value)


def _signed(text: str) -> tuple[list[float], list[str]]:
    """Return the signs and the parts of a sum."""
    parts = re.split(r" ([+-]) ", text.strip())
    return [1.0, *(1.0 if sign == "+" else -1.0 for sign in parts[1::2])], [part.strip() for part in parts[::2]]


def _condition(text: str, whole: str) -> tuple[str, str]:
    name, sign, value = text.partition(" = ")
    if not sign or not value.strip():
        raise _not_read(whole)
    return _name(name, whole), value.strip().strip('"')


def _name(text: str, whole: str) -> str:
    name = text.strip()
    if len(name) > 1 and name[0] == name[-1] == '"':
        name = name[1:-1]
    if not name:
        raise _not_read(whole)
    return name


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _not_read(text: str) -> ParameterError:
    return ParameterError(f"{text!r} is no relation", hint=f"such as {_FORMS}; with spaces around the signs")


def near_pairs(columns: Sequence[int], most: int = MOST_PAIRS) -> list[tuple[int, int]]:
    """Return all pairs of columns, or of a wide table those that stand near one another: no more than linearly many.

    Parameters
    ----------
    columns : sequence of int
        In their order.
    most : int
        Pairs, unless each column is to have at least one neighbour.

    Examples
    --------
    >>> near_pairs([0, 2, 5])
    [(0, 2), (0, 5), (2, 5)]
    >>> near_pairs([0, 1, 2, 3], 4)
    [(0, 1), (1, 2), (2, 3)]
    """
    count = len(columns)
    reach = count if count * (count - 1) // 2 <= most else max(1, most // count)
    return [(one, other) for at, one in enumerate(columns) for other in columns[at + 1 : at + 1 + reach]]
