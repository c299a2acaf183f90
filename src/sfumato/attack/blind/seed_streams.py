"""What common generators draw from a small integer seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.attack.engine.knowledge import FloatArray

Shape = Literal["normal", "uniform", "arcsine"]


#: seed, size -> the first values that a generator draws
Drawing = Callable[[int, int], FloatArray]


def _numpy_generator(*, normal: bool) -> Drawing:
    def drawn(seed: int, size: int) -> FloatArray:
        stream = np.random.default_rng(seed)
        return stream.standard_normal(size) if normal else stream.random(size)

    return drawn


def _numpy_legacy(*, normal: bool) -> Drawing:
    stream = np.random.RandomState(0)  # seeded again and again: making one takes longer than drawing from it

    def drawn(seed: int, size: int) -> FloatArray:
        stream.seed(seed)
        return stream.standard_normal(size) if normal else stream.random_sample(size)

    return drawn


def _python(*, normal: bool) -> Drawing:
    # the same generator as numpy's old one, seeded with the list of the seed's words: drawn there, many at a time
    stream = np.random.RandomState(0)

    def uniform(seed: int, size: int) -> FloatArray:
        words = [seed >> 32 * word & 0xFFFFFFFF for word in range(max(1, -(-seed.bit_length() // 32)))]
        stream.seed(words)
        return stream.random_sample(size)

    def gauss(seed: int, size: int) -> FloatArray:
        pairs = uniform(seed, size + size % 2).reshape(-1, 2)
        angle, radius = 2 * np.pi * pairs[:, 0], np.sqrt(-2 * np.log(1 - pairs[:, 1]))
        return np.column_stack([np.cos(angle) * radius, np.sin(angle) * radius]).reshape(-1)[:size]

    return gauss if normal else uniform


#: name -> (function that makes a drawing, how many values are cheap to draw for a first look)
GENERATORS: dict[str, tuple[Callable[..., Drawing], int]] = {
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
    return drawing(generator, shape)(seed, size)


def drawing(generator: str, shape: Shape) -> Drawing:
    """Return `draw` for one generator and shape, to be called with many seeds and sizes, by one thread at a time.

    Parameters
    ----------
    generator, shape
        See `draw`.

    Examples
    --------
    >>> import random
    >>> stream = random.Random(7)
    >>> drawing("random.Random", "uniform")(7, 1)[0] == 2 * stream.random() - 1
    np.True_
    """
    drawn = GENERATORS[generator][0](normal=shape == "normal")
    return lambda seed, size: _shaped(drawn(seed, size), shape)


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
    maker, cheap = GENERATORS[generator]
    normal = shape == "normal"
    known = _heads.get((generator, normal, tuple(seeds)))
    if known is None:
        known = np.empty((len(seeds), cheap), dtype=np.float32)
        drawn = maker(normal=normal)
        for index, seed in enumerate(seeds):
            if index % 256 == 0:
                check()
            known[index] = drawn(seed, cheap)
        _heads[generator, normal, tuple(seeds)] = known
    return _shaped(known, shape)


_heads: dict[tuple[str, bool, tuple[int, ...]], NDArray[np.float32]] = {}


def _shaped(raw: FloatArray | NDArray[np.float32], shape: Shape) -> FloatArray:
    shaped: FloatArray = raw  # type: ignore[assignment]  # in the precision that it comes in
    if shape == "uniform":
        return 2 * shaped - 1
    return shaped if shape == "normal" else 2 * np.sin(np.pi * shaped / 2) ** 2 - 1
