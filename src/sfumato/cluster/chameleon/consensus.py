"""Runs with different seeds vote: one unlucky cut must not decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import adjusted_rand_score

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Adjusted Rand index from which two labellings count as the same answer.
_AGREE = 0.98


def agreed_labels(run: Callable[[int], NDArray[np.int64]], most_runs: int) -> NDArray[np.int64]:
    """Run until two labellings agree; if none do, return the one that agrees best with all the others.

    Parameters
    ----------
    run : callable
        Takes the number of the run, returns labels of shape (n,).
    most_runs : int
        Most runs to make, at least 1.

    Returns
    -------
    ndarray of shape (n,)
        Labels of the earliest run among equals.

    Examples
    --------
    >>> answers = [np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])]
    >>> agreed_labels(answers.__getitem__, 3)
    array([0, 0, 1, 1])
    """
    found = [run(0)]
    agreement = np.zeros((most_runs, most_runs))
    for number in range(1, most_runs):
        found.append(run(number))
        scores = [float(adjusted_rand_score(labels, found[-1])) for labels in found[:-1]]
        agreement[number, :number] = agreement[:number, number] = scores
        if max(scores) >= _AGREE:
            return found[int(np.argmax(scores))]
    return found[int(np.argmax(agreement.sum(axis=1)))]
