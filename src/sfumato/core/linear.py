"""Small linear algebra with one possible result: fixed order, only + - * / and sqrt; and exact products on a lattice.

LAPACK and BLAS sum in an order that depends on the processor and on the shape of the batch. What reaches a
release is computed here instead; the matrices are as small as the number of columns.

Numbers on a lattice are whole multiples of a power of two, at most 2^20 steps in size. A product of two is at most
2^40, so sums of up to 8,192 of them stay below 2^53, where doubles are exact: whatever order a BLAS adds in, and on
whatever processor, the result is the same. Of more columns it is asked how large a sum can become.
"""

from __future__ import annotations

from math import frexp, sqrt

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.fast import compiled_kernels
from sfumato.exceptions import DataError

LARGEST_STEPS = float(1 << 20)
_MOST_TERMS, _EXACT = 8192, 2.0**53
_LONG = 4096  # numbers that are added up without an array of running sums


def cholesky(matrix: Floats, *, tolerance: float = 1e-10) -> Floats:
    """Return the lower factor L with L L' = matrix, for a positive semi-definite matrix.

    Columns that depend on earlier ones (wage = 2 x half-wage) get a zero instead of a square root of
    rounding errors.

    Parameters
    ----------
    matrix : array of shape (d, d)
    tolerance : float
        Pivots below this share of their diagonal element count as zero.

    Examples
    --------
    >>> cholesky(np.array([[4.0, 2.0], [2.0, 1.0]])).tolist()
    [[2.0, 0.0], [1.0, 0.0]]
    """
    rest = np.array(matrix, dtype=np.float64, order="C")
    diagonal = rest.diagonal().copy()
    factor = np.zeros_like(rest)
    fast = compiled_kernels(0)
    if fast is not None:
        fast.cholesky_factor(rest, tolerance, factor)
        return factor
    for j in range(len(rest)):
        pivot = float(rest[j, j])
        if pivot <= tolerance * diagonal[j] or pivot <= 0.0:
            continue
        root = sqrt(pivot)
        column = rest[j:, j] / root
        column[0] = root
        factor[j:, j] = column
        rest[j:, j:] -= column[:, None] * column[None, :]
    return factor


def eigen_symmetric(matrix: Floats, *, sweeps: int = 60) -> tuple[Floats, Floats]:
    """Return eigenvalues (largest first) and eigenvectors (as columns) by cyclic Jacobi rotations.

    Signs are fixed: the largest element of each vector is positive.

    Parameters
    ----------
    matrix : array of shape (d, d), symmetric
    sweeps : int
        Upper bound; convergence is quadratic and takes about ten.

    Examples
    --------
    >>> values, vectors = eigen_symmetric(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> values.round(12).tolist()
    [3.0, 1.0]
    """
    a = np.array(matrix, dtype=np.float64)
    d = len(a)
    vectors = np.eye(d)
    scale = float(np.abs(a).max(initial=0.0))
    for _ in range(sweeps):
        if d < 2 or float(np.abs(a - np.diag(a.diagonal())).max()) <= 1e-15 * scale:
            break
        for p in range(d - 1):
            for q in range(p + 1, d):
                _rotate(a, vectors, p, q, scale)
    values = a.diagonal().copy()
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    peak = np.argmax(np.abs(vectors), axis=0)
    signs = np.where(vectors[peak, np.arange(d)] < 0, -1.0, 1.0)
    return values, vectors * signs


def _rotate(a: Floats, vectors: Floats, p: int, q: int, scale: float) -> None:
    off = float(a[p, q])
    if abs(off) <= 1e-18 * scale:
        return
    theta = (float(a[q, q]) - float(a[p, p])) / (2.0 * off)
    t = (1.0 if theta >= 0 else -1.0) / (abs(theta) + sqrt(theta * theta + 1.0)) if abs(theta) < 1e150 else 0.5 / theta
    c = 1.0 / sqrt(t * t + 1.0)
    s = t * c
    row_p, row_q = a[p].copy(), a[q].copy()
    a[p], a[q] = c * row_p - s * row_q, s * row_p + c * row_q
    column_p, column_q = a[:, p].copy(), a[:, q].copy()
    a[:, p], a[:, q] = c * column_p - s * column_q, s * column_p + c * column_q
    a[p, q] = a[q, p] = 0.0
    vector_p, vector_q = vectors[:, p].copy(), vectors[:, q].copy()
    vectors[:, p], vectors[:, q] = c * vector_p - s * vector_q, s * vector_p + c * vector_q


def solve_positive(matrix: Floats, right: Floats) -> Floats:
    """Return X with matrix X = right, for a positive definite matrix.

    Parameters
    ----------
    matrix : array of shape (m, m)
    right : array of shape (m, e)

    Examples
    --------
    >>> solve_positive(np.array([[4.0, 2.0], [2.0, 2.0]]), np.array([[8.0], [6.0]])).ravel().tolist()
    [1.0, 2.0]
    """
    out = np.array(right, dtype=np.float64)
    fast = compiled_kernels(0)
    if fast is not None:
        fast.solve_in_place(np.array(matrix, dtype=np.float64), out)
        return out
    factor = cholesky(matrix, tolerance=0.0)
    size = len(out)
    for i in range(size):
        out[i] /= factor[i, i]
        out[i + 1 :] -= factor[i + 1 :, i][:, None] * out[i]
    for i in range(size - 1, -1, -1):
        out[i] /= factor[i, i]
        out[:i] -= factor[i, :i][:, None] * out[i]
    return out


def lower_inverse(factor: Floats) -> Floats:
    """Return the inverse of a lower triangular matrix with positive diagonal.

    Parameters
    ----------
    factor : array of shape (d, d)

    Examples
    --------
    >>> lower_inverse(np.array([[2.0, 0.0], [1.0, 1.0]])).tolist()
    [[0.5, 0.0], [-0.5, 1.0]]
    """
    out = np.eye(len(factor))
    fast = compiled_kernels(0)
    if fast is not None:
        fast.inverse_of_factor(np.ascontiguousarray(factor), out)
        return out
    for i in range(len(factor)):
        out[i] /= factor[i, i]
        out[i + 1 :] -= factor[i + 1 :, i][:, None] * out[i]
    return out


def product_in_order(left: Floats, right: Floats) -> Floats:
    """Return the product of two small matrices, summed from the first term to the last.

    Parameters
    ----------
    left : array of shape (m, d)
    right : array of shape (d, e)

    Examples
    --------
    >>> product_in_order(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    out = np.zeros((len(left), right.shape[1]))
    fast = compiled_kernels(0)
    if fast is not None:
        fast.small_product(np.ascontiguousarray(left), np.ascontiguousarray(right), out)
        return out
    for index in range(len(right)):
        out += left[:, index][:, None] * right[index]
    return out


def sum_in_order(values: Floats) -> Floats:
    """Sum along the last axis, from first to last: short sums of fitted state, with one possible result.

    Parameters
    ----------
    values : array of shape (..., m)

    Examples
    --------
    >>> sum_in_order(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [3.0, 7.0]
    """
    if values.shape[-1] == 0:
        return np.zeros(values.shape[:-1])
    fast = compiled_kernels(0) if values.size > _LONG and values.ndim <= 2 and values.dtype == np.float64 else None
    if fast is not None:
        out = np.empty(values.shape[:-1])
        fast.sums_in_order(np.ascontiguousarray(values).reshape(-1, values.shape[-1]), out.reshape(-1))
        return out + 0.0
    # running sums cannot be added in another order; a sum that begins with 0 has no negative zero
    total: Floats = np.add.accumulate(values, axis=-1)[..., -1] + 0.0
    return total


def fixed_order_sum(values: Floats) -> Floats:
    """Sum along the last axis by folding halves: the order depends on the length alone.

    Parameters
    ----------
    values : ndarray of shape (..., b)
        Numbers to add up.

    Returns
    -------
    ndarray of shape (...)

    Examples
    --------
    >>> fixed_order_sum(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    array([ 6., 15.])
    """
    length = values.shape[-1]
    if length == 0:
        return np.zeros(values.shape[:-1])
    while length > 1:
        half = (length + 1) // 2
        folded = values[..., :half].copy()
        folded[..., : length - half] += values[..., half:]
        values, length = folded, half
    total: Floats = values[..., 0]
    return total


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
    if left.shape[1] > _MOST_TERMS and _largest_sum(left, right) > _EXACT:
        raise DataError(
            f"{left.shape[1]} columns, of which too many reach far out, are more than can be multiplied exactly",
            hint="choose fewer columns",
        )
    product: Floats = left @ right
    return product


def _largest_sum(left: Floats, right: Floats) -> float:
    """Return what no sum of the product, and no part of one, can exceed: of wide tables few columns go to the end."""
    return float(np.abs(left).max(axis=0, initial=0.0) @ np.abs(right).max(axis=1, initial=0.0))
