"""The fitted state of an invertible method as plain data, for the sealed receipt; no pickle anywhere."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np

from sfumato.core.secret import Hidden
from sfumato.exceptions import ReceiptError


def save_state(state: Any) -> Any:
    """Return a fitted state as JSON values: numbers, lists, and the names and fields of small data classes."""
    if isinstance(state, np.ndarray):
        return {"array": state.tolist()}
    if isinstance(state, tuple | list):
        return {"tuple": [save_state(one) for one in state]}
    if is_dataclass(state) and not isinstance(state, type):
        values = {field.name: save_state(getattr(state, field.name)) for field in fields(state)}
        return {"class": type(state).__name__, "fields": values}
    if isinstance(state, np.generic):
        return state.item()
    if state is None or isinstance(state, bool | int | float | str):
        return state
    raise TypeError(f"cannot save a {type(state).__name__}")


def load_state(data: Any, module: str) -> Any:
    """Return the fitted state of plain data.

    Parameters
    ----------
    module : str
        Module of the method: only data classes that it knows are made.
    """
    if not isinstance(data, dict):
        return data
    if set(data) == {"array"}:
        return np.array(data["array"], dtype=np.float64)
    if set(data) == {"tuple"}:
        return tuple(load_state(one, module) for one in data["tuple"])
    cls = getattr(import_module(f"sfumato.perturb.perturbers.{module}"), str(data.get("class")), None)
    if not (isinstance(cls, type) and issubclass(cls, Hidden) and is_dataclass(cls)):
        raise ReceiptError("the receipt holds a fitted state that this version does not know")
    return cls(**{str(name): load_state(one, module) for name, one in data["fields"].items()})
