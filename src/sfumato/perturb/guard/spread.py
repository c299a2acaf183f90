"""The scatter inside atoms: how much of it each column keeps, and normal rows that have it exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Flags, Floats
from sfumato.core.lattice import exact_product, lattice_bits, to_steps
from sfumato.core.linear import cholesky, lower_inverse
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.variates import normal
from sfumato.perturb.guard.atoms import Atoms
from sfumato.perturb.guard.placing import Placed

DRAW_BITS = 16  # normal numbers are at most 8.3 in size: 2^20 steps
_LEAST, _MOST = 0.25, 1.1  # limits of the squared spread
_REACHING = (0.8, 1.0)  # shares of the columns that can shrink as much as all are asked to


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


def column_spread(
    atoms: Atoms, small: Flags, variances: Floats, placed: Placed, spread: float, draw: int = 0
) -> Floats:
    """Return the share of the standard deviation inside atoms that each column keeps.

    Clusters are crisper when rows scatter less inside their atoms. Shrinking all columns alike would take more of the
    variance from columns that say little about the clusters, and a miner who standardises the release would blow
    these up again. So every column keeps the same share of its *whole* variance.

    Parameters
    ----------
    small : array of shape (a,), bool
    variances : array of shape (a, d)
        Inside each atom.
    spread : float
        The mean share to aim at.
    draw : int
        Draws that are tried take turns: either a few columns that hardly vary inside atoms keep a little more than the
        others, or all keep what the last of them can reach, and clusters are less crisp.
    """
    counts = atoms.counts.astype(np.float64)
    centre = _weighted(atoms.means, counts) / counts.sum()
    inside = _weighted(variances[~small], counts[~small])
    between = _weighted((placed.targets[~small] - centre) ** 2, counts[~small])
    for row in placed.small_rows.T:
        between += (row - centre) ** 2
    whole = _weighted(variances + (atoms.means - centre) ** 2, counts)
    varies = whole > 0
    inside = np.where(varies, inside / np.where(varies, whole, 1.0), 0.0)
    between = np.where(varies, between / np.where(varies, whole, 1.0), 1.0)
    share = (between + spread * spread * inside)[varies]
    kept = float(np.cumsum(share)[-1] / len(share)) if len(share) else 1.0
    if len(share):
        least = np.sort((between + _LEAST * inside)[varies])
        kept = max(kept, float(least[int(_REACHING[draw % len(_REACHING)] * (len(least) - 1))]))
    squared = np.divide(kept - between, inside, out=np.ones_like(inside), where=inside > 1e-9)
    kept_spread: Floats = np.sqrt(np.clip(squared, _LEAST, _MOST))
    return kept_spread


def _weighted(values: Floats, weights: Floats) -> Floats:
    total = np.zeros(values.shape[1])
    for row, weight in zip(values, weights, strict=True):
        total += weight * row
    return total
