"""Noise of which every row, or every column, has a seed of its own: the row's number, or any small one."""

from __future__ import annotations

import numpy as np

from sfumato.attack.blind.seed_streams import Shape, drawing, heads
from sfumato.attack.engine.interface import Deadline
from sfumato.attack.engine.knowledge import FloatArray

_SURE = 7.0  # deviations beyond which noise and release correlate by no chance
_FIRST = (0, 1)  # seeds of the first row
_MOST = 4_000  # rows on which seeds of rows are tried


def seeded_apart(
    scaled: FloatArray, generator: str, seeds: tuple[int, ...], shape: Shape, deadline: Deadline
) -> FloatArray | None:
    """Return the noise of a release whose rows or columns have seeds of their own, nan where none is found.

    Parameters
    ----------
    scaled : array of shape (n, d)
        The release in standard deviations from its means.
    generator : str
        A name in `GENERATORS`.
    seeds : tuple of int
        That are tried; the first of them count up from 0.
    shape : {'normal', 'uniform', 'arcsine'}
    deadline : Deadline

    Returns
    -------
    array of shape (n, d), or None
        None where no seed fits.

    Examples
    --------
    >>> from sfumato.attack.engine.interface import Deadline
    >>> seeds = tuple(range(300))
    >>> noise = np.vstack([np.random.default_rng(row).normal(size=3) for row in range(200)])
    >>> found = seeded_apart(noise, "numpy.random.default_rng", seeds, "normal", Deadline())
    >>> bool(np.allclose(found, noise))
    True
    """
    n, d = scaled.shape
    known, draw = heads(generator, seeds, shape, deadline.check), drawing(generator, shape)
    counted = next((k for k, seed in enumerate(seeds) if k != seed), len(seeds))
    for first in _FIRST if d <= known.shape[1] else ():
        rows = min(n, counted - first, _MOST)
        noise = known[first : first + rows, :d].astype(np.float64)
        if _fit(scaled[:rows].reshape(-1), noise.reshape(-1)):
            deadline.check(n * d)
            return np.vstack([draw(first + row, d) for row in range(n)])
    size = min(n, known.shape[1])
    part = known[:, :size].astype(np.float64)
    deadline.check(part.size)
    power = np.sqrt((part**2).sum(axis=1)) * np.sqrt((scaled[:size] ** 2).mean())
    score = part @ scaled[:size] / np.maximum(power, 1e-300)[:, None]
    best = score.argmax(axis=0)
    sure = score[best, np.arange(d)] > _SURE
    if not sure.any():
        return None
    found = np.full((n, d), np.nan)
    for j in np.flatnonzero(sure):
        found[:, j] = draw(seeds[int(best[j])], n)
    return found


def _fit(release: FloatArray, noise: FloatArray) -> bool:
    return bool(release @ noise > _SURE * np.sqrt((release**2).mean() * (noise**2).sum()))
