"""Exact centres are exact sums: what is left of a cluster, or of a difference of clusters, belongs to the others."""

from __future__ import annotations

import numpy as np

from sfumato.attack.atoms.atom_mean import release_atoms
from sfumato.attack.atoms.regions import Atoms
from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge, guess_values


def remaining_sums(
    released: FloatArray, atoms: Atoms, rows: IntArray, values: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Return what is left of every atom when known members are subtracted, and how many others it has.

    Where sums of clusters, and of their differences, fix the sum of an atom, those are used: they stay exact even if
    the release keeps the centres of clusters only. Elsewhere the atom's own released sum is.

    Parameters
    ----------
    released : array of shape (n, d)
    rows : array of shape (m,)
        Known rows.
    values : array of shape (m, d)
        Their originals.

    Returns
    -------
    sums : array of shape (a, d)
    others : array of shape (a,)

    Examples
    --------
    >>> from sfumato.attack.atoms.regions import atoms_of
    >>> labels = np.array([[0, 0], [0, 0], [0, 1], [1, 1]])
    >>> released = np.array([[2.0], [4.0], [7.0], [9.0]])  # of 1, 5, 7, 9: the first two were mixed
    >>> sums, others = remaining_sums(released, atoms_of(labels), np.array([0]), np.array([[1.0]]))
    >>> sums.ravel().round(6).tolist(), others.tolist()
    ([5.0, 7.0, 9.0], [1, 1, 1])
    """
    count, d = len(atoms.sizes), released.shape[1]
    own, taken = np.zeros((count, d)), np.zeros((count, d))
    np.add.at(own, atoms.of_row, released)
    np.add.at(taken, atoms.of_row[rows], values)
    others = atoms.sizes - np.bincount(atoms.of_row[rows], minlength=count)
    left = own - taken
    if not atoms.codes.size:  # a release of one distinct row has no clusters
        return left, others
    # one equation for each cluster: the sums of its atoms' unknown members add up to what is left of it
    members = np.vstack([column == label for column in atoms.codes.T for label in np.unique(column)]).astype(np.float64)
    open_atoms = np.flatnonzero(others > 0)
    equations = members[:, open_atoms]
    inverse = np.linalg.pinv(equations, rcond=1e-9)
    fixed = np.abs(np.einsum("ae,ea->a", inverse, equations) - 1.0) < 1e-9
    left[open_atoms[fixed]] = (inverse @ (members @ left))[fixed]
    return left, others


class ClusterSums(Attack):
    """Subtract known people from the clusters; a single other member follows exactly, several by their mean.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).normal(size=(60, 3))
    >>> pairs = np.repeat(np.arange(30), 2)
    >>> means = (table[0::2] + table[1::2])[pairs] / 2
    >>> run_attack(ClusterSums(), table, 2 * means - table, known=range(0, 60, 2), labels={30: pairs}).rate
    1.0
    """

    entry = entry("cluster-sums")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when cells do not correspond."""
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the mean of the others in every target row's atom."""
        assert knowledge.pairs is not None
        atoms = release_atoms(knowledge, deadline)
        sums, others = remaining_sums(knowledge.released, atoms, knowledge.pairs.rows, knowledge.pairs.values)
        means = sums / np.maximum(others, 1)[:, None]
        alone = int((others[atoms.of_row[knowledge.targets]] == 1).sum())
        guess = snap(means[atoms.of_row[knowledge.targets]], knowledge.decimals)
        return guess_values(guess, note=f"{alone} target rows are the last unknown of their cell")
