"""How much of the scatter inside atoms each column keeps."""

from __future__ import annotations

import numpy as np

from sfumato._arrays import Flags, Floats
from sfumato.perturb.guard.atoms import Atoms
from sfumato.perturb.guard.placing import Placed

_LEAST, _MOST = 0.25, 1.1  # limits of the squared spread
_REACHING = (0.8, 1.0)  # shares of the columns that can shrink as much as all are asked to


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
