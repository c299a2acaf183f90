"""The last pass: what becomes of every row, the same for every engine, and what is counted on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sfumato._arrays import Flags, Floats
from sfumato.core.numbers import beyond_chance
from sfumato.core.relations import Relation
from sfumato.core.rows import Labelled, Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import RowHasher
from sfumato.core.tiles import spans
from sfumato.exceptions import DataError
from sfumato.files.finish import KeptCombinations, finish_column, numbers_of, released_cells
from sfumato.files.numbers import NumberBatch
from sfumato.files.row_ids import ROW_ID
from sfumato.files.schema import NumberColumn


@dataclass(frozen=True, repr=False)
class WriteJob(Hidden):
    """The last pass: what becomes of every row.

    Attributes
    ----------
    kernel : callable
        (tile, rows) -> released tile.
    rows_per_tile : int
    columns : tuple of NumberColumn
        The released numeric columns.
    order : tuple of str
        All released columns.
    same_columns : bool
        Whether the released columns are the confidential ones.
    invertible : bool
    undo : callable, optional
        For invertible methods: the map back, to measure what rounding costs; see `undo_map`.
    order_subkey : bytes, optional
        The subkey whose words the rows are sorted by; None keeps their order.
    n_rows : int
    hasher : RowHasher
        Hashes the released rows, by which their file is known again.
    gaps : array of shape (columns,), optional
        For methods that exchange missing cells, too: the number that stands for one in each column. Otherwise a cell is
        missing in the release where it was missing in the table.
    relations : tuple of Relation
        What must hold in every released row.
    id_subkey : bytes, optional
        The subkey of random row ids, if the release has them; see `files.row_ids`.
    """

    kernel: Callable[[Floats, Rows], Floats]
    rows_per_tile: int
    columns: tuple[NumberColumn, ...]
    order: tuple[str, ...]
    same_columns: bool
    invertible: bool
    undo: Callable[[Floats, Sequence[Flags | None]], Floats] | None
    order_subkey: bytes | None
    n_rows: int
    hasher: RowHasher
    gaps: Floats | None = None
    relations: tuple[Relation, ...] = ()
    id_subkey: bytes | None = None

    @property
    def file_columns(self) -> tuple[str, ...]:
        """All columns of the file: the released ones, and that of row ids."""
        return self.order if self.id_subkey is None else (*self.order, ROW_ID)

    def with_kernel(self, kernel: Callable[[Floats, Rows], Floats]) -> WriteJob:
        """Return the same pass with another kernel."""
        return replace(self, kernel=kernel)


@dataclass
class Tally:
    """What was counted while writing; tallies of different rows add up.

    Attributes
    ----------
    rows : int
    neutralised : int
        Formula-like text cells.
    broken : int
        Kept text cells with a line break or a separator in them.
    unchanged : dict
        Cells of each column that came out as they went in, beyond chance where they are more than half.
    errors : dict
        Largest difference between an original and a restored value.
    lanes : pair of int
        Sums of keyed hashes of the released rows; see `RowHasher`.
    unmet : dict
        Rows that break each relation.
    kept : KeptCombinations
        Rows by their values in the kept columns.
    """

    rows: int = 0
    neutralised: int = 0
    broken: int = 0
    unchanged: dict[str, int] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)
    lanes: tuple[int, int] = (0, 0)
    unmet: dict[str, int] = field(default_factory=dict)
    kept: KeptCombinations = field(default_factory=KeptCombinations)

    def merge(self, other: Tally) -> None:
        """Add another tally."""
        self.rows += other.rows
        self.neutralised += other.neutralised
        self.broken += other.broken
        self.kept.merge(other.kept)
        self.lanes = (self.lanes[0] + other.lanes[0], self.lanes[1] + other.lanes[1])
        for mine, theirs in ((self.unchanged, other.unchanged), (self.unmet, other.unmet)):
            for name, count in theirs.items():
                mine[name] = mine.get(name, 0) + count
        for name, error in other.errors.items():
            self.errors[name] = max(self.errors.get(name, 0.0), error)

    def mostly_unchanged(self, columns: Sequence[NumberColumn]) -> list[str]:
        """Return the columns of which most cells came out as they went in, beyond chance."""
        return [
            column.name
            for column in columns
            if column.high > column.low and self.unchanged.get(column.name, 0) > (self.rows - column.missing) / 2
        ]


@dataclass(frozen=True, repr=False)
class Finished(Hidden):
    """The released numbers of some rows, in whole units of their decimals.

    Attributes
    ----------
    units : list of arrays of shape (n,)
    masks : list of arrays or None
        Missing cells of each released column.
    tally : Tally
    """

    units: list[Floats]
    masks: list[Flags | None]
    tally: Tally


def perturb_batch(batch: NumberBatch, job: WriteJob, numbered: Labelled | None = None) -> Finished:
    """Perturb and finish some rows: the part of the last pass that every engine shares.

    Parameters
    ----------
    batch : NumberBatch
        Missing cells filled.
    numbered : Labelled, optional
        The numbers of the rows, if they are not those of the batch.
    """
    n = len(batch)
    units = [np.empty(n) for _ in job.columns]
    errors = np.zeros(len(job.columns))
    holes_now = [np.zeros(n, dtype=bool) for _ in job.columns] if job.gaps is not None else []

    def one(start: int, stop: int) -> None:
        tile = job.kernel(batch.tile(start, stop), batch.rows.part(start, stop))
        for i, (values, column, target) in enumerate(zip(tile, job.columns, units, strict=True)):
            if job.gaps is not None:
                holes_now[i][start:stop] = values == job.gaps[i]
            target[start:stop] = finish_column(values, column, invertible=job.invertible)
        if job.undo is not None:
            seen = [numbers_of(u[start:stop], column) for u, column in zip(units, job.columns, strict=True)]
            holes = [None if mask is None else mask[start:stop] for mask in batch.masks]
            back = job.undo(np.stack(seen), holes)
            for i, column in enumerate(job.columns):
                restored = numbers_of(finish_column(back[i], column, invertible=True), column)
                gap = np.abs(restored - batch.columns[i][start:stop])
                hole = holes[i]
                errors[i] = max(errors[i], (gap if hole is None else gap[~hole]).max(initial=0.0))

    for start, stop in spans(n, job.rows_per_tile):
        one(start, stop)
    masks: list[Flags | None] = list(batch.masks) if job.same_columns else [None] * len(job.columns)
    if job.gaps is not None:
        masks = [holes if holes.any() else None for holes in holes_now]
    tally = Tally(rows=n)
    tally.lanes = job.hasher.sums(
        released_cells(units, masks, job.columns), batch.numbered if numbered is None else numbered
    )
    if job.same_columns:
        for i, column in enumerate(job.columns):
            same = numbers_of(units[i], column) == batch.columns[i]
            there = slice(None) if masks[i] is None else ~masks[i]  # type: ignore[operator]
            equal, present = int(np.count_nonzero(same[there])), batch.columns[i][there]
            # fewer than half are no matter, so chance is reckoned for the others only
            tally.unchanged[column.name] = beyond_chance(equal, present) if 2 * equal > len(present) else equal
    tally.unmet = _unmet(units, masks, job)
    if job.undo is not None:
        tally.errors = {column.name: float(error) for column, error in zip(job.columns, errors, strict=True)}
    return Finished(units, masks, tally)


def _unmet(units: list[Floats], masks: list[Flags | None], job: WriteJob) -> dict[str, int]:
    """Return how many released rows break each relation."""
    places = {column.name: i for i, column in enumerate(job.columns)}
    decimals = {column.name: column.decimals for column in job.columns}

    def cells(name: str) -> Floats:
        place = places[name]
        values, mask = numbers_of(units[place], job.columns[place]), masks[place]
        return values if mask is None else np.where(mask, np.nan, values)

    return {one.text: int(np.count_nonzero(one.broken(cells, decimals))) for one in job.relations}


def require_relations(tally: Tally) -> None:
    """Raise if released rows break a declared relation: nothing is released then."""
    broken = [f"{count:,} released row(s) would break {text!r}" for text, count in tally.unmet.items() if count]
    if broken:
        raise DataError(
            "; ".join(broken), hint="the method exchange keeps relations; others release columns one by one"
        )
