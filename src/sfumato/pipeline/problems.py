"""All that keeps a table from being released, told at once, with the lines of a policy and the flags to paste."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sfumato.exceptions import DataError, ParameterError, nearest_name
from sfumato.files.faults import Fault, column_faults
from sfumato.files.source import Source
from sfumato.pipeline.plan import is_exchanged
from sfumato.policy.model import Policy

_MOST_LINES = 40


@dataclass(frozen=True)
class Problems:
    """What is wrong, and what can be said about it.

    Attributes
    ----------
    lines : tuple of pairs of str
        A column, and what is wrong with it.
    faults : tuple of Fault
        Of the columns that exist.
    """

    lines: tuple[tuple[str, str], ...]
    faults: tuple[Fault, ...]

    def cured(self, *cures: str) -> list[str]:
        """Return the columns for which one of these can be done, in the order of the table."""
        return list(dict.fromkeys(one.name for one in self.faults if one.cure in cures))


def find_problems(source: Source, policy: Policy, perturber: Any = None) -> Problems:
    """Look at a policy and a whole table, and return everything that keeps it from being released.

    Parameters
    ----------
    source : Source
        As it is stored.
    perturber : Perturber, optional
        Used instead of the policy's method.
    """
    columns = policy.columns
    lines = []
    person = [columns.record_id] if columns.record_id else []
    for name in dict.fromkeys([*columns.identifier, *columns.keep, *person, *policy.column]):
        if name not in source.names:
            near = nearest_name(name, source.names)
            lines.append((name, f"no column {name!r}{'' if near is None else '; ' + near}"))
    dropped = {*columns.identifier, *(one for one in person if one not in columns.keep)}
    outside = dropped | {*columns.keep}
    lines += [
        (name, "rules for a column that is not perturbed")
        for name in policy.column
        if name in source.names and name in outside
    ]
    names = [name for name in source.names if name not in outside]
    kinds = {name: str(one.kind) for name, one in policy.column.items() if one.kind is not None}
    orders = {name: one.order for name, one in policy.column.items() if one.order and name in names}
    exchanged = is_exchanged(source, policy, names, perturber)
    faults = column_faults(source, names, policy.rules(names), exchanged=exchanged, kinds=kinds, orders=orders)
    lines += [(one.name, one.what) for one in faults]
    return Problems(tuple(lines), tuple(faults))


@contextmanager
def told_at_once(source: Source, policy: Policy, perturber: Any = None) -> Iterator[None]:
    """Turn the first problem of a table into all of them, if there are several.

    Parameters
    ----------
    perturber : Perturber, optional
        Used instead of the policy's method.
    """
    found: Problems | None = None
    try:
        yield
    except (DataError, ParameterError):
        found = _found(source, policy, perturber)
        if found is None:
            raise
    if found is not None:
        raise _error(str(source.path), found)


def _found(source: Source, policy: Policy, perturber: Any) -> Problems | None:
    """Return the problems, or None if there are not several: then the first error says it better."""
    try:
        found = find_problems(source, policy, perturber)
    except (DataError, ParameterError):
        return None  # the table cannot be read at all
    return found if len(found.lines) > 1 else None


def _error(what: str, found: Problems) -> DataError:
    width = max(len(name) for name, _ in found.lines)
    shown = [f"  {name:{width}}  {text}" for name, text in found.lines[:_MOST_LINES]]
    more = len(found.lines) - len(shown)
    if more:
        shown.append(f"  and {more} more")
    return DataError("\n".join([f"{what}: {len(found.lines)} problems, all of them:", *shown]), hint=_hint(found))


def _hint(found: Problems) -> str:
    drop = found.cured("drop", "exchange")
    said = []
    if drop:
        said.append(f"drop what names people: identifier={drop!r}; keep=[...] releases as it is")
    if found.cured("exchange"):
        said.append("or leave out the method: texts, flags and dates that people share are then exchanged")
    lines = _policy_lines(drop, found.faults)
    if lines:
        said.append("or in the policy:\n" + "\n".join(f"  {line}" for line in lines))
    if not said:
        said.append("mend the names; they are told letter by letter")
    said.append("a guess at all of it: sfumato policy init, or sfumato release --guess")
    return "\n".join(said)


def _policy_lines(drop: Sequence[str], faults: Sequence[Fault]) -> list[str]:
    """Return the lines of a policy that say what is missing."""
    lines = []
    if drop:
        lines += ["[columns]", f"identifier = {json.dumps(list(drop), ensure_ascii=False)}"]
    for one in faults:
        if one.markers and one.name not in drop:
            marks = json.dumps(list(one.markers), ensure_ascii=False)
            lines += [f"[column.{json.dumps(one.name, ensure_ascii=False)}]", f"missing_values = {marks}"]
    return lines
