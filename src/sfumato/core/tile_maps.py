"""Linear maps of tiles, column by column: products, and turns by an angle whose sine has one possible value."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.fast import compiled_kernels

_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")


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
    if fast is not None:
        fast.add_product(matrix, tile, out)
        return
    total, scratch = np.empty(tile.shape[1]), np.empty(tile.shape[1])
    for row, target in zip(matrix, out, strict=True):
        total[...] = 0.0
        _weighted_sum(row, tile, total, scratch)
        target += total


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


def _series(x: Decimal, *, start: int) -> Decimal:
    term = x if start else Decimal(1)
    total = term
    power = start
    while abs(term) > Decimal(10) ** -45:
        term = -term * x * x / ((power + 1) * (power + 2))
        power += 2
        total += term
    return total
