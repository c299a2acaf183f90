"""Raw rows as the numbers that summaries and kernels see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sfumato._arrays import Floats
from sfumato.core.rows import RecordIds, RowRange, Rows
from sfumato.core.secret import Hidden
from sfumato.exceptions import DataError
from sfumato.files.numbers import NumberBatch, parse_column
from sfumato.files.schema import ColumnRules
from sfumato.files.source import RawBatch, Source
from sfumato.policy.model import Roles


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
    """

    roles: Roles
    rules: Mapping[str, ColumnRules]
    what: str
    id_subkey: bytes | None = None
    fills: Floats | None = None

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
        return NumberBatch(self._rows(raw), columns, masks, raw.start), texts

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
        if all(raw.frame.schema[name].is_float() for name in columns):
            batch, _ = self.numbers(raw)
            decimals = raw.text.decimals(columns) if all(mask is None for mask in batch.masks) else None
            if decimals is not None:
                return batch, list(decimals)
        return self.numbers(RawBatch(raw.text.cells, raw.start, raw.share, raw.height))

    def batches(self, source: Source) -> Iterator[NumberBatch]:
        """Read a table once."""
        for raw in source.batches(self.read_columns):
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
        return RecordIds.of(ids.to_list(), subkey=self.id_subkey)
