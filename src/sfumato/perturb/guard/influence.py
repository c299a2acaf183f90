"""Means that no single person can be subtracted from.

Kept means of atoms are sums of people. Whoever has a release of a table and one of the same table without one person
could subtract the two, and would be left with that person. So the mean of every atom is moved by keyed noise, as far
as a few of its own people could move it: large against one of them, and lost in a cluster of hundreds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato._arrays import Flags, Floats
from sfumato.core.stream import Streams
from sfumato.core.variates import normal
from sfumato.perturb.guard.atoms import Atoms
from sfumato.perturb.guard.regions import Regions

_ROOM = 0.5  # share of the way to the walls that the noise may use


def mean_noise(
    atoms: Atoms,
    variances: Floats,
    small: Flags,
    regions: Regions,
    names: Sequence[str],
    streams: Streams,
    people: float,
    ends: tuple[Floats, Floats],
) -> Floats:
    """Return how far the mean of each atom is moved, shape (a, d).

    Parameters
    ----------
    variances : array of shape (a, d)
        Of the columns inside each atom.
    small : array of shape (a,), bool
        Atoms of few rows, whose own variance says little: they take that of the usual atom.
    regions : Regions
        In which the means stay.
    names : sequence of str
        The columns.
    people : float
        Standard deviations of an atom by which its sum is moved.
    ends : pair of arrays of shape (d,)
        Where the values of columns end: noise that would take a mean there goes the other way.
    """
    deviations = np.sqrt(variances)
    if small.any():
        of_large = deviations[~small] if not small.all() else deviations
        deviations[small] = np.sort(of_large, axis=0)[len(of_large) // 2]
    words = [normal(streams.scalars("means", name, len(atoms))) for name in names]
    noise = np.stack(words, axis=1) * deviations * (people / atoms.counts)[:, None]
    moved = atoms.means + noise
    noise = np.where((moved < ends[0]) | (moved > ends[1]), -noise, noise)
    every, near = np.arange(len(atoms)), regions.nearness(atoms.means)
    room = regions.reach(np.ascontiguousarray(atoms.means.T), np.ascontiguousarray(noise.T), every, near)
    noise *= np.minimum(1.0, _ROOM * room)[:, None]
    return noise
