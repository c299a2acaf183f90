"""Random words to numbers: uniform, normal, Laplace and arcsine, with one word each; and as noise onto a column.

Only shifts, table look-ups, additions and multiplications in a fixed order: no logarithm, sine or
rejection, whose results or word counts differ between machines. The tables are made by
`tools/make_tables.py`; their error is below 1e-9. numpy and the compiled kernels of `core.fast` give the same bits;
neither allocates more than a few columns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import resources
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats
from sfumato.core.fast import compiled_kernels

Words = NDArray[np.uint64]

_HALF_BITS = np.int64(np.float64(0.5).view(np.int64) >> np.int64(46))  # index of the first table segment
_LOW_46 = np.uint64((1 << 46) - 1)
_ONE = np.float64(1.0).view(np.uint64)
_TWO = np.float64(2.0).view(np.uint64)


def uniform(words: Words) -> Floats:
    """Return uniform numbers strictly between 0 and 1, symmetric around 1/2.

    Parameters
    ----------
    words : array of shape (n,), uint64

    Examples
    --------
    >>> uniform(np.array([0, 2**64 - 1], dtype=np.uint64)).tolist() == [2.0**-53, 1 - 2.0**-53]
    True
    """
    out = (words >> np.uint64(12)).astype(np.float64)  # 52 bits: with 53 the half would round up to 1
    out += 0.5
    out *= 2.0**-52
    return out


def symmetric_uniform(words: Words) -> Floats:
    """Return uniform numbers strictly between -1 and 1.

    Parameters
    ----------
    words : array of shape (n,), uint64

    Examples
    --------
    >>> symmetric_uniform(np.array([0, 2**63], dtype=np.uint64)).round(6).tolist()
    [-1.0, 0.0]
    """
    bits = words >> np.uint64(12)
    bits |= _TWO  # the 52 bits as the mantissa of a number between 2 and 4: all that follows is exact
    out = bits.view(np.float64)
    out -= 3.0
    out += 2.0**-52
    return out


def normal(words: Words, out: Floats | None = None) -> Floats:
    """Return standard normal numbers (inverse distribution function, at most 8.3 in size).

    Parameters
    ----------
    words : array of shape (n,), uint64
    out : array of shape (n,), optional
        Where to write them. Default: a new array.
    """
    return _symmetric(words, "normal", out)


def laplace(words: Words) -> Floats:
    """Return Laplace numbers of scale 1 (variance 2)."""
    return _symmetric(words, "laplace")


def arcsine(words: Words) -> Floats:
    """Return sin^2(pi u / 2) - 1/2 for uniform u: the law of the logistic map, between -1/2 and 1/2."""
    return _symmetric(words, "arcsine")


def bernoulli(words: Words, probability: float) -> Flags:
    """Return True with a probability between 0 and 1."""
    return np.asarray(uniform(words) < probability)


def permutation(words: Words) -> NDArray[np.intp]:
    """Return the permutation that sorts the words (ties, which do not happen, by position)."""
    return np.argsort(words, kind="stable")


def _symmetric(words: Words, law: str, out: Floats | None = None) -> Floats:
    fast = compiled_kernels(len(words))
    if fast is not None:
        target: Floats = np.empty(len(words)) if out is None else out
        fast.table_law(words, table_of(law), target)
        return target
    table = _table(law)
    # bits 12..63 are the tail probability v = (k + 1/2) / 2^53, bit 0 is the sign
    v = (words >> np.uint64(12)).view(np.int64).astype(np.float64)
    v += 0.5
    bits = v.view(np.uint64)
    # an octave and 64 parts of it: the exponent and the six leading bits of the mantissa are the segment
    segment = (bits >> np.uint64(46)).view(np.int64)
    segment -= _HALF_BITS
    bits &= _LOW_46
    bits <<= np.uint64(6)
    bits |= _ONE
    v -= 1.0  # now the position inside the segment, in [0, 1)
    out = table[3].take(segment, out=out, mode="clip")
    for power in (2, 1, 0):
        out *= v
        out += table[power].take(segment)
    out.view(np.uint64)[...] ^= words << np.uint64(63)
    return out


@cache
def table_of(law: str) -> Floats:
    """Return the cubics of a law, one row of four coefficients for each segment."""
    table = np.ascontiguousarray(_table(law).T)
    table.setflags(write=False)
    return table


@cache
def _table(law: str) -> Floats:
    with resources.files("sfumato.core").joinpath("tables", f"{law}_v1.npy").open("rb") as file:
        table: Floats = np.asarray(np.load(file, allow_pickle=False), dtype=np.float64)
    table.setflags(write=False)
    return table


# "uniform" lies between -1 and 1
LAWS = {"uniform": symmetric_uniform, "normal": normal, "laplace": laplace, "arcsine": arcsine}
# what variates of a law are multiplied by for a variance of 1
UNIT_FACTORS = {"normal": 1.0, "uniform": sqrt(3.0), "laplace": sqrt(0.5)}


def add_noise(values: Floats, words: Words, law: str, first: float | Floats, second: float = 1.0) -> None:
    """Do values += law(words) * (first * second).

    Parameters
    ----------
    values : array of shape (n,)
        Changed in place.
    words : array of shape (n,), uint64
    first : float, or array of shape (n,) for the uniform law

    Examples
    --------
    >>> column = np.zeros(2)
    >>> add_noise(column, np.array([0, 2**64 - 1], dtype=np.uint64), "uniform", 10.0)
    >>> column.round(6).tolist()
    [-10.0, 10.0]
    """
    fast = compiled_kernels(len(values))
    if fast is None:
        noise = LAWS[law](words)
        noise *= first * second
        values += noise
    elif isinstance(first, np.ndarray):
        assert law == "uniform"
        fast.add_sized_uniform(values, words, first * second)
    elif law == "uniform":
        fast.add_uniform(values, words, first * second)
    else:
        fast.add_table_law(values, words, table_of(law), first * second)


# rows, released rows, number of the first, counts of changed cells -> whether all released cells are finite
AtOnce = Callable[[Floats, Floats, int, NDArray[np.int64]], bool]


def noise_at_once(fast: Any, keys: Words, law: str, scales: Floats) -> AtOnce:
    """Return what adds noise to whole rows of an array as `add_noise` does to columns, in one compiled call.

    Parameters
    ----------
    fast : module
        The compiled kernels.
    keys : array of shape (d, 15, 2)
        See `Streams.round_keys`.
    scales : array of shape (d,)
    """
    uniform = law == "uniform"
    table = np.empty((0, 4)) if uniform else table_of(law)
    return lambda rows, out, first, changed: bool(
        fast.add_noise_to_rows(rows, out, keys, first, uniform, table, scales, changed)
    )


def multiply_noise(values: Floats, words: Words, law: str, first: float, second: float = 1.0) -> None:
    """Do values *= law(words) * (first * second) + 1.

    Parameters
    ----------
    values : array of shape (n,)
        Changed in place.
    words : array of shape (n,), uint64
    """
    fast = compiled_kernels(len(values))
    if fast is None:
        factor = LAWS[law](words)
        factor *= first * second
        factor += 1.0
        values *= factor
    elif law == "uniform":
        fast.multiply_uniform(values, words, first * second)
    else:
        fast.multiply_table_law(values, words, table_of(law), first * second)
