"""PCA-DR: the data's own covariance is the release's minus the noise's; its main directions rebuild the rows."""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.blocks import blocks_of
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values
from sfumato.attack.engine.noise_law import has_noise_law, noise_law


def signal_covariance(released: FloatArray, noise: FloatArray) -> FloatArray:
    """Return the covariance of the data behind a noisy release, without negative directions.

    Parameters
    ----------
    released : array of shape (n, d)
        The release.
    noise : array of shape (d, d)
        Covariance of the noise.

    Returns
    -------
    array of shape (d, d)
        Positive semi-definite.

    Examples
    --------
    >>> signal_covariance(np.array([[0.0], [2.0], [4.0]]), np.array([[1.0]]))
    array([[3.]])
    """
    difference = np.atleast_2d(np.cov(released, rowvar=False)) - noise
    values, vectors = np.linalg.eigh((difference + difference.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T, dtype=np.float64)


class PrincipalReconstruction(Attack):
    """Project the release on the directions in which the data vary more than the noise.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(300, 1)) @ np.ones((1, 8))
    >>> noisy = table + 0.1 * draw.normal(size=table.shape)
    >>> run_attack(PrincipalReconstruction(), table, noisy, method="adp", parameters={"scale": 0.1}).rate > 0.8
    True
    """

    entry = entry("pca-dr")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when the noise is not described."""
        if knowledge.n_columns < 2:
            return "one column has no directions to choose from"
        return None if has_noise_law(knowledge) else "the size of the noise does not follow from the description"

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the target rows projected on the main directions."""
        parts = [self._of_block(knowledge, block, deadline) for block in blocks_of(knowledge.n_columns)]
        rebuilt, kept = np.concatenate([part for part, _ in parts], axis=1), sum(kept for _, kept in parts)
        note = f"{kept} of {knowledge.n_columns} directions kept"
        return guess_values(snap(rebuilt, knowledge.decimals), note=note)

    @staticmethod
    def _of_block(knowledge: Knowledge, block: slice, deadline: Deadline) -> tuple[FloatArray, int]:
        deadline.check()
        law = noise_law(knowledge, block)
        assert law is not None
        unit = np.where(law.sd > 0, law.sd, 1.0)
        scaled = knowledge.released[:, block] / unit
        values, vectors = np.linalg.eigh(signal_covariance(scaled, law.covariance / np.outer(unit, unit)))
        kept = values > 1.0  # in units of the noise: directions where the data outweigh it
        kept[-1] = True
        basis = vectors[:, kept]
        mean = scaled.mean(axis=0)
        return ((scaled[knowledge.targets] - mean) @ basis @ basis.T + mean) * unit, int(kept.sum())
