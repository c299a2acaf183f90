"""The miner's labels, brought back to the original rows in spite of the shuffle."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.keys import Key
from sfumato.core.rows import without
from sfumato.exceptions import DataError, ReceiptError
from sfumato.files.coded import CodedColumns
from sfumato.files.entire import add_labels, mark_series, read_labels, same_cells
from sfumato.files.formats.sinks import open_sink
from sfumato.files.numbers import parse_column
from sfumato.files.opening import file_kind, open_released, open_source
from sfumato.files.row_ids import ROW_ID, by_row_id, knows_ids
from sfumato.files.source import Source, require_columns
from sfumato.files.storage.outputs import check_outputs, inputs
from sfumato.files.storage.workspace import Workspace, guarded_writes
from sfumato.perturb.catalogue import method
from sfumato.pipeline.belonging import require_original
from sfumato.pipeline.engines.engine import Watch
from sfumato.pipeline.held_labels import MARK, drawn_labels, nearest_labels
from sfumato.receipts.body import ReceiptBody, release_order, row_id_words
from sfumato.receipts.finding import all_receipts, receipt_of, receipt_of_file
from sfumato.receipts.released_rows import ReleasedRows, is_released_file
from sfumato.receipts.scaled import in_table_units, released_markers


@dataclass(frozen=True)
class Joined:
    """What was joined.

    Attributes
    ----------
    target : Path
    n_rows : int
    labels : tuple of str
        The columns that were added.
    notes : tuple of str
        What could not be known.
    """

    target: Path
    n_rows: int
    labels: tuple[str, ...]
    notes: tuple[str, ...] = ()


def join(
    labels: str | os.PathLike[str],
    original: str | os.PathLike[str],
    target: str | os.PathLike[str],
    key: Key | str | os.PathLike[str],
    *,
    receipt: Any = None,
    released: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: Callable[[str, float], None] | None = None,
    cancel: Any = None,
) -> Joined:
    """Write the original with the labels that a miner gave to the rows of its release.

    Parameters
    ----------
    labels : path
        One row for each row of the release, in the order of the release; or, where the release has row ids, any rows in
        any order with the column `row_id`. Columns of the release may be among them; the others are the labels.
    original : path
        The table that was released.
    target : path
        The file to write: the original and the labels. It is not a release: it holds every original value.
    key : Key or path
        The key of the release.
    receipt : Receipt or path, optional
        None looks for it with the key.
    released : path, optional
        The released file: the receipt must be its own, and columns of the release beside the labels must agree with it.
        Where no column of the release stands beside the labels, nothing tells whether they are in its order, and
        `notes` says so.
    force : bool
        Whether an existing target is replaced. Default: False.
    progress, cancel
        See `sfumato.release`.

    Returns
    -------
    Joined
    """
    target = Path(target)
    check_outputs({"the joined table": target}, inputs(labels, original, key, receipt, released), force=force)
    kind = file_kind(target)
    mined, table = open_source(labels), open_source(original)
    found = read_labels(mined)
    opened, body, by_id = _receipt(str(labels), found, key, receipt, None if released is None else Path(released))
    names = [name for name in mined.names if name not in (body.file_columns if by_id else body.released_columns)]
    if not names:
        raise DataError(
            f"{labels}: no column that is not in the release, so no labels", hint="add a column with the labels"
        )
    clash = sorted(set(names) & set(table.names))
    if clash:
        raise DataError(f"{labels}: the original has a column {clash[0]!r} too", hint="rename the column of labels")
    watch = Watch(2, progress, cancel)
    require_original(table, body, opened, watch)
    if method(body.method).draws_rows:
        label = _by_centres(mined, found, table, body, released, names)
        with Workspace(target) as workspace, guarded_writes(target):
            sink = open_sink(kind, workspace, (*table.names, *names), table.style)
            try:
                watch.begin("joining")
                for raw in table.batches():
                    watch.at(raw.share)
                    sink.write(sink.encode(sink.pack(add_labels(raw.frame, label(raw), tuple(names)))))
            finally:
                sink.close()
            workspace.commit()
        watch.finish()
        return Joined(target, body.n_rows + len(body.held_back), tuple(names), (_DRAWN,))
    order = release_order(opened, body)
    place = np.argsort(order)  # the row of the release in which each original row stands
    checked, labelled = by_id, body.n_rows
    if by_id:
        found, labelled = by_row_id(found, row_id_words(opened, body), str(labels))
        place = np.arange(body.n_rows)
    else:
        checked = _in_order(mined, found, opened, body, order)
    if not checked and released is not None:
        checked = _like_released(mined, found, Path(released), opened, body)
    known = [name for name in body.kept if name in mined.names and not by_id]
    held = np.array(body.held_back, dtype=np.int64)
    others = nearest_labels(table, body, found, place, names) if len(held) else None
    if others is not None and MARK in (*table.names, *names):
        raise DataError(f"{labels}: a column {MARK!r} would be added, and there is one", hint="rename that column")
    added = (*names, *(() if others is None else (MARK,)))
    with Workspace(target) as workspace, guarded_writes(target):
        sink = open_sink(kind, workspace, (*table.names, *added), table.style)
        try:
            watch.begin("joining")
            for raw in table.batches():
                watch.at(raw.share)
                left = raw.without(held)
                mine = found[place[left.start : left.stop]]
                if not same_cells(left.frame, mine, known):
                    raise DataError(
                        f"{labels}: its rows are not in the order of the release",
                        hint="write the labels in the order of the released rows",
                    )
                if others is not None:
                    mine = _with_held_back(mine[list(names)], others, held, raw.start, raw.stop)
                sink.write(sink.encode(sink.pack(add_labels(raw.frame, mine, added))))
        finally:
            sink.close()
        workspace.commit_originals(force=force)
    watch.finish()
    notes = () if checked or known else (_ORDER_UNKNOWN,)
    if labelled < body.n_rows:
        notes = (*notes, f"{body.n_rows - labelled:,} of {body.n_rows:,} released rows have no label: left empty")
    if len(held):
        notes = (*notes, f"{len(held):,} row(s) were held back: {_HELD_BACK}")
    return Joined(target, body.n_rows + len(held), tuple(names), notes)


def _receipt(
    labels: str, found: Any, key: Key | str | os.PathLike[str], receipt: Any, released: Path | None
) -> tuple[Key, ReceiptBody, bool]:
    """Return the key, the receipt that the labels belong to, and whether they have row ids."""
    if released is not None:
        opened, one = receipt_of_file(key, receipt, released)
        _require_released(released, opened, one)
        bodies = [one]
    else:
        opened, bodies = all_receipts(key, receipt)
    if ROW_ID in found.columns:
        for body in bodies:
            if body.row_id and knows_ids(found, row_id_words(opened, body)):
                return opened, body, True
    if len(bodies) == 1 or (bodies and not any(body.n_rows == found.height for body in bodies)):
        nearest = min(bodies, key=lambda body: abs(body.n_rows - found.height))
        _require_count(labels, found.height, nearest)
    chosen = bodies[0] if len(bodies) == 1 else receipt_of(key, receipt, n_rows=found.height)[1]
    return opened, chosen, False


def _require_count(labels: str, count: int, body: ReceiptBody) -> None:
    """Raise unless there is a label for each row of a release."""
    apart = count - body.n_rows
    if apart:
        raise DataError(
            f"{labels}: {count:,} labels, and the release has {body.n_rows:,} rows: {abs(apart):,} "
            f"label{'' if abs(apart) == 1 else 's'} too {'many' if apart > 0 else 'few'}",
            hint="give one label for each released row, in their order; with the column 'row_id' they may be fewer, in "
            "any order"
            + (": leave it beside them" if body.row_id else ", if the release has it: release with row_id=True"),
        )


_DRAWN = (
    "rows of this release belong to nobody: every original row has the label of the nearest centre of the miner's "
    "clusters, in standard deviations of the release"
)


def _by_centres(
    mined: Source, found: Any, table: Source, body: ReceiptBody, released: Any, names: Sequence[str]
) -> Callable[[Any], Any]:
    """Return how original rows get labels when the rows of the release were drawn anew."""
    coded = body.coded.get("codes", {})
    columns = [str(one["name"]) for one in body.columns if one["name"] not in coded]
    rows, what = found, mined.path
    if not set(columns) <= set(mined.names):
        if released is None:
            raise DataError(
                f"{mined.path}: the rows of this release belong to nobody, and without its columns nothing tells where "
                "the miner's clusters lie",
                hint="leave the released columns beside the labels, or give the released file with released=...",
            )
        what = Path(released)
        rows = read_labels(open_released(what, body.released_columns, ours=False))
    if rows.height != found.height:
        raise DataError(f"{mined.path}: not as many labels as the release has rows", hint="one label for each row")
    values = np.column_stack([parse_column(rows[name], (), str(what), 0)[0] for name in columns])
    return drawn_labels(table, body, values, columns, found, names)


def _with_held_back(mine: Any, others: Any, held: NDArray[np.int64], start: int, stop: int) -> Any:
    """Return the labels of the rows start..stop-1, those of people who were held back among them, and who they are."""
    left, _ = without(held, start, stop)
    if left is None:
        left = np.ones(stop - start, dtype=np.bool_)
    first, last = np.searchsorted(held, (start, stop))
    both = mine.vstack(others[int(first) : int(last)])
    place = np.argsort(np.concatenate([np.flatnonzero(left), np.flatnonzero(~left)]))
    return both[place].with_columns(mark_series(MARK, ~left))


_HELD_BACK = f"they have the label of the nearest centre, and the column {MARK!r} says who they are"
_ORDER_UNKNOWN = (
    "the labels carry too little of the release to check that they stand in its order; leave its columns beside the "
    "labels (one is enough if the released file is given with released=...)"
)


def _require_released(path: Path, key: Key, body: ReceiptBody) -> None:
    """Raise unless a file is the release of a receipt."""
    if is_released_file(path, key, body):
        return
    source = open_source(path)
    _check_rows(source, read_labels(source), key, body, release_order(key, body))


def _in_order(mined: Source, found: Any, key: Key, body: ReceiptBody, order: NDArray[np.int64]) -> bool:
    """Tell whether the perturbed columns stand beside the labels; raise if they are not those of the release."""
    if not set(ReleasedRows(key, body).names) <= set(mined.names) or not body.released_rows:
        return False
    _check_rows(mined, found, key, body, order)
    return True


def _like_released(mined: Source, found: Any, path: Path, key: Key, body: ReceiptBody) -> bool:
    """Tell whether some columns of the release stand beside the labels; raise if they are in another order."""
    ours = open_released(path, body.file_columns, ours=is_released_file(path, key, body))
    shared = [name for name in ReleasedRows(key, body).names if name in mined.names]
    if not shared:
        return False
    found, rows, markers = _counted(found, body, mined), _counted(read_labels(ours), body, ours), _markers(body)
    for name in shared:
        left, right = (
            parse_column(frame[name], markers.get(name, ()), str(what), 0)[0]
            for frame, what in ((found, mined.path), (rows, path))
        )
        if not np.array_equal(left, right, equal_nan=True):
            raise DataError(
                f"{mined.path}: its rows are not in the order of the release",
                hint="write the labels in the order of the released rows",
            )
    return True


def _counted(rows: Any, body: ReceiptBody, source: Source) -> Any:
    """Return rows with numbers in the place of what the release has counted."""
    return CodedColumns.load(body.coded).encode(rows, str(source.path), as_text=False) if body.coded else rows


def _markers(body: ReceiptBody) -> dict[str, tuple[str, ...]]:
    return {str(column["name"]): tuple(column["missing_values"]) for column in body.columns}


def _check_rows(source: Source, rows: Any, key: Key, body: ReceiptBody, order: NDArray[np.int64]) -> None:
    seen = ReleasedRows(key, body)
    require_columns(seen.names, source.names, str(source.path))
    rows = _counted(rows, body, source)
    markers = released_markers(body)
    columns = [
        in_table_units(parse_column(rows[name], markers.get(name, ()), str(source.path), 0)[0], name, body)
        for name in seen.names
    ]
    if len(order) != rows.height:
        raise ReceiptError(
            f"{source.path}: {rows.height:,} rows, and the receipt is of a release of {body.n_rows:,}",
            hint="give the receipt of this release with receipt=...",
        )
    seen.add(columns, order)
    seen.require(str(source.path))
