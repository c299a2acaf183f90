"""What the first rows of a table say: what its columns hold, which method it asks for, which relations they keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from sfumato.core.relations import MISSING, Relation
from sfumato.files.coded import MARKERS, has_other_columns
from sfumato.files.codes import Codes, codes_of, names_people
from sfumato.files.source import Source
from sfumato.frames.counted import count_table, numbers_in
from sfumato.frames.kinds import guess_number
from sfumato.frames.related import find_relations
from sfumato.policy.guesses import ColumnTraits
from sfumato.policy.overview import distinct_of, kind_of_type

LOOKED_AT = 10_000  # rows
_REPEATED = 3  # rows that have a value of a code, on average


def profile(source: Source) -> tuple[ColumnTraits, ...]:
    """Return the kind and the number of distinct values of every column, from the first rows of a table."""
    head = first_rows(source)
    if head is None:
        return tuple(ColumnTraits(name, "text", 0, 0) for name in source.names)
    return tuple(_traits(head[name]) for name in source.names)


def first_rows(source: Source) -> pl.DataFrame | None:
    """Return the first rows of a table; None if it has none."""
    frames: list[pl.DataFrame] = []
    for raw in source.batches():
        frames.append(raw.frame)
        if raw.stop >= LOOKED_AT:
            break
    return pl.concat(frames).head(LOOKED_AT) if frames else None


def _traits(cells: pl.Series) -> ColumnTraits:
    present = cells.drop_nulls()
    kind, distinct = _kind(present), distinct_of(present)
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
        unmarked = cells.filter(~cells.str.strip_chars().is_in(MARKERS))
        numbers = unmarked.str.strip_chars().cast(pl.Float64, strict=False)
        # a few odd cells do not make a column of numbers one of text
        if len(unmarked) == 0 or numbers.null_count() > len(unmarked) // 10:
            counted = codes_of(cells.unique(), gaps=False)
            return "date" if counted is not None and counted.kind == "count" else "text"
        whole = unmarked.filter(numbers.is_not_null()).str.contains(r"^\s*[+-]?\d+\s*$")
        return "integer" if whole.all() else "number"
    return kind_of_type(cells.dtype)


def has_other_kinds(source: Any, names: Sequence[str]) -> bool:
    """Tell whether some columns hold texts, flags, dates, codes, counts, or a value that stands for many rows.

    Parameters
    ----------
    source : Source, or a table with `head`
    names : sequence of str
        The columns to be perturbed.
    """
    if has_other_columns(source, names):
        return True
    head = first_rows(source) if hasattr(source, "batches") else source.head(LOOKED_AT)
    return head is not None and any(_stands_for_something(head[name]) for name in names)


def _stands_for_something(cells: pl.Series) -> bool:
    """Tell whether the numbers of a column are codes or counts, or hold a spike or a sentinel."""
    values = numbers_in(cells)
    if values is None:
        return False  # texts are looked for elsewhere
    numbers = values.drop_nulls().to_numpy().astype(np.float64)
    different = len(np.unique(numbers))
    if different < 2:
        return False
    guess = guess_number(numbers, integer=bool((numbers == np.rint(numbers)).all()))
    return bool(guess.held) or (guess.kind == "count" and different * _REPEATED <= len(numbers))


def suggested_relations(source: Source, names: Sequence[str]) -> tuple[str, ...]:
    """Return relations between some columns that hold in all of the first rows.

    Parameters
    ----------
    names : sequence of str
        The columns that are to be perturbed.
    """
    head = first_rows(source)
    if head is None:
        return ()
    counted = count_table(head, names)
    if len(counted.names) < 2:
        return ()
    rows = counted.numbers.to_numpy().astype(np.float64)
    for column, gap in enumerate(counted.gaps):
        if gap is not None:
            rows[rows[:, column] == gap, column] = np.nan
    found = find_relations(rows, counted.names, [counted.kinds[name] for name in counted.names])
    return tuple(_readable(one, counted.coding.codes) for one in found)


def _readable(relation: Relation, codes: Mapping[str, Codes]) -> str:
    """Return a relation whose numbers are the values that they stand for, without quotes that names do not need."""
    text = relation.text
    if relation.kind == "where":
        sides = []
        for name, value in zip(relation.columns, relation.values, strict=True):
            known = {number: level for level, number in codes[name].by_text().items()} if name in codes else {}
            sides.append(f'"{name}" = {value if value == MISSING else known.get(float(value), value)}')
        text = " exactly where ".join(sides)
    for name in relation.columns:
        if " " not in name:
            text = text.replace(f'"{name}"', name)
    return text
