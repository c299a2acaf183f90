"""The laws of independent noise, scaled to variance 1."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from sfumato.core.variates import laplace, normal, symmetric_uniform

__all__ = ["unit_noise"]

Floats = NDArray[np.float64]

_LAWS: dict[str, tuple[Callable[[NDArray[np.uint64]], Floats], float]] = {
    "normal": (normal, 1.0),
    "uniform": (symmetric_uniform, sqrt(3.0)),
    "laplace": (laplace, sqrt(0.5)),
}


def unit_noise(distribution: str, words: NDArray[np.uint64]) -> Floats:
    """Return noise of mean 0 and variance 1.

    Parameters
    ----------
    distribution : "normal", "uniform" or "laplace"
    words : array of shape (n,), uint64

    Examples
    --------
    >>> noise = unit_noise("uniform", np.arange(0, 2**64, 2**54, dtype=np.uint64))
    >>> round(float(noise.std()), 2)
    1.0
    """
    law, factor = _LAWS[distribution]
    out = law(words)
    out *= factor
    return out
