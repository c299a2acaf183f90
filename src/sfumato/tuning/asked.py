"""What a policy asks of a comparison and a search: roles of columns, marks of missing values, a method, limits."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from sfumato.files.entire import without_markers
from sfumato.frames.frame import all_columns, as_polars, is_dataframe
from sfumato.policy.model import Policy
from sfumato.policy.reading import read_policy
from sfumato.tuning.settings import Setting

PolicyLike = Policy | str | os.PathLike[str] | None


def asked_policy(policy: PolicyLike, identifier: Sequence[str] = (), keep: Sequence[str] = ()) -> Policy:
    """Return a policy with the columns that somebody has named over it.

    Parameters
    ----------
    policy : Policy or path, optional
    identifier, keep : sequences of str
        Columns that a release drops, and those that it leaves as they are.

    Examples
    --------
    >>> from sfumato.policy.model import Columns
    >>> asked_policy(Policy(columns=Columns(identifier=["id", "town"])), keep=["town"]).columns.identifier
    ['id']
    """
    base = Policy() if policy is None else policy if isinstance(policy, Policy) else read_policy(policy)
    made = base.model_copy(deep=True)
    columns = made.columns
    person = [columns.record_id] if columns.record_id else []
    dropped = [*columns.identifier, *identifier, *person]
    columns.keep = list(dict.fromkeys([*(one for one in columns.keep if one not in identifier), *keep]))
    columns.identifier = list(dict.fromkeys(one for one in dropped if one not in columns.keep))
    return made


def marked_table(table: Any, policy: Policy) -> Any:
    """Return a table whose marks of missing values are gaps, as the policy says; the table itself if it says nothing.

    Parameters
    ----------
    table : dataframe or array
    """
    if not is_dataframe(table):
        return table
    rules = policy.rules([name for name in all_columns(table) if name not in policy.columns.keep])
    markers = {name: one.missing_values for name, one in rules.items() if one.missing_values}
    return without_markers(as_polars(table), markers) if markers else table


def policy_bounds(policy: Policy) -> dict[str, tuple[float, float]]:
    r"""Return the bounds that a policy gives columns.

    Examples
    --------
    >>> from sfumato.policy.reading import parse_policy
    >>> policy_bounds(parse_policy("[column.age]\nbounds = [0, 120]"))
    {'age': (0.0, 120.0)}
    """
    given = {name: own.bounds for name, own in policy.column.items()}
    return {name: (float(own[0]), float(own[1])) for name, own in given.items() if own is not None}


def policy_setting(policy: Policy) -> Setting | None:
    r"""Return the method of a policy as a setting; None if it names none.

    Examples
    --------
    >>> from sfumato.policy.reading import parse_policy
    >>> policy_setting(parse_policy('[method]\nname = "adp"\nscale = 0.5')).label
    'adp (policy)'
    """
    if policy.method is None:
        return None
    given = {
        name: tuple(value) if isinstance(value, list) else value for name, value in policy.method.parameters.items()
    }
    if policy.detail is not None:
        given.setdefault("detail", policy.detail.parameter)
    setting = Setting(policy.method.name, given, "policy")
    if policy.enhance is not None:
        laws = policy.enhance.distributions
        more = {} if laws is None else {"distributions": [tuple(law) for law in laws]}
        setting = Setting("+rho", {"fraction": policy.enhance.fraction, **more}, "policy", setting)
    if policy.guard is not None:
        scaling = None if policy.guard.scaling == "none" else policy.guard.scaling
        setting = Setting("guard", {"clusterings": tuple(policy.guard.kmeans), "scaling": scaling}, "policy", setting)
    return setting
