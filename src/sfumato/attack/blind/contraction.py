"""Rows moved part of the way to their group's mean: the mean did not move, so the step can be undone."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge, guess_values

MOST_ROWS_FOR_GROUPS = 4000


def expand(released: FloatArray, groups: IntArray, move: float) -> FloatArray:
    """Return c + (y - c) / (1 - move) with c the mean of the row's group.

    Parameters
    ----------
    released : array of shape (n, d)
        Rows after the move.
    groups : array of shape (n,)
        Group of every row, -1 = none.
    move : float
        Share of the way that was moved, below 1.

    Returns
    -------
    array of shape (n, d)
        Rows before the move; NaN for rows without a group.

    Examples
    --------
    >>> expand(np.array([[1.0], [3.0]]), np.array([0, 0]), 0.5)
    array([[0.], [4.]])
    """
    expanded = np.full(released.shape, np.nan)
    inside = groups >= 0
    if not inside.any():
        return expanded
    numbers = groups[inside]
    sizes = np.bincount(numbers)
    sums = np.zeros((sizes.size, released.shape[1]))
    np.add.at(sums, numbers, released[inside])
    centres = (sums / np.maximum(sizes, 1)[:, None])[numbers]
    expanded[inside] = centres + (released[inside] - centres) / (1 - move)
    return expanded


def small_groups(released: FloatArray, size: int) -> IntArray:
    """Return groups of `size` to 2 * size - 1 rows that lie much closer to each other than to the rest.

    Parameters
    ----------
    released : array of shape (n, d)
        Rows, columns of comparable scale.
    size : int
        Smallest group.

    Returns
    -------
    array of shape (n,)
        Group numbers, -1 for rows that fit in none.

    Examples
    --------
    >>> small_groups(np.array([[0.0], [0.1], [0.2], [9.0], [9.2], [9.4]]), 3).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    n = len(released)
    tree = linkage(pdist(released), "average")
    members: list[list[int]] = [[i] for i in range(n)]
    height = np.zeros(2 * n - 1)
    parent = np.full(2 * n - 1, np.inf)
    for step, (left, right, distance, _) in enumerate(tree):
        members.append(members[int(left)] + members[int(right)])
        height[n + step] = distance
        parent[int(left)] = parent[int(right)] = distance
    fitting = [node for node in range(n, 2 * n - 1) if size <= len(members[node]) <= 2 * size - 1]
    # the clearest gap between a group and its surroundings first
    fitting.sort(key=lambda node: -float(parent[node] / max(height[node], 1e-300)))
    groups = np.full(n, -1, dtype=np.int64)
    number = 0
    for node in fitting:
        rows = members[node]
        if (groups[rows] == -1).all():
            groups[rows] = number
            number += 1
    return groups


class Contraction(Attack):
    """Undo a partial move towards group means.

    Public parameters used: ``move`` (share of the way), and how the groups are found: ``labels`` (published),
    ``n_clusters`` (k-means on the release finds them again) or ``group_size`` (tight small groups).

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).normal(size=(60, 2))
    >>> labels = (table[:, 0] > 0).astype(int)
    >>> centres = np.array([table[labels == g].mean(axis=0) for g in (0, 1)])[labels]
    >>> told = {"move": 0.5, "labels": labels}
    >>> run_attack(Contraction(), table, (table + centres) / 2, parameters=told).rate
    1.0
    """

    entry = entry("contraction")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when no partial move is described."""
        if not 0 < knowledge.number("move", 0.0) < 1:
            return "the description names no partial move (parameter 'move' between 0 and 1)"
        if not {"labels", "n_clusters", "group_size"} & set(knowledge.parameters):
            return "the description does not say how groups are formed"
        labels = knowledge.array("labels")
        if labels is not None and labels.shape != (knowledge.n_rows,):
            return "the published labels do not fit the rows"
        if labels is None and knowledge.number("n_clusters", knowledge.number("group_size", 0)) < 2:
            return "the number of clusters or the size of groups must be a number of at least 2"
        if labels is None and "n_clusters" not in knowledge.parameters and knowledge.n_rows > MOST_ROWS_FOR_GROUPS:
            return f"small groups are searched among at most {MOST_ROWS_FOR_GROUPS} rows"
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the target rows moved back."""
        deadline.check()
        groups = self._groups(knowledge)
        expanded = expand(knowledge.released, groups, knowledge.number("move", 0.0))[knowledge.targets]
        note = f"{int(np.unique(groups[groups >= 0]).size)} groups"
        return guess_values(snap(expanded, knowledge.decimals), note=note)

    @staticmethod
    def _groups(knowledge: Knowledge) -> IntArray:
        labels = knowledge.array("labels")
        if labels is not None:
            return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)
        spread = knowledge.released.std(axis=0)
        scaled = knowledge.released / np.where(spread > 0, spread, 1.0)
        clusters = int(knowledge.number("n_clusters", 0))
        if clusters:
            fitted = KMeans(min(clusters, len(scaled)), n_init=5, random_state=knowledge.seed % 2**31).fit(scaled)
            return np.asarray(fitted.labels_, dtype=np.int64)
        return small_groups(scaled, int(knowledge.number("group_size", 3)))
