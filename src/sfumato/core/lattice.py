"""Matrix products with one possible result, at the speed of BLAS.

Numbers on a lattice are whole multiples of a power of two, at most 2^20 steps in size. A product of two is at most
2^40, so sums of up to 8,192 of them stay below 2^53, where doubles are exact: whatever order a BLAS adds in, and on
whatever processor, the result is the same.
"""

from __future__ import annotations

from math import frexp

import numpy as np

from sfumato._arrays import Floats
from sfumato.exceptions import DataError

LARGEST_STEPS = float(1 << 20)
_MOST_TERMS = 8192


def lattice_bits(largest: float) -> int:
    """Return the number of binary places for values up to `largest`.

    Examples
    --------
    >>> lattice_bits(4.0)
    17
    """
    return 20 - frexp(largest)[1] if largest > 0 else 20


def to_steps(values: Floats, bits: int) -> Floats:
    """Return values as whole numbers of steps of 2^-bits, cut off at 2^20 steps.

    Examples
    --------
    >>> to_steps(np.array([0.26, -1e9]), 2).tolist()
    [1.0, -1048576.0]
    """
    steps = values * 2.0**bits
    np.rint(steps, out=steps)
    return np.clip(steps, -LARGEST_STEPS, LARGEST_STEPS, out=steps)


def exact_product(left: Floats, right: Floats) -> Floats:
    """Return the matrix product of two arrays of steps.

    Parameters
    ----------
    left : array of shape (m, d)
    right : array of shape (d, n)

    Examples
    --------
    >>> exact_product(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    if left.shape[1] > _MOST_TERMS:
        raise DataError(
            f"{left.shape[1]} columns are more than the {_MOST_TERMS} that can be multiplied exactly",
            hint="choose fewer columns",
        )
    product: Floats = left @ right
    return product
