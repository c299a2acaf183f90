"""Noise onto a column of a tile, in place: from words to released values.

numpy and the compiled kernels of `core.fast` give the same bits; neither allocates more than a few columns.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.core.fast import compiled_kernels
from sfumato.core.variates import arcsine, laplace, normal, symmetric_uniform, table_of

Words = NDArray[np.uint64]

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
