"""From a catalogue parameter to a control on the page, by its kind and the values worth trying."""

from __future__ import annotations

from typing import Any

from sfumato.perturb.mechanism.parameters import Parameter, Span

_NUMERIC = {"number", "numbers", "integer", "number or integer"}
CONTROLS = ("slider", "number", "choice", "names", "flag", "fixed")
_WORDS = {"choice", "detail"}  # one word of several
SHOWN = {*_NUMERIC, *_WORDS, "flag"}  # kinds of parameters that have a control


def control(parameter: Parameter) -> dict[str, Any]:
    """Return what the page needs to draw a control for a parameter.

    Returns
    -------
    dict
        `control` is one of `CONTROLS`, "fixed" for what the key draws or a page cannot ask for.

    Examples
    --------
    >>> control(Parameter("scale", "number", 0.1, "size of the noise", search=Span(0.01, 2.0, log=True)))["control"]
    'slider'
    """
    data: dict[str, Any] = {
        "name": parameter.name,
        "label": parameter.name.removeprefix("n_").replace("_", " ").capitalize(),
        "help": parameter.help,
        "default": parameter.default,
        "optional": parameter.optional,
        "allowed": parameter.allowed,
    }
    if parameter.secret:
        return {**data, "control": "fixed", "default": None, "text": "drawn by the key"}
    if parameter.kind in _WORDS:
        return {**data, "control": "choice", "choices": list(parameter.choices)}
    if parameter.kind == "flag":
        return {**data, "control": "flag"}
    if parameter.kind == "clusterings" and isinstance(parameter.default, str):
        return {**data, "control": "names"}
    if parameter.kind not in _NUMERIC:
        return {**data, "control": "fixed", "default": None, "text": _text(parameter.default)}
    whole = parameter.kind == "integer"
    span = parameter.slider or parameter.search
    if not isinstance(span, Span):
        return {**data, "control": "number", "whole": whole}
    return {**data, "control": "slider", "whole": whole, "low": span.low, "high": span.high, "log": span.log}


def _text(default: Any) -> str:
    if isinstance(default, list | tuple):
        return ", ".join(str(item) for item in default)
    return "automatic" if default is None else str(default)
