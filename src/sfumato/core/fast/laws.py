"""Random words to noise, a column at a time: the formulas of `core.variates`, and the draws of 1-d clustering."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.compile import compiled

_HALF_BITS = np.float64(0.5).view(np.uint64) >> np.uint64(46)
_LOW_46 = np.uint64((1 << 46) - 1)
_ONE = np.float64(1.0).view(np.uint64)
_6, _12, _46, _63 = np.uint64(6), np.uint64(12), np.uint64(46), np.uint64(63)
_WORDS = 2048  # words whose segments are kept in the first-level cache


@compiled
def draw_in_clusters(values: Any, words: Any, low: float, high: float, cluster_of: Any, means: Any, radii: Any) -> None:
    """Do values = symmetric_uniform(words) * radius + mean, of the cluster in which each value lies."""
    n_intervals = len(cluster_of)
    for i in range(len(values)):
        interval = np.int64(0)
        if high > low:
            place = (values[i] - low) / (high - low) * np.float64(n_intervals)
            place = min(max(place, 0.0), np.float64(n_intervals))
            interval = min(np.int64(place), np.int64(n_intervals - 1))
        cluster = cluster_of[interval]
        k = np.float64(np.int64(words[i] >> _12))
        values[i] = (k * 2.0**-51 + (2.0**-52 - 1.0)) * radii[cluster] + means[cluster]


@compiled
def add_uniform(values: Any, words: Any, scale: float) -> None:
    """Do values += symmetric_uniform(words) * scale."""
    for i in range(len(values)):
        k = np.float64(np.int64(words[i] >> _12))
        values[i] += (k * 2.0**-51 + (2.0**-52 - 1.0)) * scale


@compiled
def add_sized_uniform(values: Any, words: Any, sizes: Any) -> None:
    """Do values += symmetric_uniform(words) * sizes."""
    for i in range(len(values)):
        k = np.float64(np.int64(words[i] >> _12))
        values[i] += (k * 2.0**-51 + (2.0**-52 - 1.0)) * sizes[i]


@compiled
def multiply_uniform(values: Any, words: Any, scale: float) -> None:
    """Do values *= symmetric_uniform(words) * scale + 1."""
    for i in range(len(values)):
        k = np.float64(np.int64(words[i] >> _12))
        values[i] *= (k * 2.0**-51 + (2.0**-52 - 1.0)) * scale + 1.0


@compiled
def _sizes(words: Any, table: Any, segment: Any, out: Any) -> None:
    """Write the variates without their signs; three loops, of which only the one with look-ups stays scalar."""
    n = len(words)
    for i in range(n):
        v = np.float64(np.int64(words[i] >> _12)) + 0.5
        bits = np.float64(v).view(np.uint64)
        segment[i] = np.uint32((bits >> _46) - _HALF_BITS)
        inside = ((bits & _LOW_46) << _6) | _ONE
        out[i] = np.uint64(inside).view(np.float64) - 1.0
    for i in range(n):
        s, p = np.uint64(segment[i]), out[i]  # unsigned: a signed index is also tested for counting from the end
        out[i] = ((table[s, 3] * p + table[s, 2]) * p + table[s, 1]) * p + table[s, 0]


@compiled
def _signed(size: float, word: Any) -> Any:
    return np.uint64(np.float64(size).view(np.uint64) ^ (word << _63)).view(np.float64)


@compiled
def table_law(words: Any, table: Any, out: Any) -> None:
    """Write the variates of a law whose cubics are the rows of `table`, shape (segments, 4)."""
    segment = np.empty(_WORDS, dtype=np.uint32)
    for start in range(0, len(words), _WORDS):
        piece = words[start : start + _WORDS]
        target = out[start : start + len(piece)]
        _sizes(piece, table, segment, target)
        for i in range(len(piece)):
            target[i] = _signed(target[i], piece[i])


@compiled
def add_table_law(values: Any, words: Any, table: Any, scale: float) -> None:
    """Do values += law(words) * scale."""
    segment, size = np.empty(_WORDS, dtype=np.uint32), np.empty(_WORDS)
    for start in range(0, len(words), _WORDS):
        piece, target = words[start : start + _WORDS], values[start : start + _WORDS]
        _sizes(piece, table, segment, size)
        for i in range(len(piece)):
            target[i] += _signed(size[i], piece[i]) * scale


@compiled
def multiply_table_law(values: Any, words: Any, table: Any, scale: float) -> None:
    """Do values *= law(words) * scale + 1."""
    segment, size = np.empty(_WORDS, dtype=np.uint32), np.empty(_WORDS)
    for start in range(0, len(words), _WORDS):
        piece, target = words[start : start + _WORDS], values[start : start + _WORDS]
        _sizes(piece, table, segment, size)
        for i in range(len(piece)):
            target[i] *= _signed(size[i], piece[i]) * scale + 1.0
