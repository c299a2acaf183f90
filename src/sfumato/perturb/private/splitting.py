"""Centres that have nobody are put where others have too many: free of charge, for all of it is made of noisy numbers.

A start that is made of the columns one by one puts centres into empty places. A round of noisy Lloyd tells which have
nobody; each of them takes half of the centre with the largest sum of squares, on either side of its longest axis.
"""

from __future__ import annotations

import numpy as np

from sfumato._arrays import Flags, Floats

_SIDE = 0.8  # of the longest axis: where the halves of a normal law have their middles


def halved(centres: Floats, radii: Floats, people: Floats, spreads: Floats, alive: Flags) -> tuple[Floats, Floats]:
    """Return centres and radii, those without people moved to halves of others.

    Parameters
    ----------
    centres : array of shape (k, d)
    radii : array of shape (k,)
    people : array of shape (k,)
        Noisy, above zero.
    spreads : array of shape (k, d, d)
        Covariances around the centres, positive; in the units of the centres.
    alive : array of shape (k,), bool
        Which have somebody for sure.

    Examples
    --------
    >>> spreads = np.stack([np.diag([4.0, 1.0]), np.eye(2)])
    >>> halved(np.zeros((2, 2)), np.ones(2), np.array([90.0, 1.0]), spreads, np.array([True, False]))[0].tolist()
    [[-1.6, 0.0], [1.6, 0.0]]
    """
    centres, radii, people, spreads = centres.copy(), radii.copy(), people.copy(), spreads.copy()
    if not alive.any():
        return centres, radii
    cost = np.where(alive, people * np.trace(spreads, axis1=1, axis2=2), -np.inf)
    for empty in np.flatnonzero(~alive).tolist():
        full = int(np.argmax(cost))
        values, vectors = np.linalg.eigh(spreads[full])
        axis = vectors[:, -1] * np.sign(vectors[np.argmax(np.abs(vectors[:, -1])), -1])
        before = float(np.trace(spreads[full]))
        away = _SIDE * np.sqrt(values[-1]) * axis
        spreads[full] -= np.outer(away, away)
        smaller = np.sqrt(max(float(np.trace(spreads[full])) / max(before, 1e-300), 0.05))
        centres[empty], centres[full] = centres[full] + away, centres[full] - away
        radii[[empty, full]] = radii[full] * smaller
        people[[empty, full]] = people[full] / 2
        spreads[empty] = spreads[full]
        cost[[empty, full]] = people[full] * float(np.trace(spreads[full]))
    return centres, radii
