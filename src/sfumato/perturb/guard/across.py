"""Narrow atoms are mixed across one another, so that nobody lies in the span of a few rows.

Mixed rows lie in the span of the rows that were mixed. An atom of fewer rows than columns spans little of the space,
and who knows half of the columns of its people can solve for the other half. So the deviations of several narrow
atoms are mixed together: what they span is everything. Each atom keeps its own mean and its own scatter in all.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.linear import fixed_order_sum
from sfumato.core.stream import Streams
from sfumato.perturb.guard.atoms import Atoms
from sfumato.perturb.guard.placing import pools
from sfumato.perturb.guard.spread import haar_words, mix_group, mix_rows

_ALIKE = 1e-3  # units of the space within which the rows of an atom are alike


def narrow_companies(atoms: Atoms, alone: Flags, n_columns: int) -> Integers:
    """Return the company with which each atom is mixed, -1 for atoms that are mixed by themselves.

    Parameters
    ----------
    alone : array of shape (a,), bool
        Atoms that are never mixed with others here: the smallest, which are pooled, and those that are drawn anew.
    """
    enough = 3 * (n_columns + 2) // 2  # rows that together span all columns, each less the mean of its own atom
    free = np.flatnonzero(~alone)
    by_size = free[np.argsort(atoms.counts[free], kind="stable")]
    counts = atoms.counts[by_size]
    narrow = int(np.count_nonzero(counts < n_columns + 2))
    if narrow == 0:
        return np.full(len(atoms), -1, dtype=np.int64)
    # a few narrow atoms alone span too little: the next larger ones keep them company
    taken = max(narrow, int(np.searchsorted(np.cumsum(counts), enough)) + 1)
    chosen = np.zeros(len(atoms), dtype=bool)
    chosen[by_size[:taken]] = True
    return pools(atoms, chosen, enough)


def mix_across(rows: Floats, of: Integers, streams: Streams, name: str, *, spikes: bool = False) -> Floats:
    """Return mixed deviations of the rows of some atoms, each from the mean of its own atom.

    Parameters
    ----------
    rows : array of shape (d, n)
    of : array of shape (n,)
        Their atoms.
    name : str
        Names the company in the stream.
    spikes : bool
        Whether columns that are the same in all rows of an atom stay so. Default: False.
    """
    members = [np.flatnonzero(of == atom) for atom in np.unique(of)]
    deviations = np.empty_like(rows)
    for here in members:
        deviations[:, here] = _centred(rows[:, here])
    mixed = mix_rows(deviations, streams.scalars("haar", name, haar_words(rows.shape[1], len(rows))))
    for number, here in enumerate(members):
        own = _centred(mixed[:, here])
        if spikes:
            own[np.ptp(rows[:, here], axis=1) == 0.0] = 0.0
        wanted, found = _squares(deviations[:, here]), _squares(own)
        if min(wanted, found) < _ALIKE**2:  # rows that are all alike get a little noise, as everywhere
            own = mix_group(rows[:, here], streams, f"{name} {number}", alone=False)
        else:
            own *= sqrt(wanted / found)
        mixed[:, here] = own
    return mixed


def mix_collected(
    atoms: Atoms,
    pool: Integers,
    company: Integers,
    rows: Floats,
    of: Integers,
    streams: Streams,
    *,
    alone: bool,
    min_rows: int,
) -> Floats:
    """Return mixed deviations of collected rows: pools and companies together, other atoms by themselves.

    Parameters
    ----------
    pool, company : arrays of shape (a,)
        Of each atom, -1 for none.
    rows : array of shape (d, n)
    of : array of shape (n,)
        Their atoms.
    alone : bool
        Whether a single row may stay as it is.
    min_rows : int
        Fewest rows of a pool whose scatter is kept.
    """
    mixed, marked = np.zeros_like(rows), bool(atoms.named.marks)
    for number in range(int(company.max(initial=-1)) + 1):
        here = np.flatnonzero(company[of] == number)
        mixed[:, here] = mix_across(rows[:, here], of[here], streams, f"company {number}", spikes=marked)
    others = np.flatnonzero(company[of] < 0)
    groups = np.where(pool[of[others]] >= 0, -1 - pool[of[others]], of[others])
    order = np.argsort(groups, kind="stable")
    ends = [int(at) + 1 for at in np.flatnonzero(np.r_[groups[order][1:] != groups[order][:-1], True])][: len(order)]
    for start, end in zip([0, *ends], ends, strict=False):
        members = others[order[start:end]]
        group = int(groups[order[start]])
        name = f"pool {-1 - group}" if group < 0 else f"atom {int(atoms.names[group])}"
        few = group < 0 and len(members) < min_rows
        mixed[:, members] = mix_group(rows[:, members], streams, name, alone=alone, few=few)
    return mixed


def _centred(rows: Floats) -> Floats:
    centred: Floats = rows - (fixed_order_sum(rows) / rows.shape[1])[:, None]
    return centred


def _squares(rows: Floats) -> float:
    return float(fixed_order_sum((rows * rows).ravel()))
