"""A policy as TOML text, with a comment where a person should look."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sfumato.policy.guesses import Guess
from sfumato.policy.model import Policy


def first_policy(guesses: Sequence[Guess], relations: Sequence[str] = ()) -> str:
    """Return a policy to begin with: the guessed roles and their reasons.

    Parameters
    ----------
    relations : sequence of str
        What the first rows keep.

    Examples
    --------
    >>> print(first_policy([Guess("id", "identifier", "a different value in every row"),
    ...                     Guess("age", "confidential", "a column of numbers")]))
    # What may be released, and how. Guessed from the first rows: check every line.
    [columns]
    identifier = [   # dropped
      "id",   # a different value in every row
    ]
    keep = []   # released unchanged
    # perturbed: every other column
    #   "age"   a column of numbers
    <BLANKLINE>
    # [column.NAME]
    # bounds = [0, 120]   # released values stay inside
    # decimals = 0        # coarser than the data
    # missing_values = ["NA"]
    # kind = "category"   # or "ordered" (with order = [...]), "date", "count", "continuous"
    <BLANKLINE>
    # [method]            # without it the default method; see: sfumato methods
    # name = "ina"
    <BLANKLINE>
    # [audit]             # the file appears only if an audit finds this
    # max_misclassification = 0.05
    # min_grade = "B"
    <BLANKLINE>
    """
    lines = ["# What may be released, and how. Guessed from the first rows: check every line.", "[columns]"]
    for role, meaning in (("identifier", "dropped"), ("keep", "released unchanged")):
        chosen = [guess for guess in guesses if guess.role == role]
        if not chosen:
            lines.append(f"{role} = []   # {meaning}")
            continue
        lines.append(f"{role} = [   # {meaning}")
        lines += [f"  {_value(guess.name)},   # {guess.reason}" for guess in chosen]
        lines.append("]")
    lines.append("# perturbed: every other column")
    lines += [f"#   {_value(guess.name)}   {guess.reason}" for guess in guesses if guess.role == "confidential"]
    if relations:
        lines.append("relations = [   # hold in the first rows, and will in every released one; strike what need not")
        lines += [f"  {_value(text)}," for text in relations]
        lines.append("]")
    return "\n".join(lines) + _REST


_REST = """

# [column.NAME]
# bounds = [0, 120]   # released values stay inside
# decimals = 0        # coarser than the data
# missing_values = ["NA"]
# kind = "category"   # or "ordered" (with order = [...]), "date", "count", "continuous"

# [method]            # without it the default method; see: sfumato methods
# name = "ina"

# [audit]             # the file appears only if an audit finds this
# max_misclassification = 0.05
# min_grade = "B"
"""


def policy_text(policy: Policy) -> str:
    r"""Return a policy as TOML that reads back as the same policy.

    Examples
    --------
    >>> from sfumato.policy.reading import parse_policy
    >>> print(policy_text(parse_policy('[method]\nname = "adp"\nscale = 0.5')))
    [method]
    name = "adp"
    scale = 0.5
    <BLANKLINE>
    """
    data = policy.model_dump(exclude_defaults=True)
    top = [f"{name} = {_value(value)}" for name, value in data.items() if not isinstance(value, dict)]
    sections = [_section(name, value) for name, value in data.items() if isinstance(value, dict) and name != "column"]
    sections += [_section(f"column.{_value(name)}", rules) for name, rules in data.get("column", {}).items()]
    return "\n".join([*top, *sections])


def _section(name: str, values: dict[str, Any]) -> str:
    lines = [f"{key} = {_value(value)}" for key, value in values.items() if value is not None]
    return "\n".join([f"[{name}]", *lines]) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
