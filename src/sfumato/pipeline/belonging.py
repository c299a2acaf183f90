"""Whether a table is the original of a receipt, by its keyed fingerprint."""

from __future__ import annotations

import numpy as np

from sfumato.core.keys import Key
from sfumato.core.passes import Survey
from sfumato.core.stream import table_hasher
from sfumato.exceptions import DataError
from sfumato.files.coded import coded_source
from sfumato.files.schema import ColumnRules
from sfumato.files.source import Source, require_columns
from sfumato.perturb.catalogue import method
from sfumato.pipeline.engines.engine import Cells, Watch
from sfumato.policy.model import Roles
from sfumato.receipts.body import ReceiptBody


def require_original(table: Source, body: ReceiptBody, key: Key, watch: Watch) -> None:
    """Raise unless a table is the one that was released, by its keyed fingerprint.

    Parameters
    ----------
    watch : Watch
        Told of one pass.
    """
    table = coded_source(table, body.coded)
    names = tuple(str(column["name"]) for column in body.columns)
    require_columns(names, table.names, str(table.path))
    rules = {str(c["name"]): ColumnRules(missing_values=tuple(c["missing_values"])) for c in body.columns}
    person = None if body.record_id is None or method(body.method).draws_rows else key.derive("record id", body.release)
    fills = None if body.fills is None else np.array(body.fills)
    held = np.array(body.held_back, dtype=np.int64)
    cells = Cells(Roles((), (), names, body.record_id), rules, str(table.path), person, fills, held_back=held)
    survey = Survey(table_hasher(key, names), len(names))
    watch.begin("checking the original")
    for raw in cells.present(table.batches(cells.read_columns)):
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
