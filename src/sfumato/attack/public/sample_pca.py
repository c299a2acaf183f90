"""Principal axes of a population sample matched with those of the release undo rotations."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import wasserstein_distance

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values

MOST_ROWS = 400


def energy_distance(first: FloatArray, second: FloatArray) -> float:
    """Return the energy distance of two samples, 0 for equal distributions.

    Parameters
    ----------
    first, second : arrays of shape (m, d) and (k, d)
        Samples.

    Returns
    -------
    float
        2 E|X - Y| - E|X - X'| - E|Y - Y'|.

    Examples
    --------
    >>> energy_distance(np.array([[0.0]]), np.array([[1.0]]))
    2.0
    """
    return float(2 * cdist(first, second).mean() - cdist(first, first).mean() - cdist(second, second).mean())


def signs_by_shape(sample: FloatArray, released: FloatArray) -> FloatArray:
    """Return +1 or -1 per column: which direction of the released column has the sample's distribution.

    Parameters
    ----------
    sample, released : arrays of shape (m, e) and (n, e)
        Scores on matched axes.

    Returns
    -------
    array of shape (e,)
        Signs, by the Wasserstein distance.

    Examples
    --------
    >>> skewed = np.random.default_rng(0).exponential(size=(200, 1)) - 1
    >>> signs_by_shape(skewed[:100], -skewed[100:])
    array([-1.])
    """
    signs = np.ones(sample.shape[1])
    for axis in range(sample.shape[1]):
        as_is = wasserstein_distance(sample[:, axis], released[:, axis])
        mirrored = wasserstein_distance(sample[:, axis], -released[:, axis])
        signs[axis] = 1.0 if as_is <= mirrored else -1.0
    return signs


class SamplePCA(Attack):
    """Match principal axes by their variances, signs by shape, then flip signs while the whole fits better.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.exponential(size=(2000, 2)) * [1, 5]
    >>> released = table @ [[0.6, -0.8], [0.8, 0.6]]
    >>> run_attack(SamplePCA(), table, released, population=draw.exponential(size=(2000, 2)) * [1, 5]).rate > 0.3
    True
    """

    entry = entry("sample-pca")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when shapes do not allow matching."""
        assert knowledge.sample is not None
        if len(knowledge.sample) <= knowledge.n_columns:
            return f"needs a sample of more than {knowledge.n_columns} people, {len(knowledge.sample)} are known"
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the target rows in the sample's axes."""
        assert knowledge.sample is not None
        sample, released = knowledge.sample, knowledge.released
        centre, middle = sample.mean(axis=0), released.mean(axis=0)
        sample_axes = np.linalg.eigh(np.cov(sample - centre, rowvar=False).reshape(knowledge.n_columns, -1))[1]
        release_axes = np.linalg.eigh(np.cov(released - middle, rowvar=False).reshape(knowledge.n_columns, -1))[1]
        generator = np.random.default_rng(knowledge.seed)
        few = generator.choice(len(released), size=min(MOST_ROWS, len(released)), replace=False)
        scores = (released[few] - middle) @ release_axes
        told = ((sample - centre) @ sample_axes)[:MOST_ROWS]
        deadline.check()
        signs = signs_by_shape(told, scores)
        unit = np.where(told.std(axis=0) > 0, told.std(axis=0), 1.0)
        best = energy_distance(told / unit, scores * signs / unit)
        for axis in range(signs.size - 1, -1, -1):
            deadline.check()
            flipped = signs.copy()
            flipped[axis] *= -1
            distance = energy_distance(told / unit, scores * flipped / unit)
            if distance < best:
                signs, best = flipped, distance
        guess = (released[knowledge.targets] - middle) @ (release_axes * signs) @ sample_axes.T + centre
        return guess_values(snap(guess, knowledge.decimals))
