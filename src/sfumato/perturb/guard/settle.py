"""The last step of a guarded release: decimals and bounds, without leaving the region and never the original row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.passes import Facts
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.variates import uniform
from sfumato.exceptions import ParameterError
from sfumato.perturb.guard.climbing import Standing, all_moves
from sfumato.perturb.guard.regions import Regions
from sfumato.perturb.guard.signs import Signs
from sfumato.perturb.guard.space import Space

_TRIES = 6
_NEARER = 0.85  # each further try starts nearer to the anchor
_BACK = 0.5  # and values that would have the wrong sign stay nearer to zero
_CLIMBS = 12  # single steps that a row may take back into its region


def column_decimals(decimals: Mapping[str, int] | int | None, facts: Facts) -> tuple[int | None, ...]:
    """Return the decimals of every column: 0 for integers, None for columns that are not rounded."""
    names = facts.names
    if isinstance(decimals, Mapping):
        _check_names(decimals, names, "decimals")
        wanted = [decimals.get(name) for name in names]
    else:
        wanted = [decimals] * len(names)
    return tuple(0 if whole else value for whole, value in zip(facts.integer, wanted, strict=True))


def column_bounds(bounds: Mapping[str, Sequence[float]] | None, facts: Facts) -> tuple[Floats, Floats]:
    """Return lower and upper bounds of every column, infinite where there are none; yes and no stay yes and no."""
    two_valued = np.array(facts.integer) & (facts.high - facts.low == 1.0)
    low, high = np.where(two_valued, facts.low, -np.inf), np.where(two_valued, facts.high, np.inf)
    if bounds:
        _check_names(bounds, facts.names, "bounds")
        for name, (lower, upper) in bounds.items():
            index = facts.names.index(name)
            if not float(lower) < float(upper):
                raise ParameterError(f"the bounds of column {name!r} are not (low, high)")
            if facts.low[index] < lower or facts.high[index] > upper:
                raise ParameterError(
                    f"column {name!r} holds values outside its bounds", hint="widen the bounds, or clean the column"
                )
            low[index], high[index] = lower, upper
    return low, high


def _check_names(wanted: Mapping[str, object], names: Sequence[str], what: str) -> None:
    for name in wanted:
        if name not in names:
            raise ParameterError(f"{what} name a column {name!r} that is not released", hint=", ".join(names))


@dataclass(frozen=True, repr=False)
class Settling(Hidden):
    """Rounds rows to their decimals by keyed chance, so that means stay, and repairs rows that leave their region.

    Attributes
    ----------
    space : Space
    names : tuple of str
    decimals : tuple of int or None
    regions : Regions, optional
        Where rows must stay; None rounds without looking.
    offsets : array of shape (a, d), optional
        What is added to the rows of each atom first: rounding's own error of the atom's mean, fed back.
    signs : Signs, optional
        Where the values of columns end.
    """

    space: Space
    names: tuple[str, ...]
    decimals: tuple[int | None, ...]
    regions: Regions | None = None
    offsets: Floats | None = None
    signs: Signs | None = None

    @property
    def needed(self) -> bool:
        """Whether any column is rounded."""
        return any(places is not None for places in self.decimals)

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """Where the values of columns end, in units of the space; infinite where nothing is known."""
        nowhere = np.full(len(self.names), np.inf)
        low, high = (-nowhere, nowhere) if self.signs is None else (self.signs.low, self.signs.high)
        return (low - self.space.offset) / self.space.unit, (high - self.space.offset) / self.space.unit

    def corrected(self, targets: Floats, means: Floats, kept: Flags) -> Settling:
        """Return a settling that puts the means of atoms right.

        Parameters
        ----------
        targets, means : arrays of shape (a, d)
            Where the means should be and where they are, in the space.
        kept : array of shape (a,)
            Atoms whose means count.
        """
        offsets, signs = np.where(kept[:, None], targets - means, 0.0), self.signs
        if signs is not None and self.offsets is not None:  # what a shift did not put right
            leave = self.space.leave
            signs, drawn = signs.corrected(leave(targets.T).T, leave(means.T).T, kept)
            offsets[drawn] = 0.0
        return replace(self, offsets=offsets if self.offsets is None else self.offsets + offsets, signs=signs)

    def finish(
        self, inside: Floats, anchors: Floats, atoms: Integers, original: Floats, rows: Rows, streams: Streams
    ) -> tuple[Floats, Flags]:
        """Return the rows in the units of the table, and which of them could not be kept in their regions.

        Parameters
        ----------
        inside : array of shape (d, rows)
            Released rows in the space.
        anchors : array of shape (a, d)
        atoms : array of shape (rows,)
        original : array of shape (d, rows)
        """
        bad = np.zeros(inside.shape[1], dtype=bool)
        if not self.needed and self.regions is None:
            return self._left(inside, atoms), bad
        if self.offsets is not None:
            inside = inside + self.offsets[atoms].T
        out = self._rounded(self._left(inside, atoms), np.arange(inside.shape[1]), rows, streams, 0)
        if self.regions is None:
            return out, bad
        depth = self._depth(out, atoms, original)
        rest = np.flatnonzero(depth <= 0)
        for attempt in range(1, _TRIES):
            if len(rest) == 0:
                break
            start = anchors[atoms[rest]].T
            nearer = start + _NEARER**attempt * (inside[:, rest] - start)
            tried = self._rounded(self._left(nearer, atoms[rest], _BACK**attempt), rest, rows, streams, attempt)
            deep = self._depth(tried, atoms[rest], original[:, rest])
            better = deep > depth[rest]
            out[:, rest[better]] = tried[:, better]
            depth[rest] = np.maximum(depth[rest], deep)
            rest = rest[depth[rest] <= 0]
        if not self.needed:
            rest = rest[:0]
        if len(rest):
            depth[rest] = self.climb(out, rest, atoms, original, depth[rest])
        bad = depth <= 0
        bad |= (out == original).all(axis=0)
        self._never_the_same(out, original)
        return out, bad

    def _left(self, inside: Floats, atoms: Integers, share: float = 1.0) -> Floats:
        """Return rows in the units of the table, on the right side of zero."""
        table = self.space.leave(inside)
        return table if self.signs is None else self.signs.reflect(table, atoms, share)

    def _depth(self, table: Floats, atoms: Integers, original: Floats) -> Floats:
        """Return how deep rows lie in their regions; the original itself is no place."""
        assert self.regions is not None
        depth = self.regions.depth(self.space.enter(table), atoms)
        depth[(table == original).all(axis=0)] = -np.inf
        if self.signs is not None:
            depth[self.signs.outside(table)] = -np.inf
        return depth

    def _rounded(self, table: Floats, which: Integers, rows: Rows, streams: Streams, attempt: int) -> Floats:
        out = table.copy()
        for index, (name, places) in enumerate(zip(self.names, self.decimals, strict=True)):
            if places is None:
                continue
            scaled = out[index] * 10.0**places
            floor = np.floor(scaled)
            chance = uniform(streams.words(f"rounding {attempt}", name, rows))[which]
            floor += chance < scaled - floor
            out[index] = floor / 10.0**places
        return out

    def climb(
        self, out: Floats, some: Integers, atoms: Integers, original: Floats, depth: Floats, *, columns: int = 1
    ) -> Floats:
        """Move rows by single steps of a column or two, each the best one, until they are inside; return their depth.

        Parameters
        ----------
        out : array of shape (d, rows)
            Finished rows in the units of the table; changed.
        some : array of int
            The rows to move.
        atoms : array of shape (rows,)
        original : array of shape (d, rows)
        depth : array of the shape of `some`
            How deep they lie; changed.
        columns : 1 or 2
            How many columns may change in one move.
        """
        assert self.regions is not None
        moves = all_moves(self.decimals, columns)
        moving = np.arange(len(some))
        for _ in range(_CLIMBS):
            at = some[moving]
            standing = Standing(self.space, self.regions, self.signs, out[:, at], original[:, at], atoms[at])
            reached, changes = standing.best(moves)
            better = reached > depth[moving]
            for rows, changed, cells in changes:
                out[changed[better[rows]], at[rows[better[rows]]]] = cells[better[rows]]
            depth[moving[better]] = reached[better]
            moving = moving[better & (reached <= 0)]
            if len(moving) == 0:
                break
        return depth

    def _never_the_same(self, out: Floats, original: Floats) -> None:
        """Move rows that still equal their originals by one step of their first rounded column."""
        same = (out == original).all(axis=0)
        if not same.any():
            return
        for index, places in enumerate(self.decimals):
            values = original[index]
            if places is not None and values.min() < values.max():
                middle = float(self.space.offset[index])
                out[index, same] += np.where(out[index, same] > middle, -1.0, 1.0) * 10.0**-places
                return
