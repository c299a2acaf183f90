"""Normal rows with exactly the mean and covariance that an atom should have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.lattice import exact_product, lattice_bits, to_steps
from sfumato.core.linear import cholesky, lower_inverse
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.variates import normal

DRAW_BITS = 16  # normal numbers are at most 8.3 in size: 2^20 steps


@dataclass(frozen=True, repr=False)
class Shape(Hidden):
    """Turns normal numbers into deviations of an atom's rows.

    Attributes
    ----------
    matrix : array of shape (d, d)
        In whole steps.
    bits : int
    centre : array of shape (d,)
        What the mean of the draws becomes.
    """

    matrix: Floats
    bits: int
    centre: Floats

    def deviations(self, steps: Floats) -> Floats:
        """Return the deviations for normal numbers in whole steps, shape (d, rows)."""
        made: Floats = exact_product(self.matrix, steps) * 2.0 ** -(self.bits + DRAW_BITS) - self.centre[:, None]
        return made


def draw_steps(names: tuple[str, ...], rows: Rows, streams: Streams) -> Floats:
    """Return one normal number for each row and column, in whole steps."""
    return np.stack([to_steps(normal(streams.words("mixing", name, rows)), DRAW_BITS) for name in names])


def shape_of(wanted: Floats, drawn_mean: Floats, drawn: Floats, spread: Floats) -> Shape:
    """Return the shape that gives draws of known moments the covariance of an atom, times the spread.

    Parameters
    ----------
    wanted : array of shape (d, d)
        Covariance of the atom.
    drawn_mean, drawn : arrays of shape (d,) and (d, d)
        Mean and covariance of the normal numbers that its rows draw.
    spread : array of shape (d,)
        Share of each column's standard deviation that is kept.
    """
    factor = cholesky(wanted) * spread[:, None]
    white = lower_inverse(cholesky(drawn, tolerance=0.0))
    matrix = np.zeros_like(factor)
    for index in range(len(factor)):  # a product in a fixed order
        matrix += factor[:, index][:, None] * white[index]
    bits = lattice_bits(float(np.abs(matrix).max(initial=0.0)))
    steps = to_steps(matrix, bits)
    centre = np.zeros(len(matrix))
    for index in range(len(matrix)):
        centre += steps[:, index] * 2.0**-bits * drawn_mean[index]
    return Shape(steps, bits, centre)
