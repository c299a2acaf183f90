"""Rows that share all labels of the release's own clusterings are guessed by their mean."""

from __future__ import annotations

from sfumato.attack.atoms.regions import Atoms, atoms_of, clusters_of, name_clusterings
from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.engine.knowledge import Guess, Knowledge, guess_values


def release_atoms(knowledge: Knowledge, deadline: Deadline) -> Atoms:
    """Return the atoms of a release: of its published labels, else of k-means in standard deviations on the release.

    Parameters
    ----------
    knowledge : Knowledge
        The numbers of clusters are the public parameter `clusterings`, 2 to 8 if it is not public.
    deadline : Deadline
        Checked between clusterings.

    Examples
    --------
    >>> import numpy as np
    >>> from sfumato.attack.engine.interface import Deadline
    >>> released = np.repeat([[0.0], [1.0], [9.0]], 4, axis=0)
    >>> release_atoms(Knowledge(released, ("a",), np.arange(12)), Deadline()).sizes.tolist()
    [4, 4, 4]
    """
    if knowledge.labels is not None:
        return atoms_of(knowledge.labels)
    clusters = clusters_of(knowledge.parameters, len(knowledge.released))
    found = name_clusterings(knowledge.released, seed=knowledge.seed, clusters=clusters, deadline=deadline)
    return atoms_of(found.codes(knowledge.released))


class AtomMean(Attack):
    """Guess every cell by the mean of its atom: what a release that keeps clusters cannot help to tell.

    Examples
    --------
    >>> import numpy as np
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = np.repeat(draw.normal(size=(8, 3)), 25, axis=0) + 0.01 * draw.normal(size=(200, 3))
    >>> run_attack(AtomMean(), table, table + 0.05 * draw.normal(size=table.shape)).rate > 0.9
    True
    """

    entry = entry("atom-mean")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when cells do not correspond."""
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the means of the target rows' atoms."""
        atoms = release_atoms(knowledge, deadline)
        guess = atoms.means(knowledge.released)[atoms.of_row[knowledge.targets]]
        return guess_values(snap(guess, knowledge.decimals), note=f"{len(atoms.sizes)} cells of shared labels")
