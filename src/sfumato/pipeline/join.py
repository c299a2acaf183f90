"""The miner's labels, brought back to the original rows in spite of the shuffle."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.keys import Key
from sfumato.core.receipt import ReceiptBody, release_order
from sfumato.core.summaries import Survey
from sfumato.exceptions import DataError
from sfumato.perturb.drive import table_hasher
from sfumato.pipeline.cells import Cells
from sfumato.pipeline.watch import Watch
from sfumato.table.files import file_kind, open_source
from sfumato.table.headers import require_columns
from sfumato.table.keyring import receipt_of
from sfumato.table.labels import add_labels, read_labels, same_cells
from sfumato.table.raw import Source
from sfumato.table.roles import Roles
from sfumato.table.schema import ColumnRules
from sfumato.table.sinks import open_sink
from sfumato.table.workspace import Workspace, check_target, guarded_writes

__all__ = ["Joined", "join"]


@dataclass(frozen=True)
class Joined:
    """What was joined.

    Attributes
    ----------
    target : Path
    n_rows : int
    labels : tuple of str
        The columns that were added.
    """

    target: Path
    n_rows: int
    labels: tuple[str, ...]


def join(
    labels: str | os.PathLike[str],
    original: str | os.PathLike[str],
    target: str | os.PathLike[str],
    key: Key | str | os.PathLike[str],
    *,
    receipt: Any = None,
    force: bool = False,
    progress: Callable[[str, float], None] | None = None,
    cancel: Any = None,
) -> Joined:
    """Write the original with the labels that a miner gave to the rows of its release.

    Parameters
    ----------
    labels : path
        One row for each row of the release, in the order of the release. Columns of the release may be among
        them; the others are the labels.
    original : path
        The table that was released.
    target : path
        The file to write: the original and the labels. It is not a release: it holds every original value.
    key : Key or path
    receipt : Receipt or path, optional
        None looks for it with the key.
    force : bool
        Whether an existing target is replaced.
    progress, cancel
        See `sfumato.release`.

    Returns
    -------
    Joined
    """
    target = Path(target)
    check_target(target, force=force)
    kind = file_kind(target)
    mined, table = open_source(labels), open_source(original)
    found = read_labels(mined)
    opened, body = receipt_of(key, receipt, n_rows=found.height)
    names = [name for name in mined.names if name not in body.released_columns]
    if not names:
        raise DataError(
            f"{labels}: no column that is not in the release, so no labels", hint="add a column with the labels"
        )
    clash = sorted(set(names) & set(table.names))
    if clash:
        raise DataError(f"{labels}: the original has a column {clash[0]!r} too", hint="rename the column of labels")
    watch = Watch(2, progress, cancel)
    _require_original(table, body, opened, watch)
    place = np.argsort(release_order(opened, body))  # the row of the release in which each original row stands
    known = [name for name in body.kept if name in mined.names]
    with Workspace(target) as workspace, guarded_writes(target):
        sink = open_sink(kind, workspace, (*table.names, *names), table.style)
        try:
            watch.begin("joining")
            for raw in table.batches():
                watch.at(raw.share)
                mine = found[place[raw.start : raw.stop]]
                if not same_cells(raw.frame, mine, known):
                    raise DataError(
                        f"{labels}: its rows are not in the order of the release",
                        hint="write the labels in the order of the released rows",
                    )
                sink.write(sink.encode(sink.pack(add_labels(raw.frame, mine, names))))
        finally:
            sink.close()
        workspace.commit()
    watch.finish()
    return Joined(target, body.n_rows, tuple(names))


def _require_original(table: Source, body: ReceiptBody, key: Key, watch: Watch) -> None:
    """Raise unless a table is the one that was released, by its keyed fingerprint."""
    names = tuple(str(column["name"]) for column in body.columns)
    require_columns(names, table.names, str(table.path))
    rules = {str(c["name"]): ColumnRules(missing_values=tuple(c["missing_values"])) for c in body.columns}
    person = None if body.record_id is None else key.derive("record id", body.release)
    fills = None if body.fills is None else np.array(body.fills)
    cells = Cells(Roles((), (), names, body.record_id), rules, str(table.path), person, fills)
    survey = Survey(table_hasher(key, names), len(names))
    watch.begin("checking the original")
    for raw in table.batches(cells.read_columns):
        watch.at(raw.share)
        batch, _ = cells.numbers(raw)
        if fills is None and any(mask is not None for mask in batch.masks):
            break
        survey.add(batch.tile(0, len(batch)), batch.rows)
    watch.end()
    if survey.fingerprint().hex() != body.fingerprint:
        raise DataError(
            f"{table.path}: not the table that was released with this receipt, or changed since",
            hint="give the original as it was when it was released",
        )
