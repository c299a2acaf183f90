"""The two nearest references of each row: found by BLAS, measured in fixed order.

BLAS gives other last bits for other shapes and processors, so its distances may only *choose*: a row's two candidates
are taken when the third is farther than twice the largest possible error, and their distances are then computed anew,
column by column. The few rows where the third is too close get all distances in fixed order. Compiled, all distances
in fixed order cost less than that, and BLAS is not asked.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats
from sfumato.core.fast import compiled_kernels
from sfumato.core.tiles import spans

_WORTH_IT = 8  # with fewer references all distances cost less than choosing
_CHOICE_BYTES = 1 << 19  # size of one table of distances, so that it stays in the cache
_SINGLE = 2.0**-24  # rounding of a single-precision number


def two_nearest(tile: Floats, references: Floats) -> tuple[Floats, Floats]:
    """Return each row's distances to its nearest and its second nearest reference.

    Parameters
    ----------
    tile : array of shape (d, rows)
        In units of the columns.
    references : array of shape (b, d), b >= 2

    Examples
    --------
    >>> nearest, second = two_nearest(np.array([[1.0]]), np.array([[0.0], [5.0], [3.0]]))
    >>> nearest.tolist(), second.tolist()
    ([1.0], [2.0])
    """
    n_rows = tile.shape[1]
    fast = compiled_kernels(tile.size)
    if fast is not None:
        best, second = np.empty(n_rows), np.empty(n_rows)
        fast.two_nearest_squares(np.ascontiguousarray(tile), np.ascontiguousarray(references), best, second)
        return np.sqrt(best, out=best), np.sqrt(second, out=second)
    if len(references) < _WORTH_IT:
        best, second = all_distances(tile, references)
        return np.sqrt(best), np.sqrt(second)
    best, second = np.empty(n_rows), np.empty(n_rows)
    choice = _Choice(references)
    left_over = [np.empty(0, dtype=np.intp)]
    for start, stop in spans(n_rows, max(256, _CHOICE_BYTES // (4 * len(references)))):
        part = tile[:, start:stop]
        first, other, certain = choice.of(part)
        one, two = distances_to(part, references, first), distances_to(part, references, other)
        np.minimum(one, two, out=best[start:stop])
        np.maximum(one, two, out=second[start:stop])
        left_over.append(np.flatnonzero(~certain) + start)
    rest = np.concatenate(left_over)
    best[rest], second[rest] = all_distances(tile[:, rest], references)
    return np.sqrt(best, out=best), np.sqrt(second, out=second)


class _Choice:
    """Two candidates for each row, by single-precision BLAS."""

    def __init__(self, references: Floats) -> None:
        self._middle = references.mean(axis=0)
        centred = references - self._middle
        squares = (centred * centred).sum(axis=1)
        with np.errstate(over="ignore"):
            self._weights = (-2.0 * centred.T).astype(np.float32)
            self._squares = squares.astype(np.float32)
        self._length = float(np.sqrt(squares.max()))
        self._largest = float(np.abs(references).max())

    def of(self, tile: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp], Flags]:
        """Return the candidates, and whether they are certainly the two nearest references."""
        d, n_rows = tile.shape
        shifted = tile - self._middle[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            # |x - r|^2 without |x|^2, which is the same for all references of a row
            apart = shifted.astype(np.float32).T @ self._weights
            apart += self._squares
            # the error of conversion, products and sums in single precision, in any order, fused or not, four times
            # over; and of the shift in double precision
            size = self._length + np.sqrt((shifted * shifted).sum(axis=0))
            doubles = 2.0**-46 * d * (np.abs(tile).max(axis=0) + self._largest)
            error = (4.0 * (d + 8) * _SINGLE * self._length + doubles) * size
            rows = np.arange(n_rows)
            places, values = [], []
            for _ in range(3):
                place = apart.argmin(axis=1)
                places.append(place)
                values.append(apart[rows, place].astype(np.float64))
                apart[rows, place] = np.inf
            certain = values[2] - values[1] > 2.0 * error  # also false for NaN
        return places[0], places[1], np.asarray(certain)


def distances_to(tile: Floats, references: Floats, chosen: NDArray[np.intp]) -> Floats:
    """Return each row's squared distance to the reference chosen for it, summed from first to last column."""
    total = np.zeros(tile.shape[1])
    for values, centres in zip(tile, np.ascontiguousarray(references.T), strict=True):
        gap = centres.take(chosen)
        np.subtract(values, gap, out=gap)
        gap *= gap
        total += gap
    return total


def all_distances(tile: Floats, references: Floats) -> tuple[Floats, Floats]:
    """Return each row's smallest and second smallest squared distance, all of them computed in fixed order."""
    best, second = np.empty(tile.shape[1]), np.empty(tile.shape[1])
    for start, stop in spans(tile.shape[1], max(1, _CHOICE_BYTES // (8 * len(references)))):
        total = np.zeros((len(references), stop - start))
        gap = np.empty_like(total)
        for values, centres in zip(tile, references.T, strict=True):
            np.subtract(values[None, start:stop], centres[:, None], out=gap)
            gap *= gap
            total += gap
        total.partition(1, axis=0)
        best[start:stop], second[start:stop] = total[0], total[1]
    return best, second
