"""AK-ICA: independent components of a sample and of the release are the same sources, matched by distribution."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import wasserstein_distance
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge, guess_values

MOST_ROWS = 5000
MOST_COLUMNS = 60


def match_components(sample: FloatArray, released: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return which released component equals which sample component, and its sign.

    Parameters
    ----------
    sample, released : arrays of shape (m, e) and (n, e)
        Components of unit variance.

    Returns
    -------
    partner : array of shape (e,)
        Released component of every sample component (one to one, least total Wasserstein distance).
    sign : array of shape (e,)
        +1 or -1.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> first, second = draw.exponential(size=(2, 500)) - 1
    >>> wide = np.sign(draw.normal(size=500))
    >>> match_components(np.column_stack([first, wide]), np.column_stack([wide, -second]))
    (array([1, 0]), array([-1., ...1.]))
    """
    count = sample.shape[1]
    distance, sign = np.empty((count, count)), np.ones((count, count))
    for i in range(count):
        for j in range(count):
            as_is = wasserstein_distance(sample[:, i], released[:, j])
            mirrored = wasserstein_distance(sample[:, i], -released[:, j])
            distance[i, j], sign[i, j] = min(as_is, mirrored), 1.0 if as_is <= mirrored else -1.0
    rows, partner = linear_sum_assignment(distance)
    return partner, sign[rows, partner]


class IndependentComponents(Attack):
    """Match independent components of sample and release, then mix the release's as in the sample.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = np.column_stack([draw.exponential(size=3000), draw.gamma(4, size=3000)])
    >>> more = np.column_stack([draw.exponential(size=3000), draw.gamma(4, size=3000)])
    >>> run_attack(IndependentComponents(), table, table @ [[0.6, -0.8], [0.8, 0.6]], population=more).rate > 0.4
    True
    """

    entry = entry("ak-ica")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when shapes do not allow the decomposition."""
        assert knowledge.sample is not None
        if knowledge.n_columns < 2:
            return "one column has no components to separate"
        if knowledge.n_columns > MOST_COLUMNS:
            return f"at most {MOST_COLUMNS} columns are separated"
        if len(knowledge.sample) < 4 * knowledge.n_columns:
            return f"needs a sample of {4 * knowledge.n_columns} people, {len(knowledge.sample)} are known"
        for name, table in (("sample", knowledge.sample), ("release", knowledge.released)):
            if np.linalg.matrix_rank(table - table.mean(axis=0)) < knowledge.n_columns:
                return f"columns of the {name} depend on each other: components cannot be separated"
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the target rows mixed as in the sample."""
        assert knowledge.sample is not None
        generator = np.random.default_rng(knowledge.seed)
        few = generator.choice(knowledge.n_rows, size=min(MOST_ROWS, knowledge.n_rows), replace=False)
        told = _separate(knowledge.sample[:MOST_ROWS], knowledge.seed)
        deadline.check()
        seen = _separate(knowledge.released[few], knowledge.seed)
        deadline.check()
        sources = seen.transform(knowledge.released[few])
        partner, sign = match_components(told.transform(knowledge.sample[:MOST_ROWS])[:1000], sources[:1000])
        components = seen.transform(knowledge.released[knowledge.targets])[:, partner] * sign
        return guess_values(snap(told.inverse_transform(components), knowledge.decimals))


def _separate(table: FloatArray, seed: int) -> FastICA:
    with warnings.catch_warnings():
        # an attack takes what it gets: components that have not settled are a weaker guess
        warnings.simplefilter("ignore", ConvergenceWarning)
        return FastICA(whiten="unit-variance", max_iter=300, tol=1e-3, random_state=seed % 2**31).fit(table)
