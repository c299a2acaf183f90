"""Arrow record batches as raw rows, and released rows as Arrow: how an engine of another runtime hands rows over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.files.source import RawBatch

_ROWS_AT_ONCE = 1 << 16


def raw_rows(batches: Iterable[Any], number: str | None, rows_at_once: int = _ROWS_AT_ONCE) -> Iterator[RawBatch]:
    """Yield record batches as raw rows, each with consecutive row numbers.

    Parameters
    ----------
    number : str, optional
        The column of row numbers, which is taken out; None for tables without an order.
    rows_at_once : int
        Small batches are joined up to so many rows.
    """
    held: list[Any] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            rows += batch.num_rows
        if rows >= rows_at_once:
            yield from _runs(_frame(held), number)
            held, rows = [], 0
    if held:
        yield from _runs(_frame(held), number)


def whole_rows(batches: Iterable[Any], key: str) -> Iterator[pl.DataFrame]:
    """Yield record batches as frames of all rows that share a value; rows come sorted by it.

    Parameters
    ----------
    key : str
        The column of whole numbers that they share.
    """
    held: list[pl.DataFrame] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        frame = _frame([batch])
        keys = frame[key].to_numpy()
        edges = [0, *(np.flatnonzero(keys[1:] != keys[:-1]) + 1).tolist(), len(keys)]
        for start, stop in pairwise(edges):
            if held and held[0][key][0] != keys[start]:
                yield pl.concat(held)
                held = []
            held.append(frame.slice(start, stop - start))
    if held:
        yield pl.concat(held)


def record_batches(frame: pl.DataFrame, extra: dict[str, NDArray[np.int64]]) -> list[Any]:
    """Return released rows, and further columns of whole numbers, as record batches."""
    import pyarrow as pa

    whole = frame.with_columns([pl.Series(name, values) for name, values in extra.items()])
    table = whole.to_arrow(compat_level=pl.CompatLevel.oldest())
    plain = pa.schema([field.with_type(_plain_type(field.type)) for field in table.schema])
    batches: list[Any] = table.cast(plain).combine_chunks().to_batches()
    return batches


def arrow_schema(types: dict[str, pl.DataType]) -> Any:
    """Return the Arrow schema of columns of some types."""
    import pyarrow as pa

    empty = pl.DataFrame(schema=types).to_arrow(compat_level=pl.CompatLevel.oldest())
    return pa.schema([field.with_type(_plain_type(field.type)) for field in empty.schema])


def polars_types(schema: Any) -> dict[str, pl.DataType]:
    """Return the types that columns of an Arrow schema have here."""
    frame = pl.from_arrow(schema.empty_table())
    assert isinstance(frame, pl.DataFrame)
    return dict(frame.schema)


def polars_frame(table: Any) -> pl.DataFrame:
    """Return an Arrow table as a frame."""
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _frame(batches: list[Any]) -> pl.DataFrame:
    import pyarrow as pa

    return polars_frame(pa.Table.from_batches(batches))


def _runs(frame: pl.DataFrame, number: str | None) -> Iterator[RawBatch]:
    if number is None:
        yield RawBatch(frame, 0, 0.0)
        return
    numbers = frame[number].to_numpy()
    frame = frame[[name for name in frame.columns if name != number]]
    if not (np.diff(numbers) > 0).all():
        order = np.argsort(numbers, kind="stable")
        numbers, frame = numbers[order], frame[order]
    ends = np.flatnonzero(np.diff(numbers) != 1) + 1
    for start, stop in zip([0, *ends.tolist()], [*ends.tolist(), len(numbers)], strict=True):
        yield RawBatch(frame.slice(start, stop - start), int(numbers[start]), 0.0)


def _plain_type(dtype: Any) -> Any:
    import pyarrow as pa

    # other runtimes read Arrow with 32-bit offsets
    if pa.types.is_large_string(dtype):
        return pa.string()
    return pa.binary() if pa.types.is_large_binary(dtype) else dtype
