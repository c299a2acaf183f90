"""An original file and its release, aligned by key and receipt, and audited; and the limits of a policy."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._arrays import Floats
from sfumato.auditing.model import Audit
from sfumato.auditing.run import audit
from sfumato.core.keys import Key
from sfumato.exceptions import DataError, PolicyLimitError
from sfumato.files.coded import coded_source
from sfumato.files.entire import cells_at, number_frame
from sfumato.files.schema import ColumnRules
from sfumato.files.source import RowsLeft, Source, require_columns
from sfumato.pipeline.engines.engine import Cells
from sfumato.policy.model import Limits, Roles
from sfumato.receipts.body import ReceiptBody, about_left, original_rows, release_order
from sfumato.receipts.released_rows import SAVED_ANEW, ReleasedRows
from sfumato.receipts.scaled import in_table_units, released_markers

MOST_ROWS = 200_000
_GRADES = "ABCDF"


def audit_files(
    original: Source, released: Source, key: Key, body: ReceiptBody, *, trusted: bool = False, **options: Any
) -> Audit:
    """Audit a release file against its original, whose rows the key brings back into order.

    Parameters
    ----------
    body : ReceiptBody
        The receipt of the release.
    trusted : bool
        Whether the released file is known to be that of the receipt; otherwise its rows are checked.
    **options
        Go to `sfumato.audit`. Tables beyond `MOST_ROWS` rows are sampled: fewer rows make linkage easier, so the
        grade is on the safe side.
    """
    counted_original = coded_source(original, body.coded)  # first: who has left out rows cannot tell what is counted
    if body.held_back:
        original, counted_original = (RowsLeft(one, body.held_back) for one in (original, counted_original))
    names = [str(column["name"]) for column in body.columns]
    stay = [name for name in body.kept if name in body.released_columns]
    markers = {str(column["name"]): tuple(column.get("missing_values", ())) for column in body.columns}
    after = [name for name in body.released_columns if name not in body.kept]
    x = _numbers(counted_original, names, markers)
    y = _numbers(coded_source(released, body.coded), after, released_markers(body))
    y = np.column_stack([in_table_units(y[:, at], name, body) for at, name in enumerate(after)])
    for table, source in ((x, original), (y, released)):
        if len(table) != body.n_rows:
            raise DataError(
                f"{source.path}: {len(table):,} rows, and the release had {body.n_rows:,}: not the same people",
                hint="give the files of this release, whole",
            )
    order = release_order(key, body)
    notes = []
    if not trusted:
        seen = ReleasedRows(key, body)
        seen.add([y[:, after.index(name)] for name in seen.names], order)
        notes.append(seen.require(str(released.path)) or SAVED_ANEW)
    aligned = np.empty_like(y)
    aligned[order] = y
    kept = np.arange(len(x))  # missing cells are filled by the audit: nobody is left out for a gap
    if len(kept) > MOST_ROWS:
        chosen = np.random.default_rng(options.get("seed", 0)).choice(len(kept), MOST_ROWS, replace=False)
        notes.append(f"a random sample of {MOST_ROWS:,} of {len(kept):,} rows was audited")
        kept = kept[np.sort(chosen)]
    options.setdefault("method", {"method": body.method, **body.public})
    counted = body.coded.get("codes", {})
    options.setdefault("categories", [name for name, codes in counted.items() if codes["kind"] == "category"])
    options.setdefault("kept", stay)
    before, then = number_frame(names, x[kept]), number_frame(after, aligned[kept])
    if stay:  # attackers join on what is released as it is
        before = before.hstack(cells_at(original, stay, kept))
        then = then.hstack(cells_at(released, stay, np.argsort(order)[kept]))
    options.setdefault("order", np.arange(len(kept)))  # which the key has told
    found = audit(before, then, **options)
    told = [note for note in found.notes if not note.startswith("rows are compared")]
    return found.model_copy(
        update={
            "notes": (*told, "the key has brought the rows into their order", *notes, *about_left(body)),
            "worst_records": tuple(original_rows(body, kept[list(found.worst_records)]).tolist()),
        }
    )


def check_limits(limits: Limits, found: Audit) -> None:
    """Raise if an audit does not find what a policy demands."""
    missed = []
    if limits.min_grade is not None and _GRADES.index(found.grade) > _GRADES.index(limits.min_grade):
        missed.append(f"grade {found.grade}, and the policy demands {limits.min_grade} ({found.verdict})")
    if limits.max_misclassification is not None:
        excess = None if found.utility is None else found.utility.excess_mean
        if excess is None:
            missed.append("the misclassification could not be measured")
        elif excess > limits.max_misclassification:
            missed.append(
                f"{excess:.2%} of the rows change their cluster beyond a re-run on the original, and the policy allows "
                f"{limits.max_misclassification:.2%}"
            )
    if not found.trustworthy:
        missed.append("the audit cannot be trusted: a canary failed")
    if missed:
        raise PolicyLimitError(
            "a limit of the policy is not met: " + "; ".join(missed),
            hint="choose another method or other parameters; `sfumato tune DATA` searches for them",
        )


def _numbers(source: Source, names: list[str], markers: dict[str, tuple[str, ...]]) -> Floats:
    require_columns(names, source.names, str(source.path))
    rules = {name: ColumnRules(missing_values=markers.get(name, ())) for name in names}
    cells = Cells(Roles((), (), tuple(names)), rules, str(source.path))
    parts = [np.column_stack(batch.columns) for batch in cells.batches(source)]
    return np.concatenate(parts) if parts else np.empty((0, len(names)))
