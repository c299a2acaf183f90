"""What the page knows of the catalogue, and back: a choice of method and sliders as perturber and policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.attack.catalogue import entry
from sfumato.core.keys import Key
from sfumato.exceptions import ParameterError
from sfumato.perturb.catalogue import method, methods
from sfumato.perturb.catalogue.breaks import Break
from sfumato.perturb.catalogue.entries import Method
from sfumato.perturb.mechanism.parameters import Parameter, check_parameter
from sfumato.studio.policies import EXTRAS, page_parameters
from sfumato.studio.session import EXCHANGE
from sfumato.studio.sliders import CONTROLS, SHOWN, control

Settings = dict[str, Any]
_BOUNDS = {"bounds", "search_bounds"}
_FOUND = "found privately, for a tenth of epsilon"
CLUSTERS = (2, 3, 4, 5, 6, 7, 8)  # numbers of clusters that previews look at


def catalogue_data() -> list[dict[str, Any]]:
    """Return every method as the page shows it; a new row of the catalogue appears by itself."""
    return [
        {
            "id": row.id,
            "name": _words(row.name),
            "summary": row.summary,
            "paper": f"{row.paper.authors}, {row.paper.year}",
            "wraps": row.wraps,
            "tier": row.tier,
            "invertible": row.invertible,
            "keeps_distances": row.keeps_distances,
            "same_columns": row.row_preserving,
            "takes_every_kind": row.id == EXCHANGE,
            "draws_rows": row.draws_rows,
            "breaks": [_break_data(one) for one in row.known_breaks],
            "parameters": _controls(row),
        }
        for row in methods()
        if not row.wraps or row.id in EXTRAS
    ]


def _controls(row: Method) -> list[dict[str, Any]]:
    shown = [control(parameter) for parameter in row.parameters if _is_shown(row, parameter)]
    if row.draws_rows:  # the page cannot ask for bounds of columns: see `page_parameters`
        shown = [one for one in shown if one["name"] not in _BOUNDS]
        shown += [{**control(one), "text": _FOUND} for one in row.parameters if one.name == "bounds"]
    return sorted(shown, key=lambda one: CONTROLS.index(one["control"]))  # what moves comes first


def _is_shown(row: Method, parameter: Parameter) -> bool:
    if row.wraps and parameter.name not in EXTRAS[row.id][1]:
        return False
    # what the page cannot ask for is worth a line only if it says something
    return parameter.secret or parameter.kind in SHOWN or parameter.default is not None


def _break_data(one: Break) -> dict[str, str]:
    conditions = [f"with {name} = {value}" for name, value in one.when.items()]
    conditions += ["in tables of few columns"] if one.dense else []
    when = f", {', '.join(conditions)}" if conditions else ""
    return {"cost": one.cost, "name": entry(one.attack).name, "when": when}


def checked_settings(data: Any) -> Settings:
    """Return settings that came from the page in one shape, or raise.

    Parameters
    ----------
    data : mapping
        {"method": id, "parameters": {name: value}, "extras": {id: {name: value}}}
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("method"), str):
        raise ParameterError("no method was chosen")
    row = method(data["method"])
    if row.wraps:
        raise ParameterError(f"{row.name} goes on top of another method", hint="choose that method first")
    extras = data.get("extras") or {}
    if not isinstance(extras, Mapping):
        raise ParameterError("extras must name methods")
    wrappers = [other for other in methods() if other.wraps and other.id in extras]
    return {
        "method": row.id,
        "parameters": _checked_parameters(row, data.get("parameters")),
        "extras": {other.id: _checked_parameters(other, extras[other.id]) for other in wrappers},
    }


def perturber_of(settings: Settings, key: Key, columns: list[str]) -> Any:
    """Return the perturber that checked settings describe.

    Parameters
    ----------
    settings : dict
        From `checked_settings`.
    columns : list of str
        Names of the confidential columns.
    """
    given = page_parameters(settings)
    # rows that are drawn anew have no columns beside them
    chosen = {} if method(settings["method"]).draws_rows else {"columns": columns}
    made = method(settings["method"]).load()(key=key, **chosen, **given)
    for name, parameters in settings["extras"].items():
        made = method(name).load()(made, key=key, columns=columns, **parameters)
    return made


def _checked_parameters(row: Method, given: Any) -> dict[str, Any]:
    rows: dict[str, Parameter] = {parameter.name: parameter for parameter in row.parameters}
    given = given or {}
    if not isinstance(given, Mapping):
        raise ParameterError(f"{row.name}: parameters must have names")
    out: dict[str, Any] = {}
    for name, value in given.items():
        if name not in rows or rows[name].kind == "perturber":
            raise ParameterError(f"{row.name}: no parameter {name!r}", hint=f"parameters are: {', '.join(rows)}")
        if rows[name].secret and value is not None:
            raise ParameterError(f"{row.name}: {name} is drawn by the key", hint="use the library to set it")
        if rows[name].kind == "number" and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)  # a browser writes 1.0 as 1; the key's stream must not depend on it
        check_parameter(rows[name], value, owner=row.name)
        out[name] = value
    return {name: out[name] for name in rows if name in out and out[name] != rows[name].default}


def _words(name: str) -> str:
    """Return a class name as words.

    Examples
    --------
    >>> _words("AdditiveNoise"), _words("PCAProjection")
    ('Additive noise', 'PCA projection')
    """
    parts: list[str] = []
    for i, letter in enumerate(name):
        starts = letter.isupper() and (i == 0 or name[i - 1].islower() or name[i + 1 : i + 2].islower())
        if starts:
            parts.append(letter)
        else:
            parts[-1] += letter
    return " ".join(part if i == 0 or part.isupper() else part.lower() for i, part in enumerate(parts))
