"""What a release will do, settled before a row is read: policy, roles, and the method, made from the catalogue."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sfumato.core.keys import Key
from sfumato.core.relations import Relation, coded_relation, parse_relation
from sfumato.core.secret import Hidden
from sfumato.exceptions import DataError, ParameterError, PolicyError, SfumatoError, nearest_name
from sfumato.files.coded import CodedColumns, CodedSource, learn_columns
from sfumato.files.source import Described, require_columns
from sfumato.perturb.catalogue import DEFAULT_METHOD, method, methods
from sfumato.perturb.catalogue.entries import Method
from sfumato.perturb.mechanism.keyed import KeyedMethod
from sfumato.perturb.mechanism.parameters import check_parameter
from sfumato.pipeline.drawn import check_drawn, policy_codes
from sfumato.pipeline.engines.engine import Cells
from sfumato.policy.first_rows import has_other_kinds
from sfumato.policy.model import Column, Detail, MethodChoice, Policy, Roles
from sfumato.policy.reading import read_policy

_FEW_PEOPLE = 5  # fewer have a rare category, unless the method says otherwise
T = TypeVar("T", bound=Any)
EXCHANGE = "exchange"  # the method that takes every kind of column


@dataclass(frozen=True, repr=False)
class Plan(Hidden):
    """A release before it begins.

    Attributes
    ----------
    policy : Policy
        With everything that overrides it.
    roles : Roles
    cells : Cells
        How raw rows become numbers.
    keyed : KeyedMethod
        The method.
    order : tuple of str
        Released columns that keep their place.
    kinds : dict from columns to str
        What a method that exchanges values is told: "continuous", "count" or "category".
    relations : tuple of Relation, optional
        What must hold in every released row; None if nobody said, and a method may look for itself.
    """

    policy: Policy
    roles: Roles
    cells: Cells
    keyed: KeyedMethod
    order: tuple[str, ...]
    kinds: dict[str, str] = field(default_factory=dict)
    relations: tuple[Relation, ...] | None = None


def settle_policy(
    policy: Policy | str | os.PathLike[str] | None,
    method: Any = None,
    parameters: Mapping[str, Any] | None = None,
    identifier: Sequence[str] = (),
    keep: Sequence[str] = (),
    *,
    record_id: str | None = None,
    name: str | None = None,
    shuffle: bool | None = None,
    row_id: bool | None = None,
    scale: str | None = None,
    detail: str | Mapping[str, Any] | None = None,
    clusterings: Sequence[int | str] | None = None,
    repeated: str | None = None,
    history: Sequence[str | os.PathLike[str]] = (),
) -> Policy:
    """Return a policy with what overrides it; see `sfumato.release` for the parameters."""
    base = Policy() if policy is None else policy if isinstance(policy, Policy) else read_policy(policy)
    settled = base.model_copy(deep=True)
    columns = settled.columns
    columns.identifier = [one for one in columns.identifier if one not in keep]
    columns.keep = [one for one in columns.keep if one not in identifier]
    columns.identifier += [one for one in identifier if one not in columns.identifier]
    columns.keep += [one for one in keep if one not in columns.keep]
    if record_id is not None:
        columns.record_id = record_id
    if name is not None:
        settled.release.name = name
    if shuffle is not None:
        settled.release.shuffle = shuffle
    if row_id is not None:
        settled.release.row_id = row_id
    if scale is not None:
        if scale not in ("std", "range"):
            raise ParameterError(f"scale must be 'std' or 'range', got {scale!r}")
        settled.release.scale = "range" if scale == "range" else "std"
    if repeated is not None:
        if repeated not in ("warn", "error"):
            raise ParameterError(f"repeated must be 'warn' or 'error', got {repeated!r}")
        settled.release.repeated = "error" if repeated == "error" else "warn"
    settled.release.history = [*settled.release.history, *(os.fspath(folder) for folder in history)]
    if detail is not None:
        settled.detail = Detail.of(detail)
    if clusterings is not None:
        settled.clusterings = [clusterings] if isinstance(clusterings, str) else list(clusterings)
    if isinstance(method, str) and (settled.method is None or settled.method.name != method):
        settled.method = MethodChoice(name=method)
    if parameters:
        chosen = settled.method
        if chosen is None:
            settled.method = MethodChoice.unnamed(DEFAULT_METHOD, parameters)
        else:
            settled.method = MethodChoice(name=chosen.name, **{**chosen.parameters, **parameters})
    return settled


def make_plan(source: Described, policy: Policy, key: Key, perturber: Any = None) -> Plan:
    """Settle what a release will do, or raise for what cannot be.

    Parameters
    ----------
    perturber : Perturber, optional
        Used instead of the policy's method.
    """
    what = str(source.path)
    columns = policy.columns
    roles = columns.roles(source.names, what)
    _require_numbers(source, roles)
    require_columns(list(policy.column), source.names, policy.where("column").removesuffix(": ") or what)
    for name in policy.column:
        if name not in roles.confidential:
            raise PolicyError(
                f"{policy.where('column', name)}rules for column {name!r}, which is not perturbed",
                hint="rules are for confidential columns; remove them, or take it out of the other lists",
            )
    keyed = build_keyed(policy, key, perturber)
    bounded = [name for name, rules in policy.column.items() if rules.bounds is not None]
    if keyed.invertible and bounded:
        raise ParameterError(
            f"bounds on column {bounded[0]!r} and a method that can be undone: clipped values could not be restored",
            hint="remove the bounds, or choose another method",
        )
    if columns.record_id is not None and keyed.tier == "table":
        raise ParameterError(
            "a record id keys the noise of rows that are perturbed one by one, and this method groups them",
            hint="leave out record_id=..., or choose another method",
        )
    if keyed.draws_rows:
        check_drawn(policy, roles, type(keyed.perturber).__name__)
    id_subkey = None if columns.record_id is None else key.derive("record id", policy.release.name)
    cells = Cells(roles, policy.rules(roles.confidential), what, id_subkey, by_number=keyed.draws_rows)
    released = {*roles.keep, *roles.confidential}
    order = tuple(name for name in source.names if name in released)
    said = {name: one.kind for name, one in policy.column.items() if one.kind in {"continuous", "count"}}
    coded: CodedColumns = getattr(source, "coded", CodedColumns())
    return Plan(policy, roles, cells, keyed, order, {**said, **coded.kinds}, _relations(policy, roles, coded))


def read_every_kind(
    source: T, policy: Policy, perturber: Any = None, learn: Any = learn_columns, counted_as: Any = CodedSource
) -> tuple[T, Policy]:
    """Return a table whose texts, flags and dates are counted, if they are to be exchanged; and the policy for it.

    A table with such columns, or with codes, counts and spikes, is exchanged unless somebody names another method.

    Parameters
    ----------
    perturber : Perturber, optional
        Used instead of the policy's method.
    learn, counted_as : callables
        How the columns of such a table are learnt, and what it is when they are counted.
    """
    roles = policy.columns.roles(source.names, str(source.path))
    said = {name: str(one.kind) for name, one in policy.column.items() if one.kind is not None}
    named = policy.method is not None and policy.method.named
    chosen = perturber.method_id if perturber is not None else policy.method.name if policy.method else None
    if chosen is not None and _draws_rows(chosen):
        codes = policy_codes(source, policy, roles)
        return (counted_as(source, codes) if codes.codes else source), policy
    if not is_exchanged(source, policy, roles.confidential, perturber):
        return source, policy
    if not named and perturber is None:
        parameters = policy.method.parameters if policy.method else {}
        policy = policy.model_copy(update={"method": MethodChoice(name=EXCHANGE, **parameters)})
    orders = {name: one.order for name, one in policy.column.items() if one.order}
    least = int((policy.method.parameters if policy.method else {}).get("min_atom", _FEW_PEOPLE))
    coded = learn(source, roles.confidential, said, orders, _rare(policy, roles), least)
    for name, markers in coded.markers.items():
        own = policy.column.setdefault(name, Column())
        own.missing_values = [*own.missing_values, *(one for one in markers if one not in own.missing_values)]
    return counted_as(source, coded), policy


def is_exchanged(source: Any, policy: Policy, names: Sequence[str], perturber: Any = None) -> bool:
    """Tell whether a table is released by the method that takes every kind of column: asked for, or because it must.

    Parameters
    ----------
    names : sequence of str
        The columns to be perturbed.
    """
    if perturber is not None or (policy.method is not None and policy.method.named):
        return (perturber.method_id if perturber is not None else policy.method.name) == EXCHANGE  # type: ignore[union-attr]
    if policy.enhance is not None or policy.guard is not None:
        return False
    counted = any(one.kind in {"category", "ordered", "date"} for one in policy.column.values())
    return counted or bool(policy.columns.relations) or has_other_kinds(source, names)


def _draws_rows(name: str) -> bool:
    return any(row.draws_rows and name in {row.id, row.name} for row in methods())


def _rare(policy: Policy, roles: Roles) -> dict[str, str]:
    """Return what becomes of the rare categories of each column; those that only move are left out."""
    rules = dict.fromkeys(roles.confidential, policy.columns.rare)
    rules.update({name: one.rare for name, one in policy.column.items() if one.rare is not None})
    return {name: rule for name, rule in rules.items() if rule != "move"}


def _relations(policy: Policy, roles: Roles, coded: CodedColumns) -> tuple[Relation, ...] | None:
    """Return what must hold in every released row, in numbers."""
    declared = policy.columns.relations
    if declared is None:
        return None
    codes = {name: one.by_text() for name, one in coded.codes.items()}
    where = policy.where("columns", "relations")
    out = []
    for text in declared:
        relation = parse_relation(text)
        unknown = [name for name in relation.columns if name not in roles.confidential]
        if unknown:
            raise PolicyError(
                f"{where}the relation {text!r} names {unknown[0]!r}, which is no perturbed column",
                hint="relations bind columns that are perturbed: " + ", ".join(roles.confidential),
            )
        out.append(coded_relation(relation, codes))
    return tuple(out)


def _require_numbers(source: Described, roles: Roles) -> None:
    for name in roles.confidential:
        dtype = source.types.get(name)
        if dtype is not None and not dtype.is_numeric():
            raise DataError(
                f"{source.path}: column {name!r} holds {dtype}, not numbers, and nothing says what to do with it",
                hint=f"drop it with identifier=[{name!r}], or release it unchanged with keep=[{name!r}]",
            )


def build_keyed(policy: Policy, key: Key, perturber: Any = None) -> KeyedMethod:
    """Return the method of a policy, ready to run.

    Parameters
    ----------
    perturber : Perturber, optional
        Used instead of the policy's method; its key and columns are not.
    """
    made = build_perturber(policy) if perturber is None else perturber
    return KeyedMethod(made, key, release=policy.release.name)


def build_perturber(policy: Policy) -> Any:
    """Return the perturber of a policy: its method, enhanced and guarded as it says."""
    row = _row(policy)
    parameters = policy.method.parameters if policy.method else {}
    for name, asked in (("detail", policy.detail), ("clusterings", policy.clusterings)):
        if asked is None:
            continue
        if not any(parameter.name == name for parameter in row.parameters):
            raise PolicyError(
                f"{policy.where(name)}{row.name} [{row.id}] keeps no ladder of clusterings", hint=f"leave {name} out"
            )
        parameters = {name: asked.parameter if isinstance(asked, Detail) else tuple(asked), **parameters}
    if policy.release.scale == "range" and any(parameter.name == "scaling" for parameter in row.parameters):
        parameters = {"scaling": "round range", **parameters}  # what the miner will see is what is kept
    check_settings(row, parameters, policy)
    perturber = row.load()(**parameters)
    if policy.enhance is not None:
        laws = policy.enhance.distributions
        given = None if laws is None else [tuple(law) for law in laws]
        perturber = method("+rho").load()(perturber, fraction=policy.enhance.fraction, distributions=given)
    if policy.guard is not None:
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
        where = policy.where("method", name) if policy.method else policy.where(name)
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
