"""The last step of a release: doubles back to the type of their column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.exceptions import DataError

# integers come back as 64-bit ones: a perturbed value may leave the range of a smaller type
TYPES: dict[str, Any] = {"integer": np.int64, "float32": np.float32, "float64": np.float64}
_LARGEST = 2.0**62


def finish_values(values: NDArray[np.float64], kind: str, target: NDArray[Any]) -> None:
    """Write released values of one or several columns into arrays of their own type: integers by rounding half to even.

    Parameters
    ----------
    target : array of the same shape

    Examples
    --------
    >>> out = np.empty(3, dtype=TYPES["integer"])
    >>> finish_values(np.array([1.2, 2.5, -0.7]), "integer", out)
    >>> out.tolist()
    [1, 2, -1]
    """
    if kind == "integer":
        rounded = np.rint(values)
        if not (np.abs(rounded) <= _LARGEST).all():  # also false for NaN
            raise DataError("a perturbed integer does not fit in 64 bits", hint="convert the column to floats first")
        target[...] = rounded
        return
    with np.errstate(over="ignore"):
        target[...] = values
    if not np.isfinite(values if kind == "float64" else target).all():
        raise DataError(
            f"a perturbed value does not fit in a {kind} column", hint="use smaller parameters or another unit"
        )
