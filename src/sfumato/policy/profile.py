"""What is in the columns of a table, from its first rows: enough to guess what each is for."""

from __future__ import annotations

import polars as pl

from sfumato.files.codes import codes_of, names_people
from sfumato.files.source import Source
from sfumato.frames.kinds import guess_number
from sfumato.policy.roles import ColumnTraits

LOOKED_AT = 10_000  # rows


def profile(source: Source, rows: int = LOOKED_AT) -> tuple[ColumnTraits, ...]:
    """Return the kind and the number of distinct values of every column, from the first rows of a table.

    Parameters
    ----------
    rows : int
        How many rows are looked at.
    """
    head = first_rows(source, rows)
    if head is None:
        return tuple(ColumnTraits(name, "text", 0, 0) for name in source.names)
    return tuple(_traits(head[name]) for name in source.names)


def first_rows(source: Source, rows: int = LOOKED_AT) -> pl.DataFrame | None:
    """Return the first rows of a table; None if it has none.

    Parameters
    ----------
    rows : int
        How many, at most.
    """
    frames: list[pl.DataFrame] = []
    for raw in source.batches():
        frames.append(raw.frame)
        if raw.stop >= rows:
            break
    return pl.concat(frames).head(rows) if frames else None


def _traits(cells: pl.Series) -> ColumnTraits:
    present = cells.drop_nulls()
    kind, distinct = _kind(present), present.n_unique() if len(present) else 0
    handed_out = kind == "integer" and names_people(present.unique(), len(present))
    return ColumnTraits(cells.name, kind, len(present), distinct, _detail(present, kind), handed_out)


def _detail(cells: pl.Series, kind: str) -> str:
    """Return what the numbers of a column say, in words; nothing for other columns."""
    if kind not in {"integer", "number"}:
        return ""
    texts = cells.dtype == pl.String
    numbers = (cells.str.strip_chars() if texts else cells).cast(pl.Float64, strict=False).drop_nulls().drop_nans()
    return guess_number(numbers.to_numpy(), integer=kind == "integer").reason if len(numbers) else ""


def _kind(cells: pl.Series) -> str:
    if cells.dtype == pl.String:
        numbers = cells.str.strip_chars().cast(pl.Float64, strict=False)
        # a few odd cells (markers of missing values) do not make a column of numbers one of text
        if len(cells) == 0 or numbers.null_count() > len(cells) // 10:
            counted = codes_of(cells.unique(), gaps=False)
            return "date" if counted is not None and counted.kind == "count" else "text"
        whole = cells.filter(numbers.is_not_null()).str.contains(r"^\s*[+-]?\d+\s*$")
        return "integer" if whole.all() else "number"
    if cells.dtype.is_integer():
        return "integer"
    if cells.dtype.is_numeric():
        return "number"
    if cells.dtype == pl.Boolean:
        return "flag"
    return "date" if cells.dtype.is_temporal() else "text"
