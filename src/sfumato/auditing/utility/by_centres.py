"""The yardstick where released rows belong to nobody: centres found on the release, applied to the original.

A miner of such a release cannot say in which cluster a person is, but hands over centres; each person belongs to the
nearest. What the centres cost on the original, against the best ones, is what a clustering is worth; which people are
in another cluster compares with methods whose rows correspond.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.auditing.utility.optima import Optima
from sfumato.auditing.utility.rescaling import Rescaling

DRAWN_ROWS = "released rows belong to nobody: only centres can be applied to the original"


def cost_by_centres(points: Floats, centres: Floats) -> tuple[float, NDArray[np.int64]]:
    """Return what k-means pays for centres on some rows, and the nearest centre of each row.

    Parameters
    ----------
    points : array of shape (n, d)
    centres : array of shape (k, d)

    Examples
    --------
    >>> cost, labels = cost_by_centres(np.array([[0.0], [2.0], [9.0]]), np.array([[1.0], [9.0]]))
    >>> cost, labels.tolist()
    (2.0, [0, 0, 1])
    """
    least = np.full(len(points), np.inf)
    labels = np.zeros(len(points), dtype=np.int64)
    for place, centre in enumerate(centres):
        apart = ((points - centre) ** 2).sum(axis=1)
        nearer = apart < least
        labels[nearer] = place
        least[nearer] = apart[nearer]
    return float(least.sum()), labels


def carried(centres: Floats, source: Rescaling, target: Rescaling) -> Floats:
    """Return centres of one rescaled table as centres of another.

    Parameters
    ----------
    centres : array of shape (k, d)
    source, target : Rescaling
        How the tables were rescaled.
    """
    return target.apply(centres * source.scale + source.shift)


def on_original(found: Optima, points: Floats, of_original: Rescaling, of_release: Rescaling) -> tuple[Optima, Floats]:
    """Return optima of a release with the labels that their centres give the original, and what each costs there.

    Parameters
    ----------
    found : Optima
        Of the release; how often each is found stays.
    points : array of shape (n, d)
        The rescaled original.
    of_original, of_release : Rescaling
        How the two tables were rescaled.
    """
    centres = tuple(carried(one, of_release, of_original) for one in found.centres)
    priced = [cost_by_centres(points, one) for one in centres]
    labels = tuple(labels for _, labels in priced)
    return replace(found, labels=labels, centres=centres), np.array([cost for cost, _ in priced])
