"""EM reconstruction: the distribution of a column behind its noise, then each value's most probable place."""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.blocks import blocks_of
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values
from sfumato.attack.engine.noise_law import density, has_noise_law, noise_law

BINS = 150
ROUNDS = 60
MOST_ROWS = 1500


def reconstruct(likelihood: FloatArray, rounds: int = ROUNDS) -> FloatArray:
    """Return the distribution over bins that explains noisy values best.

    Parameters
    ----------
    likelihood : array of shape (n, b)
        Density of each noisy value when its original lies in a bin.
    rounds : int, optional
        EM rounds.

    Returns
    -------
    array of shape (b,)
        Probabilities of the bins.

    Examples
    --------
    >>> reconstruct(np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])).round(2)
    array([0.75, 0.25])
    """
    weights = np.full(likelihood.shape[1], 1.0 / likelihood.shape[1])
    for _ in range(rounds):
        mixture = likelihood @ weights
        usable = mixture > 0
        shares = likelihood[usable].T @ (1.0 / mixture[usable])
        updated = weights * shares
        updated /= max(float(updated.sum()), 1e-300)
        done = float(np.abs(updated - weights).sum()) < 1e-6
        weights = updated
        if done:
            break
    return weights


class MarginalReconstruction(Attack):
    """Rebuild every column's distribution and move each value to its most probable neighbourhood.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.choice([0.0, 10.0], size=(200, 2))
    >>> noisy = table + draw.normal(size=table.shape)
    >>> run_attack(MarginalReconstruction(), table, noisy, method="adp", parameters={"scale": 0.2}).rate > 0.9
    True
    """

    entry = entry("em")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when the noise is not described."""
        return None if has_noise_law(knowledge) else "the size of the noise does not follow from the description"

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the most probable values of the target rows."""
        laws = [noise_law(knowledge, block) for block in blocks_of(knowledge.n_columns)]
        generator = np.random.default_rng(knowledge.seed)
        size = min(knowledge.n_rows, MOST_ROWS)
        sample = generator.choice(knowledge.n_rows, size=size, replace=False)
        values = np.array(knowledge.released[knowledge.targets])
        numbers = [(law, at) for law in laws for at in range(0 if law is None else law.sd.size)]
        for column, (law, at) in enumerate(numbers):
            deadline.check()
            assert law is not None
            released = knowledge.released[:, column]
            low, high = float(released.min()), float(released.max())
            if low == high or law.sd[at] == 0:
                continue
            bins = np.linspace(low, high, BINS)
            weights = reconstruct(density(law, at, released[sample, None] - bins))
            posterior = density(law, at, released[knowledge.targets, None] - bins) * weights
            # a guess counts within 5 % of the deviation: take the window of that width with most mass
            window = max(1, round(0.1 * float(released.std()) / (bins[1] - bins[0])))
            mass = _window_sums(posterior, window)
            middle = mass.argmax(axis=1)
            values[:, column] = np.where(mass.max(axis=1) > 0, bins[middle], values[:, column])
        return guess_values(snap(values, knowledge.decimals))


def _window_sums(posterior: FloatArray, window: int) -> FloatArray:
    """Return the sum of `window` bins around every bin."""
    before = window // 2
    padded = np.pad(np.cumsum(posterior, axis=1), ((0, 0), (1, 0)))
    bins = np.arange(posterior.shape[1])
    top = np.minimum(bins - before + window, posterior.shape[1])
    return np.asarray(padded[:, top] - padded[:, np.maximum(bins - before, 0)], dtype=np.float64)
