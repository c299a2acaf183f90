"""How wide the noise of the independent-noise method was for a known record, seen from the release."""

from __future__ import annotations

import numpy as np

from sfumato.attack.engine.knowledge import FloatArray


def leaders(points: FloatArray, radius: float) -> FloatArray:
    """Return the running means of leader clustering: a point joins the nearest leader within the radius.

    Parameters
    ----------
    points : array of shape (s, d)
        Scaled points.
    radius : float
        Largest distance to a leader.

    Returns
    -------
    array of shape (q, d)
        Reference points.

    Examples
    --------
    >>> leaders(np.array([[0.0], [0.2], [5.0]]), 1.0)
    array([[0.1], [5. ]])
    """
    centres, counts = [points[0]], [1]
    for point in points[1:]:
        distances = np.linalg.norm(np.array(centres) - point, axis=1)
        nearest = int(distances.argmin())
        if distances[nearest] <= radius:
            counts[nearest] += 1
            centres[nearest] = centres[nearest] + (point - centres[nearest]) / counts[nearest]
        else:
            centres.append(point)
            counts.append(1)
    return np.array(centres)


def half_widths(records: FloatArray, released: FloatArray, *, beta: float, scale: FloatArray) -> FloatArray | None:
    """Return the largest noise of each column for each known record: scale (r2 - r1) / 2.

    The references of the release stand in for those of the original, which they resemble.

    Parameters
    ----------
    records : array of shape (m, d)
        Known originals.
    released : array of shape (s, d)
        A sample of the release.
    beta : float
        The method's divisor of the diagonal.
    scale : array of shape (d,)
        The method's alpha, column ranges or deviations, positive.

    Returns
    -------
    array of shape (m, d) or None
        None when there are fewer than two references.

    Examples
    --------
    >>> half_widths(np.array([[1.0]]), np.array([[0.0], [10.0]]), beta=2, scale=np.array([10.0]))
    array([[4.]])
    """
    points = released / scale
    references = leaders(points, float(np.linalg.norm(np.ptp(points, axis=0))) / beta)
    if len(references) < 2:
        return None
    distances = np.linalg.norm((records / scale)[:, None, :] - references[None], axis=2)
    nearest = np.sort(distances, axis=1)[:, :2]
    return np.asarray((nearest[:, 1] - nearest[:, 0])[:, None] / 2 * scale, dtype=np.float64)
