"""Labels for people who were held back: those of the miner's cluster whose centre is nearest to them.

The miner has never seen them. The owner has: the centres of the miner's clusters are taken in the original, in standard
deviations of the columns, and who was held back belongs to the nearest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats, Integers
from sfumato.files.coded import coded_source
from sfumato.files.entire import label_codes
from sfumato.files.schema import ColumnRules
from sfumato.files.source import Source
from sfumato.pipeline.engines.engine import Cells
from sfumato.policy.model import Roles
from sfumato.receipts.body import ReceiptBody

MARK = "held_back"  # the column that says for whom a label was found in this way


def nearest_labels(
    table: Source, body: ReceiptBody, labels: Any, place: NDArray[np.int64], names: Sequence[str]
) -> Any:
    """Return the labels of the rows that were held back, in the order of the original.

    Parameters
    ----------
    labels : DataFrame
        Of the rows of the release.
    place : array of shape (n,)
        The row of the release in which each row that was not held back stands.
    names : sequence of str
        The columns of labels.
    """
    rows, held = _numbers(table, body)
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    inside, outside = (rows - mean) / unit, (held - mean) / unit
    mine = labels[list(names)][place]
    found = [mine[[name]][_nearest(inside, outside, label_codes(mine[name]))] for name in names]
    first, *rest = found
    for one in rest:
        first = first.hstack(one)
    return first


def drawn_labels(
    table: Source, body: ReceiptBody, released: Floats, columns: Sequence[str], labels: Any, names: Sequence[str]
) -> Callable[[Any], Any]:
    """Return the map of original rows to labels, where rows of the release belong to nobody.

    The centres of the miner's clusters are taken in the release, in its standard deviations, and an original row
    belongs to the nearest.

    Parameters
    ----------
    released : array of shape (n, d)
        Columns of numbers of the release, in the order of the labels.
    columns : sequence of str
        Their names.
    """
    mean, spread = released.mean(axis=0), released.std(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    inside = (released - mean) / unit
    codes = [label_codes(labels[name]) for name in names]
    rules = {str(c["name"]): ColumnRules(missing_values=tuple(c["missing_values"])) for c in body.columns}
    cells = Cells(Roles((), (), tuple(columns)), {name: rules[name] for name in columns}, str(table.path))

    def label(raw: Any) -> Any:
        batch, _ = cells.numbers(raw)
        outside = np.nan_to_num((np.column_stack(batch.columns) - mean) / unit)  # a gap says nothing: the middle
        parts = [labels.select(name)[_nearest(inside, outside, of)] for name, of in zip(names, codes, strict=True)]
        first, *rest = parts
        for one in rest:
            first = first.hstack(one)
        return first

    return label


def _nearest(inside: Floats, outside: Floats, codes: Integers) -> Integers:
    """Return, for each row outside, some row inside that has the label of the nearest centre."""
    _, first, of, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    centres = np.stack([np.bincount(of, weights=column) / counts for column in inside.T], axis=1)
    apart = np.stack([((outside - centre) ** 2).sum(axis=1) for centre in centres])
    chosen: Integers = first[apart.argmin(axis=0)]
    return chosen


def _numbers(table: Source, body: ReceiptBody) -> tuple[Floats, Floats]:
    """Return the released columns of the original: of the rows that were released, and of those that were not."""
    names = tuple(str(column["name"]) for column in body.columns)
    rules = {str(c["name"]): ColumnRules(missing_values=tuple(c["missing_values"])) for c in body.columns}
    fills = None if body.fills is None else np.array(body.fills)
    cells = Cells(Roles((), (), names), rules, str(table.path), None, fills)
    everyone = np.concatenate(
        [np.column_stack(batch.columns) for batch in cells.batches(coded_source(table, body.coded))]
    )
    released = np.ones(len(everyone), dtype=bool)
    released[list(body.held_back)] = False
    return everyone[released], everyone[~released]
