"""What common generators draw from a small integer seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Literal

import numpy as np

from sfumato.attack.engine.knowledge import FloatArray

__all__ = ["GENERATORS", "Shape", "draw"]

Shape = Literal["normal", "uniform", "arcsine"]


def _numpy_generator(seed: int, size: int, *, normal: bool) -> FloatArray:
    stream = np.random.default_rng(seed)
    return stream.standard_normal(size) if normal else stream.random(size)


def _numpy_legacy(seed: int, size: int, *, normal: bool) -> FloatArray:
    stream = np.random.RandomState(seed)
    return stream.standard_normal(size) if normal else stream.random_sample(size)


def _python(seed: int, size: int, *, normal: bool) -> FloatArray:
    stream = random.Random(seed)  # noqa: S311 - the point is to replay what others use
    if normal:
        return np.array([stream.gauss(0.0, 1.0) for _ in range(size)])
    return np.array([stream.random() for _ in range(size)])


#: name -> (function, how many values are cheap to draw for a first look)
GENERATORS: dict[str, tuple[Callable[..., FloatArray], int]] = {
    "numpy.random.default_rng": (_numpy_generator, 1000),
    "numpy.random.RandomState": (_numpy_legacy, 1000),
    "random.Random": (_python, 200),
}


def draw(generator: str, seed: int, size: int, shape: Shape) -> FloatArray:
    """Return the first values that a generator draws, as noise of a shape.

    Parameters
    ----------
    generator : str
        A name in `GENERATORS`.
    seed : int
        Seed, at least 0.
    size : int
        Number of values.
    shape : {'normal', 'uniform', 'arcsine'}
        Standard normal, uniform on (-1, 1), or arcsine on (-1, 1).

    Returns
    -------
    array of shape (size,)
        Noise of unit scale.

    Examples
    --------
    >>> draw("numpy.random.default_rng", 0, 2, "normal").round(4)
    array([ 0.1257, -0.1321])
    """
    raw = GENERATORS[generator][0](seed, size, normal=shape == "normal")
    if shape == "normal":
        return raw
    if shape == "uniform":
        return 2 * raw - 1
    return np.asarray(2 * np.sin(np.pi * raw / 2) ** 2 - 1, dtype=np.float64)
