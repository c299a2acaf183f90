"""Spectral filtering: directions that noise alone could explain are removed."""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.blocks import blocks_of
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values
from sfumato.attack.engine.noise_law import noise_law


def noise_edge(variance: float, n_rows: int, n_columns: int) -> float:
    """Return the largest eigenvalue that white noise alone produces (Marchenko and Pastur).

    Parameters
    ----------
    variance : float
        Variance of the noise.
    n_rows, n_columns : int
        Size of the table.

    Returns
    -------
    float
        variance * (1 + sqrt(columns / rows))^2.

    Examples
    --------
    >>> noise_edge(2.0, 400, 100)
    4.5
    """
    return float(variance * (1 + np.sqrt(n_columns / n_rows)) ** 2)


class SpectralFilter(Attack):
    """Keep the directions whose variance is beyond the Marchenko-Pastur edge of the noise.

    The noise's size comes from the public description, or, failing that, from the smallest eigenvalue.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(300, 1)) @ np.ones((1, 8))
    >>> noisy = table + 0.1 * draw.normal(size=table.shape)
    >>> told = {"method": "adp", "parameters": {"scale": 0.1}}
    >>> run_attack(SpectralFilter(), table, noisy, **told).rate > run_attack("as-released", table, noisy).rate
    True
    """

    entry = entry("spectral")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when there is nothing to filter."""
        if knowledge.n_columns < 2:
            return "one column has no directions to choose from"
        if knowledge.n_rows <= knowledge.n_columns:
            return "needs more rows than columns"
        if (np.ptp(knowledge.released, axis=0) == 0).all():
            return "all released columns are constant"
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the target rows projected on the kept directions."""
        parts = [self._of_block(knowledge, block, deadline) for block in blocks_of(knowledge.n_columns)]
        filtered, kept = np.concatenate([part for part, _ in parts], axis=1), sum(kept for _, kept in parts)
        note = f"{kept} of {knowledge.n_columns} directions kept"
        return guess_values(snap(filtered, knowledge.decimals), note=note)

    @staticmethod
    def _of_block(knowledge: Knowledge, block: slice, deadline: Deadline) -> tuple[FloatArray, int]:
        deadline.check()
        released = knowledge.released[:, block]
        columns, law = released.shape[1], noise_law(knowledge, block)
        spread = released.std(axis=0)
        unit: FloatArray = np.where(spread > 0, spread, 1.0) if law is None else np.where(law.sd > 0, law.sd, 1.0)
        mean = released.mean(axis=0)
        scaled = (released - mean) / unit
        values, vectors = np.linalg.eigh(scaled.T @ scaled / len(scaled))
        ratio = float(np.sqrt(columns / knowledge.n_rows))
        variance = 1.0 if law is not None else float(values[0]) / (1 - ratio) ** 2
        kept = values > noise_edge(variance, knowledge.n_rows, columns)
        kept[-1] = True
        basis = vectors[:, kept]
        return scaled[knowledge.targets] @ basis @ basis.T * unit + mean, int(kept.sum())
