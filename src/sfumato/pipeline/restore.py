"""`sfumato.restore`: the owner's way back from an invertible release."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.keys import Key
from sfumato.core.receipt import ReceiptBody, release_order
from sfumato.exceptions import DataError, ReceiptError
from sfumato.perturb.catalogue import method
from sfumato.perturb.drive import Drive
from sfumato.pipeline.cells import Cells
from sfumato.pipeline.undo import Undo, undo_map
from sfumato.pipeline.watch import Watch
from sfumato.table.files import file_kind, open_source
from sfumato.table.finish import assemble, finish_column
from sfumato.table.headers import require_columns
from sfumato.table.keyring import load_key, receipt_of
from sfumato.table.raw import RawBatch, Source
from sfumato.table.reorder import Reorder
from sfumato.table.roles import Roles
from sfumato.table.schema import ColumnRules, NumberColumn, known_type
from sfumato.table.sinks import open_sink
from sfumato.table.workspace import Workspace, check_target, file_digest, guarded_writes

__all__ = ["Restored", "restore"]


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
    """

    target: Path
    n_rows: int
    columns: tuple[str, ...]
    errors: Mapping[str, float]


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

    Parameters
    ----------
    released : path
        The released file.
    target : path
        The file to write; columns that the release dropped are not in it.
    key : Key or path
    receipt : Receipt or path, optional
        None looks for it with the key.
    force : bool
        Whether an existing target is replaced.
    progress, cancel
        See `sfumato.release`.

    Returns
    -------
    Restored
    """
    target = Path(target)
    check_target(target, force=force)
    kind = file_kind(target)
    source = open_source(released)
    opened, _ = load_key(key)
    digest = file_digest(Path(released), opened.derive("released")) if Path(released).exists() else None
    opened, body = receipt_of(key, receipt, digest=digest)
    _require_invertible(body)
    require_columns(body.released_columns, source.names, str(released))
    columns, cells = _columns(source, body)
    undo = _undo(body, opened)
    order = release_order(opened, body).astype(np.uint64)
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
                back = _restored(raw, body, cells, columns, undo, kind)
                reorder.add(order[raw.start : raw.stop], sink.pack(back))
            if rows != body.n_rows:
                raise DataError(
                    f"{released}: not the {body.n_rows:,} rows of the release",
                    hint="restore takes the released file, whole",
                )
            reorder.finish()
        finally:
            sink.close()
        workspace.commit()
    watch.finish()
    return Restored(target, body.n_rows, tuple(column.name for column in columns), dict(body.errors))


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
    drive = Drive(method(body.method).load()(), key)
    return undo_map(drive.inverse(drive.load(body.fitted)), None if body.fills is None else np.array(body.fills))


def _restored(
    raw: RawBatch, body: ReceiptBody, cells: Cells, columns: tuple[NumberColumn, ...], undo: Undo, kind: str
) -> Any:
    batch, _ = cells.numbers(raw)
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
