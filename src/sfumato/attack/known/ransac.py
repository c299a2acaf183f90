"""A linear map with noise on some rows is solved from the known rows that agree with each other."""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, needs_known_rows
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values
from sfumato.attack.known.affine import apply_affine, fit_affine

ROUNDS = 3000
BATCH = 200
#: known rows that are asked whether they agree; more of them change nothing but the memory, which is BATCH x rows x d
MOST_ROWS = 2000


def consensus(
    released: FloatArray, original: FloatArray, generator: np.random.Generator, deadline: Deadline
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which known rows agree on one linear map.

    Parameters
    ----------
    released : array of shape (m, e)
        Released rows of known people.
    original : array of shape (m, d)
        Their originals.
    generator : numpy.random.Generator
        Draws the subsets.
    deadline : Deadline
        The search stops early when the work is used up.

    Returns
    -------
    boolean array of shape (m,)
        The largest agreeing set found among random minimal subsets.
    """
    m, e = len(released), min(released.shape[1], original.shape[1])
    spread = np.where(original.std(axis=0) > 0, original.std(axis=0), 1.0)
    scaled = (original - original.mean(axis=0)) / spread
    width = np.where(released.std(axis=0) > 0, released.std(axis=0), 1.0)
    design = np.column_stack([(released - released.mean(axis=0)) / width, np.ones(m)])
    best = np.ones(m, dtype=np.bool_)
    best_count, best_error = 0, np.inf
    for _ in range(ROUNDS // BATCH):
        if deadline.expired:
            break
        deadline.spend(BATCH * m * original.shape[1])
        subsets = np.argsort(generator.random((BATCH, m)), axis=1)[:, : e + 1]
        # the pseudo-inverse survives subsets that hold equal rows or a constant column
        maps = np.linalg.pinv(design[subsets], rcond=1e-9) @ scaled[subsets]
        errors = np.abs(design @ maps - scaled).max(axis=2)
        inside = errors < 0.02
        counts = inside.sum(axis=1)
        worst = np.where(inside, errors, 0.0).sum(axis=1)
        first = int(np.lexsort((worst, -counts))[0])
        if (int(counts[first]), -float(worst[first])) > (best_count, -best_error):
            best, best_count, best_error = inside[first], int(counts[first]), float(worst[first])
        if best_count >= 0.9 * m:
            break
    # where nothing agrees all rows together are the best guess
    return best if best.sum() > e else np.ones(m, dtype=np.bool_)


class RansacAffine(Attack):
    """Solve the linear map from the largest set of known rows that agree.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(200, 2))
    >>> released = table @ [[0.6, -0.8], [0.8, 0.6]]
    >>> released[draw.random(200) < 0.1] += 5
    >>> run_attack(RansacAffine(), table, released).rate > 0.85
    True
    """

    entry = entry("ransac")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when there are too few known rows to disagree."""
        needed = min(knowledge.released.shape[1], knowledge.n_columns) + 2
        return needs_known_rows(knowledge, needed)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return all target rows mapped back by the map of the agreeing rows."""
        assert knowledge.pairs is not None
        generator = np.random.default_rng(knowledge.seed)
        held = len(knowledge.pairs.rows)
        asked = generator.choice(held, MOST_ROWS, replace=False) if held > MOST_ROWS else np.arange(held)
        released, values = knowledge.released[knowledge.pairs.rows[asked]], knowledge.pairs.values[asked]
        agree = consensus(released, values, generator, deadline)
        matrix = fit_affine(released[agree], values[agree])
        note = f"{int(agree.sum())} of {agree.size} known rows agree"
        return guess_values(apply_affine(matrix, knowledge.released[knowledge.targets]), note=note)
