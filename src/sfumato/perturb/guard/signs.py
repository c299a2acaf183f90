"""Columns that have no negative values get none: a released debt below zero is a row that nobody believes.

A sign is public knowledge, the smallest value is somebody's. So rows that would lie on the other side of zero are
reflected there, which leaves no heap of them at the bound, and the values of an atom are then drawn towards zero until
their mean is what it should be. Shares, from 0 to 1 or to 100, end there as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.passes import Facts
from sfumato.core.secret import Hidden

_SHARES = (1.0, 100.0)
_NEARLY = 0.05  # of a share: how near to both ends its values come
_LEAST = 0.2  # share of a value that is left when an atom's mean is put right


@dataclass(frozen=True, repr=False)
class Signs(Hidden):
    """Where the values of columns end.

    Attributes
    ----------
    names : tuple of str
    low, high : arrays of shape (d,)
        In the units of the table; infinite where nothing is known.
    factors : array of shape (a, d), optional
        What distances from the bound are multiplied by, in each atom.
    """

    names: tuple[str, ...]
    low: Floats
    high: Floats
    factors: Floats | None = None

    @classmethod
    def of(cls, facts: Facts, bounds: Mapping[str, Sequence[float]] | None) -> Signs | None:
        """Return what the signs of the columns tell, None if nothing.

        Columns with bounds of their own, and of yes and no, have those.

        Examples
        --------
        >>> table = np.array([[3.0, -1.0, 0.02], [900.0, 5.0, 0.98]])
        >>> facts = Facts(("debt", "change", "share"), ("float64",) * 3, 2, table.min(axis=0), table.max(axis=0), b"")
        >>> signs = Signs.of(facts, None)
        >>> signs.low.tolist(), signs.high.tolist()
        ([0.0, -inf, 0.0], [inf, inf, 1.0])
        """
        two_valued = np.array(facts.integer) & (facts.high - facts.low == 1.0)
        known = two_valued | (facts.low == facts.high) | np.isin(facts.names, list(bounds or ()))
        low = np.where((facts.low >= 0.0) & ~known, 0.0, -np.inf)
        high = np.where((facts.high <= 0.0) & ~known, 0.0, np.inf)
        for end in _SHARES:
            share = (facts.high <= end) & (facts.high > (1.0 - _NEARLY) * end) & (facts.low < _NEARLY * end)
            high[share & (low == 0.0)] = end
        known = np.isfinite(low) | np.isfinite(high)
        return cls(tuple(facts.names), low, high) if known.any() else None

    def __str__(self) -> str:
        """Say what the owner should know."""
        kinds = {
            "below 0": (self.low == 0.0) & ~np.isfinite(self.high),
            "above 0": self.high == 0.0,
            **{f"outside of 0 to {end:g}": self.high == end for end in _SHARES},
        }
        names = {kind: ", ".join(np.array(self.names)[which].tolist()) for kind, which in kinds.items() if which.any()}
        said = ", ".join(f"{kind} in {some}" for kind, some in names.items())
        return f"no released value is {said}: the originals have none (bounds say otherwise)"

    def outside(self, table: Floats) -> Flags:
        """Return which rows have values where there are none, of a table of shape (d, n)."""
        beyond: Flags = np.any((table < self.low[:, None]) | (table > self.high[:, None]), axis=0)
        return beyond

    def reflect(self, table: Floats, atoms: Integers, share: float = 1.0) -> Floats:
        """Return rows reflected at the ends of their columns, and drawn to them as their atoms need it.

        Parameters
        ----------
        table : array of shape (d, n)
        atoms : array of shape (n,)
        share : float
            How far behind the end reflected values go, as a share of how far beyond it they were.
        """
        out = table.copy()
        for column, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            values = out[column]
            if np.isfinite(low):
                values[...] = np.where(values < low, low + share * (low - values), values)
            if np.isfinite(high):
                values[...] = np.where(values > high, high - share * (values - high), values)
            if np.isfinite(low) or np.isfinite(high):
                end = low if np.isfinite(low) else high
                if self.factors is not None:
                    values[...] = end + (values - end) * self.factors[atoms, column]
                np.clip(values, low, high, out=values)
        return out

    def corrected(self, wanted: Floats, means: Floats, kept: Flags) -> tuple[Signs, Flags]:
        """Return signs that draw atoms to their means, and which means are put right by that, shape (a, d).

        Parameters
        ----------
        wanted, means : arrays of shape (a, d)
            Where the means of the atoms should be and where they are, in the units of the table.
        kept : array of shape (a,)
            Atoms whose means count.
        """
        rising = np.isfinite(self.low)
        ends = rising | np.isfinite(self.high)
        way, end = np.where(rising, 1.0, -1.0), np.where(rising, self.low, np.where(ends, self.high, 0.0))
        here, there = way * (means - end), np.maximum(way * (wanted - end), 0.0)
        drawn = ends & kept[:, None] & (here > there)
        factors = np.where(drawn, np.maximum(there / np.where(drawn, here, 1.0), _LEAST), 1.0)
        return replace(self, factors=factors if self.factors is None else self.factors * factors), drawn
