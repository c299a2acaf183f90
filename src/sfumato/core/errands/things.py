"""Our own dataclasses, named tuples and models as plain values, and back: what `core/travel.py` takes to a process.

Only classes of this library are made again, and only by the names of their fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

from sfumato.exceptions import DataError

_CLASS, _JSON = "", "{}"  # names of the entries that name the class, and hold a model: no field has them


def named(place: str) -> Any:
    """Return a class or function of this library by its place, "module:name".

    Examples
    --------
    >>> named("sfumato.core.errands.things:named") is named
    True
    """
    module, _, name = place.partition(":")
    if not module.startswith("sfumato."):
        raise DataError(f"{module} is not a module of this library")
    return getattr(import_module(module), name)


def taken_apart(value: Any) -> Any:
    """Return our own dataclasses, named tuples and models, however deep, as plain values.

    Parameters
    ----------
    value : object

    Examples
    --------
    >>> from sfumato.core.rows import RowRange
    >>> taken_apart([RowRange(2, 5)])
    [{'': 'sfumato.core.rows:RowRange', 'start': 2, 'stop': 5}]
    >>> put_together(taken_apart([RowRange(2, 5)]))
    [RowRange(start=2, stop=5)]
    """
    if is_dataclass(value) and not isinstance(value, type):
        inside = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        inside = dict(zip(value._fields, value, strict=True))
    elif isinstance(value, Mapping):
        return {key: taken_apart(one) for key, one in value.items()}
    elif isinstance(value, list | tuple):
        return type(value)(taken_apart(one) for one in value)
    elif hasattr(value, "model_dump_json"):
        inside = {_JSON: value.model_dump_json()}
    else:
        return value
    inside = {name: taken_apart(one) for name, one in inside.items()}
    return {_CLASS: f"{type(value).__module__}:{type(value).__qualname__}", **inside}


def put_together(value: Any) -> Any:
    """Return what `taken_apart` was given.

    Parameters
    ----------
    value : plain values
    """
    if isinstance(value, dict):
        inside = {key: put_together(one) for key, one in value.items() if key != _CLASS}
        if _CLASS not in value:
            return inside
        kind = named(value[_CLASS])
        return kind.model_validate_json(inside[_JSON]) if _JSON in inside else kind(**inside)
    if isinstance(value, list | tuple):
        return type(value)(put_together(one) for one in value)
    return value
