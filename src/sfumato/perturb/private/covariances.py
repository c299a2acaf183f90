"""Covariances from noisy sums of products: made positive, and drawn towards the common one where noise rules."""

from __future__ import annotations

import numpy as np

from sfumato._arrays import Floats


def positive(matrix: Floats, least: float) -> Floats:
    """Return the nearest symmetric matrix without eigenvalues below `least`."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    out: Floats = (vectors * np.maximum(values, least)) @ vectors.T
    return out


def square(pairs: Floats, d: int) -> Floats:
    """Return symmetric matrices of their upper triangles.

    Parameters
    ----------
    pairs : array of shape (d * (d + 1) / 2, k)

    Examples
    --------
    >>> square(np.array([[1.0], [2.0], [3.0]]), 2).tolist()
    [[[1.0, 2.0], [2.0, 3.0]]]
    """
    upper = np.triu_indices(d)
    out = np.zeros((pairs.shape[1], d, d))
    out[:, upper[0], upper[1]] = pairs.T
    out[:, upper[1], upper[0]] = pairs.T
    return out


def shrunk(second: Floats, counts: Floats, means: Floats, sigma: float) -> Floats:
    """Return a covariance for each centre, of shape (k, d, d), in units of its ball.

    Parameters
    ----------
    second : array of shape (k, d, d)
        Noisy sums of products.
    counts : array of shape (k,)
        Noisy, above zero.
    means : array of shape (k, d)
    sigma : float
        Standard deviation of the noise of the sums.
    """
    weights = counts / counts.sum()
    common = second.sum(axis=0) / counts.sum() - np.einsum("k,ki,kj->ij", weights, means, means)
    common = positive(common, 1e-4)
    out = np.empty_like(second)
    for k, count in enumerate(counts):
        own = second[k] / count - np.outer(means[k], means[k])
        apart = float(((own - common) ** 2).mean())
        trust = float(np.clip(1.0 - (sigma / count) ** 2 / max(apart, 1e-12), 0.0, 1.0))
        size = float(np.clip(np.trace(own) / np.trace(common), 0.2, 5.0))
        out[k] = positive(trust * own + (1.0 - trust) * size * common, 1e-5)
    return out
