"""Relations that the first rows of a table keep, as a policy would declare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.core.relations import MISSING, Relation
from sfumato.files.codes import Codes
from sfumato.files.source import Source
from sfumato.frames.counted import count_table
from sfumato.frames.related import find_relations
from sfumato.policy.profile import first_rows


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
