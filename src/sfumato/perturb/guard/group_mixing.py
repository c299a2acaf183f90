"""Mixing the rows of a small group by a random orthogonal matrix: mean and covariance stay, rows do not."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.core.linear import fixed_order_sum
from sfumato.core.stream import Streams
from sfumato.core.variates import normal

_LEAST = 0.05  # rows that are all alike still move by so many units of the space


def haar_words(n_rows: int, n_columns: int) -> int:
    """Return how many random words `mix_rows` takes."""
    return n_rows * (n_rows - 1) // 2 if n_rows > 2 else n_columns


def mix_rows(deviations: Floats, words: NDArray[np.uint64]) -> Floats:
    """Return y = Q R Q' x, with R uniform (Haar) among the orthogonal matrices of the complement of the ones vector.

    R is a product of reflections along normal vectors (Stewart 1980), in a fixed order of sums. Two rows have no
    mixture but themselves and each other, so theirs is a random direction of the same length instead.

    Parameters
    ----------
    deviations : array of shape (d, n)
        Rows less their mean.
    words : array of shape (haar_words(n, d),)

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0, -3.0, 0.0], [0.0, 1.0, 1.0, -2.0]])
    >>> mixed = mix_rows(rows, np.arange(6, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    >>> bool(np.allclose(mixed @ mixed.T, rows @ rows.T)), bool(np.allclose(mixed.sum(axis=1), 0))
    (True, True)
    """
    n = deviations.shape[1]
    draws = normal(words)
    if n < 3:
        return _random_pair(deviations, draws) if n == 2 else deviations.copy()
    mixed = deviations.copy()
    ones = np.full(n, 1.0 / sqrt(n))
    ones[0] += 1.0  # the reflection that takes the ones vector to the first axis
    _reflect(mixed, ones)
    used = 0
    for size in range(n - 1, 1, -1):
        vector = draws[used : used + size].copy()
        used += size
        first = float(vector[0])
        vector[0] += (1.0 if first >= 0 else -1.0) * sqrt(float(fixed_order_sum(vector * vector)))
        part = mixed[:, n - size :]
        _reflect(part, vector)
        if first >= 0:
            part[:, 0] *= -1.0
    if draws[used] < 0:
        mixed[:, n - 1] *= -1.0
    _reflect(mixed, ones)
    return mixed


def _random_pair(deviations: Floats, draws: Floats) -> Floats:
    length = sqrt(float(fixed_order_sum(deviations[:, 0] * deviations[:, 0])))
    size = sqrt(float(fixed_order_sum(draws * draws)))
    way = draws * (length / size)
    return np.stack([way, -way], axis=1)


def _reflect(rows: Floats, vector: Floats) -> None:
    weight = fixed_order_sum(rows * vector) * (2.0 / float(fixed_order_sum(vector * vector)))
    rows -= weight[:, None] * vector


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
