"""The perturber that a policy asks for, made from the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.core.keys import Key
from sfumato.exceptions import ParameterError, PolicyError, SfumatoError
from sfumato.perturb.catalogue import DEFAULT_METHOD, METHODS, method
from sfumato.perturb.catalogue.entries import Method
from sfumato.perturb.mechanism.drive import Drive
from sfumato.perturb.mechanism.parameters import check_parameter, nearest_name
from sfumato.policy.model import Policy


def build_drive(policy: Policy, key: Key, perturber: Any = None) -> Drive:
    """Return the method of a policy, ready to run.

    Parameters
    ----------
    perturber : Perturber, optional
        Used instead of the policy's method; its key and columns are not.
    """
    made = build_perturber(policy) if perturber is None else perturber
    return Drive(made, key, release=policy.release.name)


def build_perturber(policy: Policy) -> Any:
    """Return the perturber of a policy: its method, enhanced and guarded as it says."""
    row = _row(policy)
    parameters = policy.method.parameters if policy.method else {}
    check_settings(row, parameters, policy)
    perturber = row.load()(**parameters)
    if policy.enhance is not None:
        laws = policy.enhance.distributions
        given = None if laws is None else [tuple(law) for law in laws]
        perturber = method("+rho").load()(perturber, fraction=policy.enhance.fraction, distributions=given)
    if policy.guard is not None:
        if not any(row.id == "guard" for row in METHODS):
            raise PolicyError(f"{policy.where('guard')}this version has no guard", hint="leave [guard] out")
        scaling = None if policy.guard.scaling == "none" else policy.guard.scaling
        perturber = method("guard").load()(perturber, clusterings=tuple(policy.guard.kmeans), scaling=scaling)
    return perturber


def _row(policy: Policy) -> Method:
    if policy.method is None:
        return method(DEFAULT_METHOD)
    problem: SfumatoError
    try:
        row = method(policy.method.name)
    except ParameterError as error:
        problem = error
    else:
        if not row.wraps:
            return row
        problem = ParameterError(f"{row.name} wraps another method", hint="use [enhance] or [guard] in the policy")
    raise PolicyError(f"{policy.where('method', 'name')}{problem.message}", hint=problem.hint)


def check_settings(row: Method, parameters: Mapping[str, Any], policy: Policy) -> None:
    """Raise for unknown, secret or impossible parameters, with the line of the policy.

    Parameters
    ----------
    policy : Policy
        Knows the lines.
    """
    known = {parameter.name: parameter for parameter in row.parameters}
    for name, value in parameters.items():
        where = policy.where("method", name)
        if name not in known:
            near = nearest_name(name, list(known))
            listed = ", ".join(known) or "none"
            raise PolicyError(
                f"{where}{row.name} [{row.id}] has no parameter {name!r}",
                hint=f"{near + ' ' if near else ''}its parameters are: {listed}",
            )
        if known[name].secret:
            raise PolicyError(
                f"{where}{name} of {row.name} is a secret, and a policy or a command line holds none",
                hint="leave it out and the key draws it, or use the Python interface",
            )
        try:
            check_parameter(known[name], value, owner=row.name)
        except ParameterError as error:
            hint = error.hint or f"`sfumato methods {row.id}` says what it takes"
            raise PolicyError(f"{where}{error.message}", hint=hint) from None
