"""The last step of a guarded release: decimals and bounds, without leaving the cell and never the original row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.core.plan import Facts
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.variates import uniform
from sfumato.exceptions import ParameterError
from sfumato.perturb.guarding.cells import Cells
from sfumato.perturb.guarding.named import Space

__all__ = ["Settling", "column_bounds", "column_decimals"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_TRIES = 10
_NEARER = 0.85  # each further try starts nearer to the anchor


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
    """Return lower and upper bounds of every column, infinite where there are none."""
    low, high = np.full(facts.n_columns, -np.inf), np.full(facts.n_columns, np.inf)
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
    """Rounds rows to their decimals by keyed chance, so that means stay, and repairs rows that leave their cell.

    Attributes
    ----------
    space : Space
    names : tuple of str
    decimals : tuple of int or None
    """

    space: Space
    names: tuple[str, ...]
    decimals: tuple[int | None, ...]

    @property
    def needed(self) -> bool:
        """Whether any column is rounded."""
        return any(places is not None for places in self.decimals)

    def finish(
        self,
        inside: Floats,
        anchors: Floats,
        atoms: Integers,
        cells: Cells | None,
        original: Floats,
        rows: Rows,
        streams: Streams,
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the rows in the units of the table, and which of them could not be kept in their cells.

        Parameters
        ----------
        inside : array of shape (d, rows)
            Released rows in the space.
        anchors : array of shape (a, d)
        atoms : array of shape (rows,)
        cells : Cells, optional
            None rounds without looking.
        original : array of shape (d, rows)
        rows : Rows
        streams : Streams
        """
        out = self.space.leave(inside)
        bad = np.zeros(out.shape[1], dtype=bool)
        if not self.needed:
            return out, bad
        out = self._rounded(out, np.arange(out.shape[1]), rows, streams, 0)
        if cells is None:
            return out, bad
        depth = cells.depth(self.space.enter(out), atoms)
        depth[(out == original).all(axis=0)] = -np.inf
        rest = np.flatnonzero(depth <= 0)
        for attempt in range(1, _TRIES):
            if len(rest) == 0:
                break
            start = anchors[atoms[rest]].T
            nearer = start + _NEARER**attempt * (inside[:, rest] - start)
            tried = self._rounded(self.space.leave(nearer), rest, rows, streams, attempt)
            deep = cells.depth(self.space.enter(tried), atoms[rest])
            deep[(tried == original[:, rest]).all(axis=0)] = -np.inf
            better = deep > depth[rest]
            out[:, rest[better]] = tried[:, better]
            depth[rest] = np.maximum(depth[rest], deep)
            rest = rest[depth[rest] <= 0]
        bad[rest] = True
        self._never_the_same(out, original)
        return out, bad

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
