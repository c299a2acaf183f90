"""What a fitted perturber knows: one private object, because scikit-learn prints what ends in `_`.

The state of an invertible method goes into the sealed receipt as plain data; no pickle anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from importlib import import_module
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sfumato.core.keys import Key
from sfumato.core.passes import Facts
from sfumato.core.secret import Hidden
from sfumato.core.stream import Ledger, RowHasher, Streams
from sfumato.exceptions import ReceiptError, SecretStateError


@dataclass(frozen=True, repr=False)
class FittedState(Hidden):
    """Key, facts, streams and fitted state of a method, and what its noise has been used for.

    `held_back` holds the numbers of the rows that are not released; all else is about the table without them.
    """

    key: Key
    hasher: RowHasher
    facts: Facts
    settings: bytes
    streams: Streams
    fitted: Any
    ledger: Ledger
    held_back: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def refuse_pickle(name: str) -> NoReturn:
    """Raise instead of pickling a fitted perturber."""
    raise SecretStateError(
        f"a fitted {name} cannot be pickled: the pickle would hold the key and statistics of the originals",
        hint="pickle it unfitted, or keep the key with key.save(path): the same key gives the same release again",
    )


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
