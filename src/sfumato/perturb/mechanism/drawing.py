"""Secret numbers of a column: offsets, factors, angles, permutations, drawn once by the key."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.secret import Secret
from sfumato.core.stream import Streams
from sfumato.core.variates import permutation, uniform
from sfumato.exceptions import ParameterError


def draw_uniforms(streams: Streams, purpose: str, column: str, count: int) -> list[float]:
    """Return uniform numbers in (0, 1) that belong to a column as a whole."""
    return [float(u) for u in uniform(streams.scalars(purpose, column, count))]


def draw_permutation(streams: Streams, purpose: str, size: int) -> list[int]:
    """Return a random order of 0..size-1."""
    return [int(i) for i in permutation(streams.scalars(purpose, "", size))]


def is_number(value: Any) -> bool:
    """Tell whether a value is a finite real number, and not a truth value."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return bool(np.isfinite(float(value)))
    except OverflowError:
        return False


def revealed(value: Any) -> Any:
    """Return a parameter's value, out of its `Secret` if it is in one."""
    return value.reveal() if isinstance(value, Secret) else value


def per_column(value: Any, names: Sequence[str], *, owner: str, parameter: str) -> NDArray[np.float64]:
    """Return one number for each column, from one number or a sequence.

    Parameters
    ----------
    names : sequence of str
        The columns.
    owner, parameter : str
        For the message.

    Examples
    --------
    >>> per_column(2.0, ["a", "b"], owner="Scaling", parameter="factors").tolist()
    [2.0, 2.0]
    """
    numbers = np.asarray(revealed(value), dtype=np.float64)
    if numbers.ndim == 0:
        return np.full(len(names), float(numbers))
    if numbers.shape != (len(names),):
        raise ParameterError(
            f"{owner}: {parameter} has {numbers.size} value(s) for {len(names)} column(s)",
            hint=f"give one number, or one for each of: {', '.join(names)}",
        )
    return numbers
