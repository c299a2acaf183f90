"""The audit of a released file on the rows that the previews have used: two streams, and little memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sfumato.auditing.model import Audit
from sfumato.auditing.run import audit
from sfumato.core.keys import Key
from sfumato.core.receipt import release_order
from sfumato.exceptions import DataError
from sfumato.pipeline.receipt import Receipt
from sfumato.table.files import open_source
from sfumato.table.rows_at import numbers_at

__all__ = ["audit_sample"]

_SECONDS = 5.0


def audit_sample(
    original: Path, released: Path, receipt: Receipt, rows: NDArray[np.int64], tell: Callable[[str, float], None]
) -> Audit:
    """Attack a released file on some of its rows, and measure what is left of its clusters.

    Parameters
    ----------
    original, released : Path
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
    order = release_order(Key.load(receipt.key_path), body)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    after = [name for name in body.released_columns if name not in body.kept]
    before_rows = numbers_at(open_source(original), list(receipt.perturbed), rows)
    after_rows = numbers_at(open_source(released), after, place[rows])
    whole = np.isfinite(before_rows.to_numpy()).all(axis=1) & np.isfinite(after_rows.to_numpy()).all(axis=1)
    complete = np.flatnonzero(whole)
    found = audit(
        before_rows[complete],
        after_rows[complete],
        method={"method": body.method, **receipt.parameters},
        seconds=_SECONDS,
        progress=tell,
    )
    notes = [note for note in found.notes if not note.startswith("rows are compared")]
    notes.append("the key has brought the rows into their order")
    if len(complete) < body.n_rows:
        notes.append(f"audited on {len(complete):,} of {body.n_rows:,} rows, drawn at random, complete ones only")
    return found.model_copy(
        update={
            "notes": tuple(notes),
            "worst_records": tuple(int(rows[complete[row]]) for row in found.worst_records),
        }
    )
