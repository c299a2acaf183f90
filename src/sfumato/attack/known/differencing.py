"""Group means: known members are subtracted, what is left belongs to the others."""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge, guess_values


def subtract_known(
    released: FloatArray, groups: IntArray, rows: IntArray, values: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Return the mean of the unknown members of every group, and how many they are.

    Parameters
    ----------
    released : array of shape (n, d)
        Group means, one row per person.
    groups : array of shape (n,)
        Group of every row, numbered from 0.
    rows : array of shape (m,)
        Known rows.
    values : array of shape (m, d)
        Their originals.

    Returns
    -------
    means : array of shape (g, d)
        (k c - sum of known members) / (number of unknown members); NaN when all members are known.
    unknown : array of shape (g,)
        Unknown members of each group.

    Examples
    --------
    >>> means, unknown = subtract_known(np.full((2, 1), 5.0), np.array([0, 0]), np.array([0]), np.array([[3.0]]))
    >>> means.tolist(), unknown.tolist()
    ([[7.0]], [1])
    """
    sizes = np.bincount(groups)
    total = np.zeros((sizes.size, released.shape[1]))
    np.add.at(total, groups, released)
    np.subtract.at(total, groups[rows], values)
    unknown = sizes - np.bincount(groups[rows], minlength=sizes.size)
    safe = np.where(unknown > 0, unknown, 1)[:, None]
    means = np.where((unknown > 0)[:, None], total / safe, np.nan)
    return means, np.asarray(unknown, dtype=np.int64)


def equal_rows(released: FloatArray) -> IntArray:
    """Return the group of every row: equal rows share a number.

    Parameters
    ----------
    released : array of shape (n, d)
        Rows.

    Returns
    -------
    array of shape (n,)
        Numbers from 0.

    Examples
    --------
    >>> equal_rows(np.array([[1.0, 2.0], [5.0, 5.0], [1.0, 2.0]])).tolist()
    [0, 1, 0]
    """
    # rows are compared by one random combination each: sorting whole rows is slow for a million of them
    mark = np.zeros(len(released))
    weights = np.random.default_rng(0).normal(size=(released.shape[1],)).tolist()
    for weight, column in zip(weights, released.T, strict=True):
        mark += weight * column
    return np.asarray(np.unique(mark, return_inverse=True)[1].reshape(-1), dtype=np.int64)


class Differencing(Attack):
    """Subtract known members from a group's mean; the last unknown member follows exactly.

    Only rows of groups with a known member are answered, and ties with the plain mean elsewhere.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).normal(size=(60, 2)).round(2)
    >>> means = np.repeat(table.reshape(20, 3, 2).mean(axis=1), 3, axis=0)
    >>> run_attack(Differencing(), table, means, known=range(0, 40)).rate > 0
    True
    """

    entry = entry("differencing")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when no released row occurs twice."""
        reason = needs_same_columns(knowledge)
        if reason is None and int(equal_rows(knowledge.released).max()) == knowledge.n_rows - 1:
            return "no two released rows are equal: there are no groups"
        return reason

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the means of the unknown members of the target rows' groups."""
        assert knowledge.pairs is not None
        deadline.check()
        groups = equal_rows(knowledge.released)
        means, unknown = subtract_known(knowledge.released, groups, knowledge.pairs.rows, knowledge.pairs.values)
        sizes = np.bincount(groups)
        touched = (unknown < sizes) & (unknown > 0)
        if not touched.any():
            raise NothingFoundError("no group has both known and unknown members")
        # a lone member is exact up to the rounding of the mean: the decimals make it exact again
        exact = unknown == 1
        means[exact] = snap(means[exact], knowledge.decimals)
        note = f"{int((exact & touched).sum())} groups have one unknown member"
        return guess_values(means[groups[knowledge.targets]], note=note)
