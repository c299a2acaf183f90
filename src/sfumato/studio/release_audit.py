"""The audit of a released file on the rows that the previews have used: two streams, and little memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sfumato.auditing.model import Audit
from sfumato.auditing.run import run_session
from sfumato.auditing.session import AuditSession
from sfumato.core.keys import Key
from sfumato.exceptions import DataError
from sfumato.files.coded import coded_source
from sfumato.files.entire import cells_at, numbers_at
from sfumato.files.opening import open_source
from sfumato.files.source import RowsLeft, Source
from sfumato.receipts.body import about_left, original_rows, release_places, rows_left
from sfumato.receipts.shown import Receipt
from sfumato.studio.session import BATCH_ROWS

_CALL = "sfumato.audit(original, released)"
_TREE_ROWS = 2_000  # Ward's tree holds every pair of rows


def audit_sample(
    original: Path, released: Path, receipt: Receipt, rows: NDArray[np.int64], tell: Callable[[str, float], None]
) -> Audit:
    """Attack a released file on some of its rows, and measure what is left of its clusters.

    Parameters
    ----------
    receipt : Receipt
        Of the release, with its key where it says.
    rows : array of shape (m,)
        Numbers of the original rows to audit.
    tell : callable
        Called with (what is being done, share done).
    """
    body = receipt.body
    if receipt.key_path is None:
        raise DataError("without its key file a release cannot be audited")
    tell("finding the rows", 0.0)
    rows = rows_left(body, rows)
    rows = rows[rows >= 0]
    places = release_places(Key.load(receipt.key_path), body, rows)
    after = [name for name in body.released_columns if name not in body.kept]
    markers = {str(column["name"]): tuple(column.get("missing_values", ())) for column in body.columns}
    files: list[Source] = [open_source(one, batch_rows=BATCH_ROWS) for one in (original, released)]
    files[0] = RowsLeft(files[0], body.held_back) if body.held_back else files[0]
    source, result = (coded_source(one, body.coded) for one in files)
    before = numbers_at(source, list(receipt.perturbed), rows, markers)
    then = numbers_at(result, after, places, markers)
    complete = np.flatnonzero(np.isfinite(before.to_numpy()).all(axis=1) & np.isfinite(then.to_numpy()).all(axis=1))
    if body.kept:  # an attacker joins on them
        before = before.hstack(cells_at(files[0], body.kept, rows))
        then = then.hstack(cells_at(files[1], body.kept, places))
    session = AuditSession(
        before[complete],
        then[complete],
        kept=body.kept,
        method={"method": body.method, **receipt.parameters},
        categories=[name for name, codes in body.coded.get("codes", {}).items() if codes["kind"] == "category"],
    )
    found = run_session(session, utility={"ward_rows": _TREE_ROWS}, call=_CALL, progress=tell)
    notes = [note for note in found.notes if not note.startswith("rows are compared")]
    notes.append("the key has brought the rows into their order")
    if len(complete) < body.n_rows:
        notes.append(f"audited on {len(complete):,} of {body.n_rows:,} rows, drawn at random, complete ones only")
    notes += about_left(body)
    return found.model_copy(
        update={
            "notes": tuple(notes),
            "worst_records": tuple(original_rows(body, rows[complete[list(found.worst_records)]]).tolist()),
        }
    )
