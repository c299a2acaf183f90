"""Labels of any clusterer as a tree of questions, each about one column of a row.

A tree gives the labels of the rows it was grown on, all of them, whatever shape the clusters have: bodies inside of
shells, a value that most rows share, noise between clusters. It is grown once; asked, it compares whole numbers, and
gives the same labels on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.core.secret import Hidden


@dataclass(frozen=True, repr=False)
class LabelTree(Hidden):
    """A tree that gives each row a label.

    Attributes
    ----------
    column : array of shape (m,)
        The column that each node asks for; negative where the answer stands.
    below : array of shape (m,)
        The largest number of steps with which a row goes to the first branch.
    first, other : arrays of shape (m,)
        The nodes of the branches.
    label : array of shape (m,)
        The answer.
    size : int
        Number of labels.
    clusters : array of shape (size,)
        The cluster that each label is a part of: its own, or one of several of a cluster.
    name : str
        The clusterer, where it has a name.
    """

    column: Integers
    below: Floats
    first: Integers
    other: Integers
    label: Integers
    size: int
    clusters: Integers
    name: str = ""

    def whole(self, steps: Floats) -> Integers:
        """Return the cluster of every row, of which its label is a part; as `labels`."""
        return self.clusters[self.labels(steps)]

    def labels(self, steps: Floats) -> Integers:
        """Return the label of every row.

        Parameters
        ----------
        steps : array of shape (d, n)
            Rows on the lattice.
        """
        at = np.zeros(steps.shape[1], dtype=np.int64)
        open_rows = np.flatnonzero(self.column[at] >= 0)
        while len(open_rows):
            here = at[open_rows]
            goes = steps[self.column[here], open_rows] <= self.below[here]
            at[open_rows] = np.where(goes, self.first[here], self.other[here])
            open_rows = open_rows[self.column[at[open_rows]] >= 0]
        return self.label[at]

    def plain(self) -> dict[str, Any]:
        """Return plain values that can travel."""
        return dict(vars(self))

    @classmethod
    def of_plain(cls, values: Mapping[str, Any]) -> LabelTree:
        """Return the tree of plain values."""
        return cls(**values)


def grow_tree(steps: Floats, labels: Integers, clusters: Integers, seed: int) -> LabelTree:
    """Return a tree that gives rows their labels, as far as equal rows have equal ones.

    Parameters
    ----------
    steps : array of shape (d, n)
        Rows on the lattice.
    labels : array of shape (n,)
        From 0 on.
    clusters : array of shape (labels,)
        The cluster that each label is a part of.
    seed : int
        Decides between questions that are as good.

    Examples
    --------
    >>> rows, labels = np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([0, 1, 1, 0])
    >>> grow_tree(rows, labels, np.arange(2), 0).labels(rows).tolist()
    [0, 1, 1, 0]
    """
    from sklearn.tree import DecisionTreeClassifier

    # steps are whole numbers below 2^24: the library's single precision holds them exactly
    grown = DecisionTreeClassifier(random_state=seed).fit(np.ascontiguousarray(steps.T, dtype=np.float32), labels).tree_
    return LabelTree(
        np.where(grown.children_left < 0, -1, grown.feature).astype(np.int64),
        np.floor(grown.threshold),
        grown.children_left.astype(np.int64),
        grown.children_right.astype(np.int64),
        np.unique(labels)[grown.value[:, 0, :].argmax(axis=1)].astype(np.int64),
        len(clusters),
        np.asarray(clusters, dtype=np.int64),
    )
