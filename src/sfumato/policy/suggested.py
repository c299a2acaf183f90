"""Relations that the first rows of a table keep, as a policy would declare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from sfumato._arrays import Floats
from sfumato.core.relations import Relation
from sfumato.files.codes import Codes, codes_of
from sfumato.files.source import Source
from sfumato.frames.kinds import guess_number
from sfumato.frames.related import find_relations
from sfumato.policy.profile import first_rows, is_number

_ROWS = 10_000


def suggested_relations(source: Source, names: Sequence[str], rows: int = _ROWS) -> tuple[str, ...]:
    """Return relations between some columns that hold in all of the first rows.

    Parameters
    ----------
    names : sequence of str
        The columns that are to be perturbed.
    rows : int
        How many rows are looked at.
    """
    head = first_rows(source, rows)
    if head is None:
        return ()
    columns, kinds, used = [], [], []
    codes: dict[str, Codes] = {}
    for name in names:
        cells = head[name]
        if is_number(cells):
            values = _numbers(cells)
            present = values[~np.isnan(values)]
            kind = guess_number(present, integer=bool((present == np.rint(present)).all())).kind if len(present) else ""
        else:
            found = codes_of(cells, gaps=cells.null_count() > 0, rows=len(cells) - cells.null_count())
            if found is None:
                continue
            codes[name] = found
            values, kind = found.encode(cells), found.kind
            if found.gap is not None:
                values = np.where(values == found.gap, np.nan, values)
        columns.append(values)
        kinds.append(kind)
        used.append(name)
    if len(used) < 2:
        return ()
    return tuple(_readable(one, codes) for one in find_relations(np.column_stack(columns), used, kinds))


def _numbers(cells: pl.Series) -> Floats:
    texts = cells.dtype == pl.String
    cells = cells.str.strip_chars() if texts else cells
    return cells.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()


def _readable(relation: Relation, codes: Mapping[str, Codes]) -> str:
    """Return a relation whose numbers are the values that they stand for, without quotes that names do not need."""
    text = relation.text
    if relation.kind == "where":
        sides = []
        for name, value in zip(relation.columns, relation.values, strict=True):
            known = {repr(number): level for level, number in codes[name].by_text().items()} if name in codes else {}
            sides.append(f'"{name}" = {known.get(repr(float(value)), value) if value != "missing" else value}')
        text = " exactly where ".join(sides)
    for name in relation.columns:
        if " " not in name:
            text = text.replace(f'"{name}"', name)
    return text
