"""A linear map of its own in each group of rows: known rows that stand together agree on one map after the other."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError
from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge, guess_values
from sfumato.attack.engine.transforms import own_scale
from sfumato.attack.known.affine import apply_affine, fit_affine

MOST_ROWS = 1_000
_CLOSE = 0.02  # standard deviations within which a known row agrees with a map
_SPARE = 3  # rows that must agree with a map beyond those that determine it


def _design(table: FloatArray) -> FloatArray:
    return np.column_stack([table, np.ones(len(table))])


def group_maps(released: FloatArray, original: FloatArray) -> IntArray:
    """Return which known rows share a linear map: the number of the map, -1 for none.

    Parameters
    ----------
    released : array of shape (m, e)
        Known rows, scaled.
    original : array of shape (m, d)
        Their originals, scaled.

    Returns
    -------
    array of shape (m,)
        The largest group is number 0.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> rows = np.vstack([draw.normal(size=(20, 2)), draw.normal(size=(15, 2)) + 9])
    >>> turned = np.vstack([rows[:20] * -2, rows[20:] + 5])
    >>> np.bincount(group_maps(turned, rows)).tolist()
    [20, 15]
    """
    m, e = released.shape
    needed = min(e, original.shape[1]) + 1
    size = needed + 1
    found = np.full(m, -1, dtype=np.int64)
    if m < size + _SPARE:
        return found
    # whoever is near in the original or in the release belongs to the same group more often than not
    seeds = np.vstack([cKDTree(table).query(table, k=size)[1] for table in (released, original)])
    design = _design(released)
    maps = np.linalg.pinv(design[seeds], rcond=1e-9) @ original[seeds]
    agree = np.stack([(np.abs(design @ one - original) <= _CLOSE).all(axis=1) for one in maps])
    free = np.ones(m, dtype=np.bool_)
    for number in range(m):
        counts = (agree & free).sum(axis=1)
        best = int(counts.argmax())
        inside = agree[best] & free
        for _ in range(3):  # what agrees with the map of those who agree
            if inside.sum() < needed + _SPARE:
                break
            solved = np.linalg.lstsq(design[inside], original[inside], rcond=None)[0]
            inside = (np.abs(design @ solved - original) <= _CLOSE).all(axis=1) & free
        if inside.sum() < needed + _SPARE:
            break
        found[inside] = number
        free &= ~inside
    return found


class GroupAffine(Attack):
    """Solve one linear map after the other from known rows that stand together, and use the one of the nearest of them.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = np.vstack([draw.normal(size=(200, 2)), draw.normal(size=(200, 2)) + 9])
    >>> released = np.vstack([table[:200] @ [[0, 1], [-1, 0]], table[200:] * [-1, 3] + 60])
    >>> run_attack(GroupAffine(), table, released).rate > 0.95
    True
    """

    entry = entry("group-affine")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when there are too few known rows for a single map."""
        assert knowledge.pairs is not None
        needed = min(knowledge.released.shape[1], knowledge.n_columns) + 2 + _SPARE
        held = len(knowledge.pairs.rows)
        return None if held >= needed else f"needs {needed} known rows, {held} are known"

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return target rows, each mapped back by the map of the nearest known row that has one."""
        assert knowledge.pairs is not None
        deadline.check()
        rows, values = knowledge.pairs.rows[:MOST_ROWS], knowledge.pairs.values[:MOST_ROWS]
        scaled = own_scale(knowledge.released)
        groups = group_maps(scaled[rows], own_scale(values))
        if groups.max() < 0:
            raise NothingFoundError("no group of known rows agrees on a linear map")
        has = groups >= 0
        targets = scaled[knowledge.targets]
        nearest = groups[has][cKDTree(scaled[rows][has]).query(targets)[1]]
        guess = np.empty((len(targets), knowledge.n_columns))
        for number in range(groups.max() + 1):
            inside, asked = groups == number, nearest == number
            guess[asked] = apply_affine(fit_affine(scaled[rows][inside], values[inside]), targets[asked])
        note = f"{int(groups.max()) + 1} maps, {int(has.sum())} of {has.size} known rows agree with one"
        return guess_values(snap(guess, knowledge.decimals), note=note)
