"""The space in which clusterings are named: columns centred, in the units of a scaling, on a lattice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.linear import lattice_bits, to_steps
from sfumato.core.numbers import round_range
from sfumato.core.passes import Facts
from sfumato.core.secret import Hidden
from sfumato.core.summaries import Moments

_HEADROOM = 2.0  # released rows may lie this many times beyond the farthest original


@dataclass(frozen=True, repr=False)
class Space(Hidden):
    """Where the clusterings are named: columns centred and in units of their scaling.

    Attributes
    ----------
    offset, unit : arrays of shape (d,)
    bits : int
        Binary places of the lattice.
    """

    offset: Floats
    unit: Floats
    bits: int

    @property
    def categories(self) -> tuple[slice, ...]:
        """The dimensions of each column of categories."""
        return ()

    def enter(self, tile: Floats) -> Floats:
        """Return a tile of the table in this space."""
        inside: Floats = (tile - self.offset[:, None]) / self.unit[:, None]
        return inside

    def leave(self, inside: Floats) -> Floats:
        """Return a tile of this space in the units of the table."""
        tile: Floats = inside * self.unit[:, None] + self.offset[:, None]
        return tile

    def unit_ratio(self, units: Floats) -> Floats:
        """Return how many of the given units of each column one unit of this space is, for each dimension."""
        return self.unit / units

    def steps(self, inside: Floats) -> Floats:
        """Return values of this space as whole numbers of steps."""
        return to_steps(inside, self.bits)


def column_units(facts: Facts, moments: Moments) -> dict[str | None, Floats]:
    """Return what columns are measured in, by the name of a scaling: 1 where there is nothing to measure."""
    span, plain = facts.high - facts.low, np.ones(len(facts.low))
    rounded = np.array([round_range(one) for one in span.tolist()])
    every = {
        "std": moments.deviation(),
        "range": span,
        "round range": rounded,
        "gower": span,
        "raw": plain,
        None: plain,
    }
    return {name: np.where(units > 0, units, 1.0) for name, units in every.items()}


def find_space(facts: Facts, moments: Moments, scaling: str | None) -> Space:
    """Return the space of a scaling: "std", "range", "round range" or None.

    Parameters
    ----------
    scaling : str, optional
    """
    mean, units = moments.mean(), column_units(facts, moments)[scaling]
    farthest = np.maximum(facts.high - mean, mean - facts.low) / units
    return Space(mean, units, lattice_bits(_HEADROOM * float(farthest.max(initial=0.0))))


def other_weights(facts: Facts, moments: Moments, space: Space, scalings: Sequence[str]) -> list[Floats]:
    """Return what a squared difference in each dimension of a space counts in other scalings, the largest as 1.

    Parameters
    ----------
    scalings : sequence of str
        "std", "range" or "raw".
    """
    units = column_units(facts, moments)
    ratios = [space.unit_ratio(units[one]) for one in scalings]
    return [(ratio / ratio.max()) ** 2 for ratio in ratios]
