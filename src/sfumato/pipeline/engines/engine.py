"""Who runs a release: an engine fills summaries over all rows and writes the kernel's result, nothing more.

The plan (which summaries, which kernel, which columns) is the same for every engine; an engine only chooses who
computes which block. It reads raw rows through `Cells`. Summaries merge in any order and a row's noise depends on its
number alone, so every engine reaches the same bytes. A `Watch` is told how far it is, and stops it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.core.marks import Marker
from sfumato.core.passes import Facts, Survey
from sfumato.core.rows import Coverage, PeopleRows, RecordIds, RowRange, Rows
from sfumato.core.secret import Hidden
from sfumato.core.summaries import Summary
from sfumato.exceptions import DataError, ReleaseCancelledError
from sfumato.files.numbers import NumberBatch, parse_column
from sfumato.files.schema import ColumnRules, Look
from sfumato.files.source import RawBatch, Source
from sfumato.perturb.mechanism.grouping import Grouping
from sfumato.perturb.mechanism.keyed import Kernel, KeyedMethod
from sfumato.pipeline.engines.last_pass import Tally, WriteJob
from sfumato.policy.model import Roles

S = TypeVar("S", bound=Summary)


class Engine(Protocol):
    """Runs the passes of one release."""

    @property
    def holds_back(self) -> bool:
        """Whether it can leave out single rows."""

    def look(self, cells: Cells, empty: Look) -> Look:
        """Take the first look at all rows, each exactly once."""

    def begin_rounds(self, keyed: KeyedMethod, facts: Facts, *, finding: bool = False) -> None:
        """Learn which method it is: the summaries asked for from now on are those of its rounds, in order.

        Parameters
        ----------
        finding : bool
            They are those that find whom to hold back; after these it may look anew.
        """

    def fill(self, cells: Cells, empty: S) -> tuple[S, Coverage | None]:
        """Fill a summary over all rows, and say which rows it saw; None if that was checked already."""

    def look_again(self, cells: Cells, empty: Survey, n_rows: int) -> Survey:
        """Survey the rows that are left after the rounds, when a method releases fewer than it was fitted on.

        Parameters
        ----------
        n_rows : int
            How many they are.
        """

    def meet(self, cells: Cells, grouping: Grouping, facts: Facts) -> Kernel:
        """Bring the rows of each group together and release them; return the map that finds a released row."""

    def write(self, cells: Cells, job: WriteJob) -> Tally:
        """Write the released rows."""


@dataclass(frozen=True, repr=False)
class Cells(Hidden):
    """How a table's raw rows become numbers; any engine can apply it to any batch.

    Attributes
    ----------
    roles : Roles
    rules : mapping from columns to ColumnRules
    what : str
        How errors call the table.
    id_subkey : bytes, optional
        With a record-id column: the subkey that keys the noise by person.
    fills : array of shape (d,), optional
        What stands for missing cells; None leaves them NaN.
    persons : bool
        Whether rows also say whose they are in every release, for the history.
    kept : pair of Marker and array, optional
        Of an update: the marks of rows that keep their noise.
    held_back : array of int, sorted, optional
        Numbers of the rows that are not released: nobody sees them.
    by_number : bool
        Whether rows go by their numbers although they have record ids, which only say whose they are.
    """

    roles: Roles
    rules: Mapping[str, ColumnRules]
    what: str
    id_subkey: bytes | None = None
    fills: Floats | None = None
    persons: bool = False
    kept: tuple[Marker, NDArray[np.uint64]] | None = None
    held_back: NDArray[np.int64] | None = None
    by_number: bool = False

    def present(self, raws: Iterable[RawBatch]) -> Iterator[RawBatch]:
        """Yield batches without the rows that are held back; the others are numbered anew."""
        for raw in raws:
            left = raw if self.held_back is None else raw.without(self.held_back)
            if left.height:
                yield left

    @property
    def read_columns(self) -> tuple[str, ...]:
        """The columns that fitting needs."""
        person = self.roles.record_id
        return self.roles.confidential if person is None else (*self.roles.confidential, person)

    @property
    def plain(self) -> tuple[str, ...]:
        """The columns that a second pass may read as numbers at once: nothing but a gap stands for a gap."""
        return tuple(name for name in self.roles.confidential if not self.rules[name].missing_values)

    def numbers(self, raw: RawBatch) -> tuple[NumberBatch, list[Any]]:
        """Return the confidential cells of some rows, and their text where the file is text."""
        columns, masks, texts = [], [], []
        for i, name in enumerate(self.roles.confidential):
            values, mask, text = parse_column(raw.frame[name], self.rules[name].missing_values, self.what, raw.start)
            if mask is not None and self.fills is not None:
                values[mask] = self.fills[i]
            columns.append(values)
            masks.append(mask)
            texts.append(text)
        batch = NumberBatch(self._rows(raw), columns, masks, raw.start)
        if self.kept is not None:
            marker, known = self.kept
            batch = replace(batch, rows=marker.renamed(batch.tile(0, len(batch)), batch.rows, known))
        return batch, texts

    def looked_at(self, raw: RawBatch) -> tuple[NumberBatch, list[Any]]:
        """Return the confidential cells of some rows, and what tells their decimals: pairs, or the cells' text.

        Parameters
        ----------
        raw : RawBatch
            Read as numbers where that was possible.
        """
        if raw.text is None:
            return self.numbers(raw)
        columns = self.roles.confidential
        types = raw.frame.schema  # once: the frame makes it anew each time it is asked
        if all(types[name].is_float() for name in columns):
            batch, _ = self.numbers(raw)
            decimals = raw.text.decimals(columns) if all(mask is None for mask in batch.masks) else None
            if decimals is not None:
                return batch, list(decimals)
        return self.numbers(RawBatch(raw.text.cells, raw.start, raw.share, raw.height))

    def batches(self, source: Source) -> Iterator[NumberBatch]:
        """Read a table once."""
        for raw in self.present(source.batches(self.read_columns)):
            yield self.numbers(raw)[0]

    def _rows(self, raw: RawBatch) -> Rows:
        if self.id_subkey is None:
            return RowRange(raw.start, raw.stop)
        assert self.roles.record_id is not None
        ids = raw.frame[self.roles.record_id]
        if ids.null_count():
            first = ids.is_null().arg_max()
            assert first is not None
            raise DataError(
                f"{self.what}: column {ids.name!r}, row {raw.start + first + 1}: a record without its id",
                hint="every row needs the id of its person, or leave out --record-id",
            )
        named = RecordIds.of(ids.to_list(), subkey=self.id_subkey)
        named = named.of_persons(ids.to_list()) if self.persons else named
        if self.by_number:
            return PeopleRows(raw.start, raw.stop, named.digests, named.persons)
        return named


class Watch:
    """Count passes, tell how far the job is, and stop it when asked.

    Parameters
    ----------
    passes : int
        How many passes are expected.
    progress : callable, optional
        Called with (step, share done): what is being done, in words.
    cancel : callable or object with is_set, optional
        The job stops at the next batch when it says true.
    """

    def __init__(self, passes: int, progress: Callable[[str, float], None] | None = None, cancel: Any = None) -> None:
        self.passes = passes
        self._progress = progress
        self._cancel: Callable[[], bool] = getattr(cancel, "is_set", cancel or (lambda: False))
        self.done = 0
        self._share = 0.0
        self._step = ""
        self.reach = 1.0  # share of the whole job that the passes are

    def begin(self, step: str) -> None:
        """Begin a pass."""
        self._step = step
        self.at(0.0)

    def at(self, share: float) -> None:
        """Tell how much of the pass is done, and stop if asked to."""
        done = min(0.99, (self.done + share) / max(self.passes, self.done + 1))
        self._tell(self.reach * done)

    def after(self, step: str, share: float) -> None:
        """Tell how much is done of what comes after the passes."""
        self._step = step
        self._tell(min(0.99, self.reach + (1.0 - self.reach) * share))

    def check(self) -> None:
        """Stop if asked to."""
        if self._cancel():
            raise ReleaseCancelledError("cancelled: nothing was written")

    def _tell(self, share: float) -> None:
        self.check()
        self._share = max(self._share, share)
        if self._progress is not None:
            self._progress(self._step, self._share)

    def end(self) -> None:
        """End a pass."""
        self.done += 1

    def finish(self, step: str = "done") -> None:
        """Tell that all is done."""
        if self._progress is not None:
            self._progress(step, 1.0)
