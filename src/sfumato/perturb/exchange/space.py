"""The miner's space of a table of every kind of column: numbers in their scaling, categories one-hot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.core.linear import exact_product, lattice_bits, to_steps
from sfumato.core.passes import Facts
from sfumato.core.secret import Hidden
from sfumato.core.summaries import Moments
from sfumato.perturb.guard.space import Space, column_units

_GOWER_CATEGORY = 0.5**0.5  # two rows of different categories are at distance 1


@dataclass(frozen=True, repr=False)
class Axis(Hidden):
    """Where one column of the table lies in the space.

    Attributes
    ----------
    first : int
        The first of its dimensions.
    levels : int
        Categories, each with a dimension of its own; 0 for a number, which has one dimension.
    offset, unit : float
        What a number is centred by and measured in.
    height : float
        The coordinate of a row in the dimension of its category.
    """

    first: int
    levels: int
    offset: float = 0.0
    unit: float = 1.0
    height: float = 1.0

    @property
    def width(self) -> int:
        """Number of dimensions."""
        return max(self.levels, 1)


@dataclass(frozen=True, repr=False)
class MixedSpace(Space):
    """The space in which the clusterings of a mixed table are named: more dimensions than the table has columns.

    Attributes
    ----------
    offset, unit : arrays of shape (dimensions,)
    bits : int
        Binary places of the lattice.
    axes : tuple of Axis
        One for each column of the table.
    """

    axes: tuple[Axis, ...]

    @cached_property
    def dimensions(self) -> int:
        """Number of dimensions."""
        return self.axes[-1].first + self.axes[-1].width

    @property
    def categories(self) -> tuple[slice, ...]:
        """The dimensions of each column of categories."""
        return tuple(slice(axis.first, axis.first + axis.levels) for axis in self.axes if axis.levels)

    def coordinates(self, tile: Floats) -> Floats:
        """Return one row for each column: numbers as whole steps, categories as they are coded."""
        out = np.empty((len(self.axes), tile.shape[1]))
        for target, values, axis in zip(out, tile, self.axes, strict=True):
            target[...] = values if axis.levels else to_steps((values - axis.offset) / axis.unit, self.bits)
        return out

    def enter(self, tile: Floats) -> Floats:
        """Return a tile of the table in this space, shape (dimensions, rows)."""
        inside = np.zeros((self.dimensions, tile.shape[1]))
        rows = np.arange(tile.shape[1])
        for values, axis in zip(tile, self.axes, strict=True):
            if axis.levels:
                inside[axis.first + values.astype(np.int64), rows] = axis.height
            else:
                inside[axis.first] = (values - axis.offset) / axis.unit
        return inside

    def unit_ratio(self, units: Floats) -> Floats:
        """Return how many of the given units of each column one unit of this space is; categories count as they do."""
        return np.concatenate(
            [np.ones(axis.levels) if axis.levels else [axis.unit / units[at]] for at, axis in enumerate(self.axes)]
        )

    def height(self, axis: Axis) -> float:
        """Return the coordinate of a row in the dimension of its category, in whole steps."""
        return float(np.rint(axis.height * 2.0**self.bits))


def find_mixed_space(facts: Facts, moments: Moments, levels: Sequence[int], scaling: str | None) -> MixedSpace:
    """Return the space of a scaling: "std", "range", "round range", "gower" or None.

    Parameters
    ----------
    levels : sequence of int
        Categories of each column; 0 for numbers.
    scaling : str, optional
        What numbers are measured in: standard deviations, ranges, or as they are. "gower" takes ranges, and gives a
        category the weight of a whole range.
    """
    mean, units = moments.mean(), column_units(facts, moments)[scaling]
    height = _GOWER_CATEGORY if scaling == "gower" else 1.0
    axes, first, farthest = [], 0, 1.0
    for column, size in enumerate(levels):
        unit = float(units[column])
        axes.append(Axis(first, size, float(mean[column]), unit, height))
        if not size:
            reach = max(facts.high[column] - mean[column], mean[column] - facts.low[column]) / unit
            farthest = max(farthest, float(reach))
        first += axes[-1].width
    offsets = np.concatenate([np.zeros(axis.levels) if axis.levels else [axis.offset] for axis in axes])
    scales = np.concatenate([np.ones(axis.levels) if axis.levels else [axis.unit] for axis in axes])
    return MixedSpace(offsets, scales, lattice_bits(2.0 * farthest), tuple(axes))


def rare_levels(space: MixedSpace, sums: Integers, least: int) -> tuple[Integers, ...]:
    """Return for each column its categories that fewer rows have than some; none for numbers.

    Parameters
    ----------
    sums : array of shape (dimensions,)
        Of all rows, in whole steps: a row adds the height of its category.
    """
    found = []
    for axis in space.axes:
        own = sums[axis.first : axis.first + axis.levels]
        found.append(np.flatnonzero((own > 0) & (own < least * space.height(axis))))
    return tuple(found)


class Pull:
    """How much each value of a column pulls a row towards each centre: exact, and without a one-hot table.

    Parameters
    ----------
    space : MixedSpace
    pulls : array of shape (c, dimensions)
    halves : array of shape (c,)
        What draws rows towards centres; see `Named.pulls`.
    """

    def __init__(self, space: MixedSpace, pulls: Floats, halves: Floats) -> None:
        self._space, self.half = space, halves
        self._tables = []
        for axis in space.axes:
            own = pulls[:, axis.first : axis.first + axis.width].T
            if axis.levels:
                own = own * space.height(axis)
            self._tables.append(np.ascontiguousarray(own))

    def of(self, column: int, coordinates: Floats) -> Floats:
        """Return the pull of some values of a column, shape (values, centres)."""
        table = self._tables[column]
        if self._space.axes[column].levels:
            return table[coordinates.astype(np.int64)]
        return exact_product(coordinates[:, None], table)


def categories(facts: Facts, kinds: Sequence[str]) -> list[int]:
    """Return the number of categories of each column: codes from 0 to the largest; 0 for numbers."""
    return [int(high) + 1 if kind == "category" else 0 for kind, high in zip(kinds, facts.high, strict=True)]
