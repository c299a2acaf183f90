"""A release whose columns are scaled already, so that a miner need not choose how: the last thing done to a file.

The scale is public, so it must not tell of single people. Standard deviations and means are those of the released
values, which everybody can compute. Ranges are not: the largest value of the original belongs to somebody. So a range
is rounded up to one digit (`core.numbers.round_range`), clusterings are named in these units ("round range"), and zero
is the smallest *released* value. Methods that name no clusterings take the rounded range of the released values.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.keys import Key
from sfumato.core.numbers import round_range
from sfumato.files.coded import coded_source
from sfumato.files.finish import scaled_cells
from sfumato.files.formats.sinks import open_sink
from sfumato.files.numbers import parse_column
from sfumato.files.opening import open_released
from sfumato.files.schema import NumberColumn
from sfumato.files.source import Source
from sfumato.files.storage.workspace import Workspace
from sfumato.receipts.body import ReceiptBody, release_order
from sfumato.receipts.released_rows import ReleasedRows
from sfumato.receipts.scaled import in_table_units, released_markers

Scale = dict[str, tuple[float, float]]  # column -> what is subtracted, and what is divided by

ROUND_RANGE = "round range"  # the scaling in which clusterings are named then
_DIGITS = 12  # decimals of a scaled column, at most
_FEWEST = 6


@dataclass
class _Moments:
    """Count, smallest and largest value, mean and squares of a column, batch by batch in the order of the file."""

    count: int = 0
    low: float = np.inf
    high: float = -np.inf
    mean: float = 0.0
    squares: float = 0.0

    def add(self, values: Floats) -> None:
        values = values[np.isfinite(values)]
        if not len(values):
            return
        self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
        mean, total = float(values.mean()), self.count + len(values)
        apart = mean - self.mean
        self.squares += float(((values - mean) ** 2).sum()) + apart * apart * self.count * len(values) / total
        self.mean += apart * len(values) / total
        self.count = total


def scale_of(how: str, source: Source, columns: Sequence[NumberColumn], spans: Mapping[str, float]) -> Scale:
    """Return the public scale of a released file.

    Parameters
    ----------
    how : "std" or "range"
    source : Source
        The released file.
    columns : sequence of NumberColumn
        Those to scale.
    spans : mapping from columns to float
        Ranges of the original, which are rounded; of columns that are not there the range of the release is taken.
    """
    seen = {column.name: _Moments() for column in columns}
    for raw in source.batches():
        for column in columns:
            seen[column.name].add(parse_column(raw.frame[column.name], _markers(column), str(source.path), 0)[0])
    out: Scale = {}
    for name, one in seen.items():
        if how == "std":
            centre, unit = one.mean, float(np.sqrt(one.squares / max(one.count, 1)))
        else:
            centre, unit = one.low, round_range(spans.get(name, one.high - one.low))
        out[name] = (centre if one.count else 0.0, unit if unit > 0 else 1.0)
    return out


def scale_file(
    workspace: Workspace,
    kind: str,
    order: Sequence[str],
    columns: Sequence[NumberColumn],
    how: str,
    spans: Mapping[str, float],
) -> Scale:
    """Put the scaled file in the place of the unfinished one, and return its scale.

    Parameters
    ----------
    kind : str
        See `file_kind`.
    order : sequence of str
        All released columns.
    columns, how, spans
        See `scale_of`.
    """
    before = workspace.folder / "unscaled"
    workspace.part.replace(before)
    source = open_released(before, order, ours=True, kind=kind)
    scale = scale_of(how, source, columns, spans)
    sink = open_sink(kind, workspace, order, source.style)
    try:
        for raw in source.batches():
            frame = raw.frame
            for column in columns:
                values = parse_column(frame[column.name], _markers(column), str(workspace.target), 0)[0]
                centre, unit = scale[column.name]
                scaled, decimals = (values - centre) / unit, _decimals(column, unit)
                cells = scaled_cells(column.name, scaled, decimals, as_text=kind.startswith("csv"))
                frame = frame.with_columns(cells)
            sink.write(sink.encode(sink.pack(frame)))
    finally:
        sink.close()
    before.unlink()
    return scale


def rows_digest(key: Key, body: ReceiptBody, part: Path, kind: str) -> str:
    """Return the hash of the released rows as they are read back from a scaled file, for its receipt.

    Parameters
    ----------
    part : Path
        The scaled file.
    kind : str
        See `file_kind`.
    """
    rows, places, markers = ReleasedRows(key, body), release_order(key, body), released_markers(body)
    source = coded_source(open_released(part, body.released_columns, ours=True, kind=kind), body.coded)
    for raw in source.batches():
        read = ((name, parse_column(raw.frame[name], markers.get(name, ()), "", 0)[0]) for name in rows.names)
        rows.add([in_table_units(values, name, body) for name, values in read], places[raw.start : raw.stop])
    return rows.digest


def about_scale(how: str, scale: Scale, target: Path) -> str:
    """Return what the owner is told."""
    words = "means and standard deviations" if how == "std" else "ranges rounded up to one digit"
    return f"{len(scale)} column(s) are scaled by {words}; {scale_path(target).name} says by what, to be handed out"


def scale_path(target: Path) -> Path:
    """Return where the public scale of a release stands: beside it."""
    return target.with_name(f"{target.name}.scale.json")


def scale_text(how: str, scale: Scale) -> str:
    """Return the public scale as JSON."""
    columns: dict[str, Any] = {name: {"subtracted": c, "divided_by": unit} for name, (c, unit) in scale.items()}
    return json.dumps({"format": "sfumato-scale-1", "scale": how, "columns": columns}, indent=2) + "\n"


def _markers(column: NumberColumn) -> tuple[str, ...]:
    return tuple(column.rules.missing_values)


def _decimals(column: NumberColumn, unit: float) -> int:
    """Return decimals enough to read the values of the table back exactly."""
    if column.decimals is None:
        return _DIGITS
    digits = int(np.ceil(np.log10(max(unit, 1e-300)))) + column.decimals + 2
    return min(_DIGITS, max(_FEWEST, digits))
