"""`sfumato.restore`: the owner's way back from an invertible release."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.keys import Key
from sfumato.exceptions import DataError, ReceiptError
from sfumato.files.finish import assemble, finish_column
from sfumato.files.formats.sinks import open_sink
from sfumato.files.numbers import NumberBatch
from sfumato.files.opening import file_kind, open_released, require_file
from sfumato.files.schema import ColumnRules, NumberColumn, known_type
from sfumato.files.source import RawBatch, Source, require_columns
from sfumato.files.storage.outputs import check_outputs, inputs
from sfumato.files.storage.reorder import Reorder
from sfumato.files.storage.workspace import Workspace, guarded_writes
from sfumato.perturb.catalogue import method
from sfumato.perturb.mechanism.keyed import KeyedMethod
from sfumato.pipeline.engines.engine import Cells, Watch
from sfumato.pipeline.undo import Undo, undo_map
from sfumato.policy.model import Roles
from sfumato.receipts.body import ReceiptBody, release_order
from sfumato.receipts.finding import receipt_of_file
from sfumato.receipts.released_rows import SAVED_ANEW, ReleasedRows, is_released_file


@dataclass(frozen=True)
class Restored:
    """What came back.

    Attributes
    ----------
    target : Path
    n_rows : int
    columns : tuple of str
        The restored columns.
    errors : mapping from columns to numbers
        Largest difference to the original, measured when the release was made: what its rounding costs.
    notes : tuple of str
        What could not be known, of a file that is not the released one byte for byte.
    """

    target: Path
    n_rows: int
    columns: tuple[str, ...]
    errors: Mapping[str, float]
    notes: tuple[str, ...] = ()


def restore(
    released: str | os.PathLike[str],
    target: str | os.PathLike[str],
    key: Key | str | os.PathLike[str],
    *,
    receipt: Any = None,
    force: bool = False,
    progress: Callable[[str, float], None] | None = None,
    cancel: Any = None,
) -> Restored:
    """Undo an invertible release: the perturbed columns come back, in the order of the original.

    The file must be the released one. A copy that was saved anew is taken if its perturbed columns hold the released
    numbers row by row; an edited, sorted or other file is refused.

    Parameters
    ----------
    released : path
        The released file.
    target : path
        The file to write; columns that the release dropped are not in it.
    key : Key or path
        The key of the release.
    receipt : Receipt or path, optional
        None looks for it with the key.
    force : bool
        Whether an existing target is replaced. Default: False.
    progress, cancel
        See `sfumato.release`.

    Returns
    -------
    Restored
    """
    target = Path(target)
    check_outputs({"the restored table": target}, inputs(released, key, receipt), force=force)
    kind = file_kind(target)
    require_file(released)
    opened, body = receipt_of_file(key, receipt, Path(released))
    exact = is_released_file(Path(released), opened, body)
    source = open_released(released, body.file_columns, ours=exact)
    _require_invertible(body)
    require_columns(body.released_columns, source.names, str(released))
    columns, cells = _columns(source, body)
    undo = _undo(body, opened)
    order = release_order(opened, body)
    seen = ReleasedRows(opened, body)
    watch = Watch(1, progress, cancel)
    with Workspace(target) as workspace, guarded_writes(target):
        sink = open_sink(kind, workspace, body.released_columns, source.style)
        try:
            reorder = Reorder(sink, workspace, body.n_rows, top=body.n_rows)
            rows = 0
            watch.begin("restoring")
            for raw in source.batches():
                watch.at(raw.share)
                rows = raw.stop
                if rows > body.n_rows:
                    break
                mine = order[raw.start : raw.stop]
                batch, _ = cells.numbers(raw)
                seen.add(batch.columns, mine)
                back = _restored(raw, batch, body, columns, undo, kind)
                reorder.add(mine.astype(np.uint64), sink.pack(back))
            if rows != body.n_rows:
                raise DataError(
                    f"{released}: not the {body.n_rows:,} rows of the release",
                    hint="restore takes the released file, whole",
                )
            unknown = None if exact else seen.require(str(released)) or SAVED_ANEW
            reorder.finish()
        finally:
            sink.close()
        workspace.commit_originals(force=force)
    watch.finish()
    notes = () if unknown is None else (unknown,)
    return Restored(target, body.n_rows, tuple(column.name for column in columns), dict(body.errors), notes)


def _require_invertible(body: ReceiptBody) -> None:
    if body.fitted is None:
        row = method(body.method)
        raise ReceiptError(
            f"a release with {row.name} [{row.id}] cannot be undone, not even with the key",
            hint="keep the original; `sfumato join` brings a miner's labels back to it",
        )


def _columns(source: Source, body: ReceiptBody) -> tuple[tuple[NumberColumn, ...], Cells]:
    columns = []
    for entry in body.columns:
        typed = source.types.get(entry["name"])
        dtype = None if typed is None else known_type(entry["type"]) or typed
        rules = ColumnRules(missing_values=tuple(entry["missing_values"]))
        columns.append(
            NumberColumn(entry["name"], dtype, entry["kind"], entry["decimals"], entry["fewest"], 0, 0.0, 0.0, rules)
        )
    names = tuple(column.name for column in columns)
    cells = Cells(Roles((), (), names), {column.name: column.rules for column in columns}, str(source.path))
    return tuple(columns), cells


def _undo(body: ReceiptBody, key: Key) -> Undo:
    keyed = KeyedMethod(method(body.method).load()(), key)
    return undo_map(keyed.inverse(keyed.load(body.fitted)), None if body.fills is None else np.array(body.fills))


def _restored(
    raw: RawBatch, batch: NumberBatch, body: ReceiptBody, columns: tuple[NumberColumn, ...], undo: Undo, kind: str
) -> Any:
    tile = undo(batch.tile(0, len(batch)), batch.masks)
    done = [
        (column, finish_column(values, column, invertible=True)) for column, values in zip(columns, tile, strict=True)
    ]
    types = {column.name: _output_type(column) for column in columns}
    as_text = kind.startswith("csv")
    frame, _ = assemble(raw, body.released_columns, done, batch.masks, as_text=as_text, types=types)
    return frame


def _output_type(column: NumberColumn) -> Any:
    return column.dtype if column.dtype is not None else known_type("Int64" if column.kind == "integer" else "Float64")
