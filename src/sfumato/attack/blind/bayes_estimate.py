"""The best linear estimate of the originals under the public covariance of the noise."""

from __future__ import annotations

import numpy as np

from sfumato.attack.blind.pca_reconstruction import signal_covariance
from sfumato.attack.catalogue import entry
from sfumato.attack.engine.blocks import blocks_of
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values
from sfumato.attack.engine.noise_law import has_noise_law, noise_law


def linear_estimate(rows: FloatArray, mean: FloatArray, signal: FloatArray, noise: FloatArray) -> FloatArray:
    """Return mean + S (S + N)^-1 (y - mean) of every row.

    Parameters
    ----------
    rows : array of shape (t, d)
        Released rows.
    mean : array of shape (d,)
        Mean of the data.
    signal, noise : arrays of shape (d, d)
        Covariances of data and noise.

    Returns
    -------
    array of shape (t, d)
        Estimates.

    Examples
    --------
    >>> linear_estimate(np.array([[4.0]]), np.array([0.0]), np.array([[3.0]]), np.array([[1.0]]))
    array([[3.]])
    """
    gain = signal @ np.linalg.pinv(signal + noise, hermitian=True)
    return np.asarray(mean + (rows - mean) @ gain.T, dtype=np.float64)


class BayesEstimate(Attack):
    """Weigh the release against the data's mean and covariance, as a normal prior would.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(300, 1)) @ np.ones((1, 8))
    >>> noisy = table + 0.1 * draw.normal(size=table.shape)
    >>> run_attack(BayesEstimate(), table, noisy, method="adp", parameters={"scale": 0.1}).rate > 0.8
    True
    """

    entry = entry("bayes")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when the noise is not described."""
        return None if has_noise_law(knowledge) else "the size of the noise does not follow from the description"

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the estimates of the target rows."""
        parts = [self._of_block(knowledge, block, deadline) for block in blocks_of(knowledge.n_columns)]
        return guess_values(snap(np.concatenate(parts, axis=1), knowledge.decimals))

    @staticmethod
    def _of_block(knowledge: Knowledge, block: slice, deadline: Deadline) -> FloatArray:
        deadline.check()
        law = noise_law(knowledge, block)
        assert law is not None
        # in units of the noise, so that dollars and years are equally well conditioned
        unit = np.where(law.sd > 0, law.sd, 1.0)
        noise = law.covariance / np.outer(unit, unit)
        scaled = knowledge.released[:, block] / unit
        signal = signal_covariance(scaled, noise)
        return linear_estimate(scaled[knowledge.targets], scaled.mean(axis=0), signal, noise) * unit
