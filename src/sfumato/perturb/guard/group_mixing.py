"""Mixes the rows of one small group."""

from __future__ import annotations

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.stream import Streams
from sfumato.core.variates import normal
from sfumato.perturb.guard.haar import haar_words, mix_rows

_LEAST = 0.05  # rows that are all alike still move by so many units of the space


def mix_group(rows: Floats, streams: Streams, name: str, *, alone: bool, few: bool = False) -> Floats:
    """Return mixed deviations from the group's mean.

    Parameters
    ----------
    rows : array of shape (d, n)
    name : str
        Names the group in the stream.
    alone : bool
        Whether a single row may stay as it is.
    few : bool
        Whether the rows are too few for their shape to be kept: they get a little noise instead.
    """
    d, n = rows.shape
    mean = np.zeros(d)
    for row in rows.T:
        mean += row
    mean /= n
    deviations = rows - mean[:, None]
    if n == 1 and alone:
        return np.zeros_like(rows)
    if n == 1 or few or float(np.abs(deviations).max()) < _LEAST:
        noise = _LEAST * normal(streams.scalars("nudge", name, d * n)).reshape(d, n)
        centre = np.zeros(d)
        for column in noise.T:
            centre += column
        return noise - (centre / n)[:, None] if n > 1 else noise
    return mix_rows(deviations, streams.scalars("haar", name, haar_words(n, d)))
