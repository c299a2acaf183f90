"""The settings of the page as a policy file, and the command line that repeats a release with it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.exceptions import ParameterError
from sfumato.perturb.catalogue import method
from sfumato.policy.model import Column, Columns, Enhance, Guard, MethodChoice, Policy

# methods that go on top of another -> the policy's section, and the names that a policy has for parameters
EXTRAS: dict[str, tuple[str, dict[str, str]]] = {
    "+rho": ("enhance", {"fraction": "fraction"}),
    "guard": ("guard", {"clusterings": "kmeans", "scaling": "scaling"}),
}


def policy_of(
    roles: Mapping[str, str],
    settings: Mapping[str, Any],
    kinds: Mapping[str, str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
) -> Policy:
    """Return the policy of a choice of roles, kinds and settings.

    Parameters
    ----------
    roles : mapping
        Column -> role.
    settings : mapping
        From `checked_settings`.
    kinds : mapping, optional
        Column -> what its owner says it holds.
    orders : mapping, optional
        Column -> its ordered categories, from the lowest.

    Examples
    --------
    >>> chosen = {"method": "adp", "parameters": {"scale": 0.4}, "extras": {}}
    >>> policy = policy_of({"id": "identifier", "age": "confidential"}, chosen)
    >>> policy.columns.identifier, policy.method.name, policy.method.parameters
    (['id'], 'adp', {'scale': 0.4})
    """
    # only what was chosen is set, so that the file shows no section that nobody asked for
    parts: dict[str, Any] = {"method": MethodChoice(name=settings["method"], **page_parameters(settings))}
    listed = {role: [name for name, one in roles.items() if one == role] for role in ("identifier", "keep")}
    if any(listed.values()):
        parts["columns"] = Columns.model_validate({role: names for role, names in listed.items() if names})
    ranks = orders or {}
    said = {
        name: Column.model_validate({"kind": kind, **({"order": list(ranks[name])} if name in ranks else {})})
        for name, kind in (kinds or {}).items()
        if roles.get(name) == "confidential"
    }
    if said:
        parts["column"] = said
    for extra, parameters in settings["extras"].items():
        if extra not in EXTRAS:
            raise ParameterError(f"a policy has no section for {extra}", hint="leave it out")
        section, names = EXTRAS[extra]
        values = {names[name]: "none" if value is None else value for name, value in parameters.items()}
        parts[section] = Enhance.model_validate(values) if section == "enhance" else Guard.model_validate(values)
    return Policy(**parts)


def page_parameters(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of settings, with what the page cannot ask for.

    Examples
    --------
    >>> page_parameters({"method": "dp", "parameters": {"epsilon": 2.0}})
    {'epsilon': 2.0, 'search_bounds': True}
    """
    given = dict(settings["parameters"])
    if method(settings["method"]).draws_rows:
        given.setdefault("search_bounds", True)  # the table itself must not tell the bounds of its columns
    return given


def file_stem(label: str) -> str:
    """Return the name of a file without its ending, in letters that every system takes.

    Examples
    --------
    >>> file_stem("my <b>customers</b>.csv.gz")
    'my-b-customers-b'
    """
    stem = re.sub(r"(\.csv|\.tsv)?\.[A-Za-z0-9]+$", "", label)
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-")[:60] or "table"


def command_line(source: str, target: str, policy: str, key: Path) -> str:
    """Return the command that repeats a release.

    Parameters
    ----------
    source, target, policy : str
        Names of files as the user has them.
    """
    return shlex.join(["sfumato", "release", source, "-o", target, "--policy", policy, "--key", str(key)])
