"""What a fitted perturber knows: one private object, because scikit-learn prints what ends in `_`.

The state of an invertible method goes into the sealed receipt as plain data; no pickle anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass, replace
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from sfumato.core.keys import Key
from sfumato.core.passes import Facts
from sfumato.core.secret import Hidden, Secret
from sfumato.core.stream import Ledger, RowHasher, Streams
from sfumato.exceptions import ParameterError, ReceiptError, SecretStateError


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


class SecretState:
    """Mixin that keeps what a fit has learnt, and parameters that undo a release, from being shown or pickled."""

    _state: FittedState
    _keeps: bool = True  # whether a fit may keep single rows between its passes

    def _forgotten(self) -> Self:
        """Forget what was kept of single rows between the passes of a fit and the release."""
        forget = getattr(self._state.fitted, "forgotten", None)
        if forget is not None:
            self._state = replace(self._state, fitted=forget())
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in vars(self)

    def _fitted_state(self) -> FittedState:
        own: Any = self
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet.\nhint: call fit or fit_transform first"
            )
        if own._settings() != self._state.settings:
            raise ParameterError(
                f"{type(self).__name__}: parameters have changed since the fit, and its noise does not belong to them",
                hint="call fit again",
            )
        return self._state

    def __setattr__(self, name: str, value: Any) -> None:
        # scikit-learn prints parameters: the ones that undo a release are held so that they do not show
        if value is not None and not isinstance(value, Secret) and name in _secret_names(type(self)):
            value = Secret(value)
        super().__setattr__(name, value)

    def __getstate__(self) -> Any:
        if self.__sklearn_is_fitted__():
            raise SecretStateError(
                f"a fitted {type(self).__name__} cannot be pickled: "
                "the pickle would hold the key and statistics of the originals",
                hint="pickle it unfitted, or keep the key with key.save(path): "
                "the same key gives the same release again",
            )
        return super().__getstate__()


def _secret_names(cls: Any) -> frozenset[str]:
    if not hasattr(cls, "method_id"):
        return frozenset()
    return frozenset(parameter.name for parameter in cls.catalogue_row().parameters if parameter.secret)


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
