"""Releases whose rows are drawn anew: what such a release says must come from the policy, never from the table.

Types, decimals, the places of missing cells and what stands for them would tell of the rows. Here they follow from the
policy and from the types of the columns in a typed file, which are public.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato._arrays import Floats
from sfumato.exceptions import PolicyError
from sfumato.files.coded import CodedColumns
from sfumato.files.codes import listed_codes
from sfumato.files.schema import NumberColumn, Schema
from sfumato.files.source import Described
from sfumato.perturb.mechanism.keyed import KeyedMethod
from sfumato.policy.model import Policy, Roles

_STEPS = 1000  # a column of numbers has at least so many steps between its bounds, unless the policy says otherwise


def check_drawn(policy: Policy, roles: Roles, owner: str) -> None:
    """Raise for what cannot stand beside rows that are drawn anew.

    Parameters
    ----------
    owner : str
        Name of the method.
    """
    if roles.keep:
        raise PolicyError(
            f"{policy.where('columns', 'keep')}{owner} draws new rows, and kept columns are those of the old ones",
            hint="drop them, or let them be drawn, too: a column that stays as it is has no guarantee",
        )
    if policy.columns.relations:
        raise PolicyError(
            f"{policy.where('columns', 'relations')}{owner} draws new rows, which know no relations",
            hint="drop the column that follows from the others, and compute it anew",
        )
    if policy.enhance is not None or policy.guard is not None:
        where = policy.where("enhance") if policy.enhance is not None else policy.where("guard")
        raise PolicyError(
            f"{where}{owner} has a guarantee of its own, and what is put around it looks at the rows",
            hint="leave [enhance] and [guard] out",
        )
    limits = policy.audit
    if limits is not None and (limits.min_grade is not None or limits.max_misclassification is not None):
        raise PolicyError(
            f"{policy.where('audit')}an audit looks at the rows without noise, and a release that depends on what it "
            "finds would tell of them",
            hint="leave min_grade and max_misclassification out, and read the report instead (--report)",
        )


def public_fills(schema: Schema, keyed: KeyedMethod) -> Floats:
    """Return what stands for missing cells: the middle of the bounds, or 0 where they are found privately."""
    ends = [_bounds(column, keyed) for column in schema.numbers]
    return np.array([0.0 if pair is None else pair[0] / 2 + pair[1] / 2 for pair in ends])


def public_schema(schema: Schema, keyed: KeyedMethod) -> Schema:
    """Return the columns of the release, of which nothing comes from the rows."""
    return replace(schema, numbers=tuple(_public(column, keyed) for column in schema.numbers))


def _public(column: NumberColumn, keyed: KeyedMethod) -> NumberColumn:
    pair = _bounds(column, keyed)
    low, high = (-1e6, 1e6) if pair is None else pair
    whole = column.dtype is not None and column.dtype.is_integer()
    decimals = 0 if whole or _is_category(column, keyed) else column.rules.decimals
    if decimals is None:
        decimals = int(np.clip(math.ceil(math.log10(_STEPS / (high - low))), 1, 15))
    kind = "integer" if whole or (column.dtype is None and decimals == 0) else "float64"
    kind = column.kind if column.kind == "float32" else kind  # a type of the file, not of its cells
    return replace(column, kind=kind, decimals=decimals, fewest=min(1, decimals), missing=0, low=low, high=high)


def _is_category(column: NumberColumn, keyed: KeyedMethod) -> bool:
    kinds: Any = getattr(keyed.perturber, "kinds", None) or {}
    return bool(kinds.get(column.name) == "category")


def _bounds(column: NumberColumn, keyed: KeyedMethod) -> tuple[float, float] | None:
    found: tuple[float, float] | None = keyed.perturber.bounds_of(column.name)
    return found


def policy_codes(source: Described, policy: Policy, roles: Roles) -> CodedColumns:
    """Return how columns of categories become numbers, from the categories that the policy lists.

    A missing cell is a category of its own, the last.
    """
    codes = {}
    for name in roles.confidential:
        own = policy.column.get(name)
        if own is None or not (own.categories or own.order or own.kind in {"category", "ordered", "date"}):
            continue
        listed = own.categories or own.order
        if not listed:
            raise PolicyError(
                f"{policy.where('column', name)}the categories of column {name!r} are not listed, and the table itself "
                "must not tell them",
                hint=f'[column.{name}] categories = ["...", "..."]',
            )
        codes[name] = listed_codes(name, listed, source.types.get(name))
    return CodedColumns(codes)
