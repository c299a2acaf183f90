"""Small matrices of many atoms: exact covariances, their factors and inverses, in the order of numpy's side."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.compile import compiled

_BITS, _HALF = 24, 12  # of the lower part of a long number, and of the steps of a division
_SURE = np.int64(1) << 54  # a quotient of so many bits can be rounded to a double


@compiled
def exact_covariance(n: int, sums: Any, products: Any, out: Any) -> None:
    """Write (n p - a b) / n^2 of all pairs of columns, rounded once; of at most 2^22 rows of steps of up to 2^20."""
    for i in range(len(sums)):
        for j in range(i + 1):
            out[i, j] = _ratio(np.int64(n), products[i, j], sums[i], sums[j])
            out[j, i] = out[i, j]


@compiled
def _ratio(n: Any, product: Any, a: Any, b: Any) -> Any:
    mask = (np.int64(1) << _BITS) - 1
    a_high, a_low, b_high, b_low = a >> _BITS, a & mask, b >> _BITS, b & mask
    low_one, low_other = n * (product & mask), a_low * b_low
    high = n * (product >> _BITS) + (low_one >> _BITS)
    high -= ((a_high * b_high) << _BITS) + a_high * b_low + a_low * b_high + (low_other >> _BITS)
    low = (low_one & mask) - (low_other & mask)
    if low < 0:
        low += mask + 1
        high -= 1
    negative = high < 0
    if negative and low == 0:
        high = -high
    elif negative:
        high, low = -high - 1, mask + 1 - low
    below = n * n
    quotient, rest = high // below, high % below
    for part in (low >> _HALF, low & ((1 << _HALF) - 1)):
        rest = (rest << _HALF) | part
        quotient = (quotient << _HALF) + rest // below
        rest %= below
    halves = 1.0
    while quotient < _SURE and rest != 0:
        rest <<= 1
        quotient <<= 1
        halves *= 0.5
        if rest >= below:
            rest -= below
            quotient |= 1
    if rest != 0:
        quotient |= 1  # more than what stands there: which way to round
    value = np.float64(quotient) * halves
    return -value if negative else value


@compiled
def cholesky_factor(matrix: Any, tolerance: float, factor: Any) -> None:
    """Write the lower factor of a matrix; see `core.linear.cholesky`."""
    rest, d = matrix.copy(), len(matrix)
    for j in range(d):
        pivot = rest[j, j]
        if pivot <= tolerance * matrix[j, j] or pivot <= 0.0:
            continue
        root = np.sqrt(pivot)
        factor[j, j] = root
        for i in range(j + 1, d):
            factor[i, j] = rest[i, j] / root
        for i in range(j + 1, d):
            for column in range(j + 1, i + 1):
                rest[i, column] -= factor[i, j] * factor[column, j]


@compiled
def inverse_of_factor(factor: Any, out: Any) -> None:
    """Write the inverse of a lower factor over the identity; see `core.linear.lower_inverse`."""
    d = len(factor)
    for i in range(d):
        for e in range(d):
            out[i, e] /= factor[i, i]
        for below in range(i + 1, d):
            for e in range(d):
                out[below, e] -= factor[below, i] * out[i, e]


@compiled
def small_product(left: Any, right: Any, out: Any) -> None:
    """Add left times right, summed from the first term to the last."""
    for index in range(len(right)):
        for i in range(len(left)):
            for e in range(right.shape[1]):
                out[i, e] += left[i, index] * right[index, e]


@compiled
def sums_in_order(values: Any, out: Any) -> None:
    """Write the sum of each row, from the first number to the last."""
    for i in range(len(values)):
        total = values[i, 0]
        for j in range(1, values.shape[1]):
            total += values[i, j]
        out[i] = total
