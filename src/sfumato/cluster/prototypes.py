"""k-prototypes on the lattice: numbers by their means, categories by their modes, one result on every machine.

The distance to a prototype is the squared distance of the numbers and `gamma` for each category that differs. With
every category on a dimension of its own that is k-means' distance to a point with `gamma / 2` on the dimensions of its
modes, and a constant: a prototype is a centre like others, only the rounds that find it are not k-means'.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from sfumato._arrays import Floats
from sfumato.cluster.lattice_kmeans import Run, agreed, plus_plus
from sfumato.cluster.lattice_rounds import BLOCK, exact_sum, nearest_and_cost
from sfumato.core.variates import uniform

_FIRST_ROUNDS, _ROUNDS = 6, 60
_PART = 1 << 14  # rows that the starts see
_FEWEST = 6


def likely_prototypes(
    steps: Floats, categories: Sequence[slice], weight: float, k: int, words: NDArray[np.uint64], *, starts: int
) -> Floats:
    """Return prototypes that a miner most probably finds, as centres: `weight` on the dimensions of their modes.

    Parameters
    ----------
    steps : array of shape (d, n)
        Rows on the lattice, in random order.
    categories : sequence of slice
        The dimensions of each column of categories.
    weight : float
        Half of gamma, in steps.
    words : array of shape (3 k starts,)
        Random words.
    starts : int

    Examples
    --------
    >>> rows = np.array([[0.0, 1, 0, 9, 8, 9], [4, 4, 4, 0, 0, 4], [0, 0, 0, 4, 4, 0]])
    >>> words = np.arange(60, dtype=np.uint64) << np.uint64(58)
    >>> sorted(likely_prototypes(rows, [slice(1, 3)], 1.0, 2, words, starts=10).tolist())
    [[0.0, 1.0, 0.0], [9.0, 0.0, 1.0]]
    """
    draws = uniform(words).reshape(starts, 3 * k)
    few = np.ascontiguousarray(steps[:, :_PART])
    with threadpool_limits(limits=1, user_api="blas"):
        begun = [
            _rounds(few, _modes(plus_plus(few, k, draw), categories, weight), categories, weight) for draw in draws
        ]
        begun.sort(key=lambda run: run[2])
        more = [_rounds(few, run[0], categories, weight, _ROUNDS) for run in begun[: max(_FEWEST, starts // 4)]]
        return _rounds(steps, agreed(more, starts)[0], categories, weight, _ROUNDS)[0]


def _rounds(
    steps: Floats, centres: Floats, categories: Sequence[slice], weight: float, rounds: int = _FIRST_ROUNDS
) -> Run:
    k = len(centres)
    labels, cost = nearest_and_cost(steps, centres)
    for _ in range(rounds):
        numbers = np.arange(k, dtype=labels.dtype)[:, None]
        sums = np.zeros((k, len(steps)))
        for start in range(0, len(labels), BLOCK):
            sums += (labels[start : start + BLOCK] == numbers).astype(np.float64) @ steps[:, start : start + BLOCK].T
        counts = np.bincount(labels, minlength=k)
        means = np.rint(sums / np.maximum(counts, 1)[:, None])
        moved = np.where((counts > 0)[:, None], _modes(means, categories, weight), centres)
        if (moved == centres).all():
            break
        centres = moved
        labels, cost = nearest_and_cost(steps, centres)
    inertia = float(exact_sum(cost) + sum(exact_sum(column * column) for column in steps))
    return centres, labels.astype(np.intp), inertia


def _modes(centres: Floats, categories: Sequence[slice], weight: float) -> Floats:
    """Return centres whose categories are their modes."""
    out = centres.copy()
    for own in categories:
        mode = centres[:, own].argmax(axis=1)
        out[:, own] = 0.0
        out[np.arange(len(out)), own.start + mode] = weight
    return out
