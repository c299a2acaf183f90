"""What common generators draw from a small integer seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.attack.engine.knowledge import FloatArray

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
    return _shaped(GENERATORS[generator][0](seed, size, normal=shape == "normal"), shape)


def heads(generator: str, seeds: Sequence[int], shape: Shape, check: Callable[[], None]) -> FloatArray:
    """Return the first values that a generator draws from each of many seeds; drawn once for all audits of a process.

    Parameters
    ----------
    generator : str
        A name in `GENERATORS`.
    shape : {'normal', 'uniform', 'arcsine'}
    check : callable
        Called now and then; may raise.

    Returns
    -------
    array of shape (seeds, cheap), float32
        Single precision is enough to tell which seeds deserve a closer look, and halves the memory.
    """
    function, cheap = GENERATORS[generator]
    normal = shape == "normal"
    known = _heads.get((generator, normal, tuple(seeds)))
    if known is None:
        known = np.empty((len(seeds), cheap), dtype=np.float32)
        for index, seed in enumerate(seeds):
            if index % 256 == 0:
                check()
            known[index] = function(seed, cheap, normal=normal)
        _heads[generator, normal, tuple(seeds)] = known
    return _shaped(known, shape)


_heads: dict[tuple[str, bool, tuple[int, ...]], NDArray[np.float32]] = {}


def _shaped(raw: FloatArray | NDArray[np.float32], shape: Shape) -> FloatArray:
    shaped: FloatArray = raw  # type: ignore[assignment]  # in the precision that it comes in
    if shape == "uniform":
        return 2 * shaped - 1
    return shaped if shape == "normal" else 2 * np.sin(np.pi * shaped / 2) ** 2 - 1
