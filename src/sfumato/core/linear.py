"""Small linear algebra with one possible result: fixed order, only + - * / and sqrt.

LAPACK and BLAS sum in an order that depends on the processor and on the shape of the batch. What reaches a
release is computed here instead; the matrices are as small as the number of columns.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from math import sqrt

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.fast import compiled_kernels


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
    rest = np.array(matrix, dtype=np.float64)
    diagonal = rest.diagonal().copy()
    factor = np.zeros_like(rest)
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


def multiply_columns(matrix: Floats, tile: Floats) -> Floats:
    """Return matrix times tile, summed over the columns from first to last for every row alike.

    Parameters
    ----------
    matrix : array of shape (e, d)
    tile : array of shape (d, rows)

    Examples
    --------
    >>> multiply_columns(np.array([[1.0, 1.0]]), np.array([[1.0, 2.0], [10.0, 20.0]])).tolist()
    [[11.0, 22.0]]
    """
    out = np.zeros((len(matrix), tile.shape[1]))
    fast = compiled_kernels(tile.size)
    if fast is not None:
        fast.multiply_columns(matrix, tile, out)
        return out
    scratch = np.empty(tile.shape[1])
    for row, target in zip(matrix, out, strict=True):
        _weighted_sum(row, tile, target, scratch)
    return out


def add_product(matrix: Floats, tile: Floats, out: Floats) -> None:
    """Do out += matrix times tile, a row of the product at a time: no second tile for the product.

    Parameters
    ----------
    matrix : array of shape (e, d)
    tile : array of shape (d, rows)
    out : array of shape (e, rows)
        Changed in place.
    """
    fast = compiled_kernels(tile.size)
    total, scratch = np.empty((1, tile.shape[1])), np.empty(tile.shape[1])
    for row, target in zip(matrix, out, strict=True):
        if fast is not None:
            fast.multiply_columns(row[None, :], tile, total)
        else:
            total[...] = 0.0
            _weighted_sum(row, tile, total[0], scratch)
        target += total[0]


def _weighted_sum(weights: Floats, tile: Floats, target: Floats, scratch: Floats) -> None:
    for weight, column in zip(weights, tile, strict=True):
        if weight != 0.0:
            np.multiply(column, weight, out=scratch)
            target += scratch


def turn_columns(x: Floats, y: Floats, cosine: float, to_x: float, to_y: float) -> None:
    """Do x, y = x * cosine + y * to_x, y * cosine - x * to_y in place.

    Examples
    --------
    >>> x, y = np.array([1.0]), np.array([0.0])
    >>> turn_columns(x, y, 0.0, 1.0, 1.0)
    >>> x.tolist(), y.tolist()
    ([0.0], [-1.0])
    """
    fast = compiled_kernels(x.size + y.size)
    if fast is not None:
        fast.turn(x, y, cosine, to_x, to_y)
        return
    before, scratch = x * to_y, y * to_x
    x *= cosine
    x += scratch
    y *= cosine
    y -= before


def cos_sin_degrees(angle: float) -> tuple[float, float]:
    """Return cosine and sine of an angle in degrees, correctly rounded on every machine.

    Parameters
    ----------
    angle : float
        Degrees.

    Examples
    --------
    >>> cos_sin_degrees(90.0)
    (0.0, 1.0)
    >>> cos_sin_degrees(-180.0)
    (-1.0, 0.0)
    """
    with localcontext() as context:
        context.prec = 50
        turn = Decimal(angle) % 360
        quarter, rest = divmod(turn + (360 if turn < 0 else 0), 90)
        x = rest * _PI / 180
        cosine, sine = _series(x, start=0), _series(x, start=1)
    for _ in range(int(quarter)):
        cosine, sine = -sine, cosine
    return float(cosine) + 0.0, float(sine) + 0.0


_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")


def _series(x: Decimal, *, start: int) -> Decimal:
    term = x if start else Decimal(1)
    total = term
    power = start
    while abs(term) > Decimal(10) ** -45:
        term = -term * x * x / ((power + 1) * (power + 2))
        power += 2
        total += term
    return total


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
    factor = cholesky(matrix, tolerance=0.0)
    out = np.array(right, dtype=np.float64)
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
    for i in range(len(factor)):
        out[i] /= factor[i, i]
        out[i + 1 :] -= factor[i + 1 :, i][:, None] * out[i]
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
