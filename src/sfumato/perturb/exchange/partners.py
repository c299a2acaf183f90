"""With whom the rows of small atoms may exchange values: rows of the atoms that are most alike, as many as are needed.

An exchange between two rows moves only the centres of the clusterings in which their labels differ, and the less the
larger these clusters are: partners are looked for where it costs least.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.linear import sum_in_order
from sfumato.core.rows import WordStream
from sfumato.core.secret import Hidden
from sfumato.perturb.exchange.setting import Setting
from sfumato.perturb.guard.atoms import Atoms

_PARTNERS = 240  # rows among which a partner is looked for, at least
_EACH = 8  # and so many more for each row that looks for one


@dataclass(frozen=True, repr=False)
class Partners(Hidden):
    """Which rows meet before the others: those of small atoms, and some of the atoms most like theirs.

    Attributes
    ----------
    near : dict from small atoms to arrays of int
        The atoms in which their rows look for partners, the best first.
    cost : dict from small atoms to arrays of shape (a,)
        What an exchange with a row of each atom costs.
    chance : array of shape (a,)
        With which chance a row of each atom is among them: 1 for small atoms, and for those that are asked for and
        have few rows.
    """

    near: dict[int, Integers]
    cost: dict[int, Floats]
    chance: Floats

    @classmethod
    def find(cls, setting: Setting) -> Partners:
        """Look for the atoms that are most like the small ones."""
        atoms, small = setting.atoms, setting.small
        labels = atoms.every_label
        sizes = np.maximum(_cluster_sizes(atoms), 1.0)
        near: dict[int, Integers] = {}
        costs: dict[int, Floats] = {}
        asked = np.zeros(len(atoms), dtype=np.int64)
        for atom in np.flatnonzero(small):
            differs = labels != labels[atom]
            cost = sum_in_order(differs * (1.0 / sizes + 1.0 / sizes[atom]))
            nearest = np.lexsort((np.arange(len(atoms)), cost))
            nearest = nearest[nearest != atom]
            enough = int(np.searchsorted(np.cumsum(atoms.counts[nearest]), _PARTNERS)) + 1
            near[int(atom)], costs[int(atom)] = nearest[:enough], cost
            asked[nearest[:enough]] += atoms.counts[atom]
        wanted = np.where(asked > 0, _PARTNERS + _EACH * asked, 0)
        # half of an atom or all of it: those that are left must have company, too
        chance = np.where(small | (2 * wanted >= atoms.counts), 1.0, wanted / np.maximum(atoms.counts, 1))
        return cls(near, costs, chance)

    def chosen(self, labels: NDArray[np.uint64], of: Integers, stream: WordStream) -> Flags:
        """Return which rows of a tile are among them.

        Parameters
        ----------
        labels : array of shape (n,), uint64
            The names of the rows.
        of : array of shape (n,)
            Their atoms.
        stream : WordStream
            Decides whom of a large atom.
        """
        chance = self.chance[of]
        chosen: Flags = chance >= 1.0
        open_rows = np.flatnonzero((chance > 0.0) & ~chosen)
        if len(open_rows):
            asked = np.zeros((len(open_rows), 2), dtype="<u8")
            asked[:, 0] = labels[open_rows]
            words = stream.of_digests(asked.view(np.uint8)) >> np.uint64(11)
            chosen[open_rows] = words.astype(np.float64) * 2.0**-53 < chance[open_rows]
        return chosen


def _cluster_sizes(atoms: Atoms) -> Floats:
    """Return how many rows the cluster of each atom has, in each clustering: shape (a, clusterings)."""
    labels = atoms.every_label
    out = np.empty(labels.shape)
    for clustering, size in enumerate(atoms.named.all_sizes):
        rows = np.bincount(labels[:, clustering], weights=atoms.counts, minlength=size)
        out[:, clustering] = rows[labels[:, clustering]]
    return out
