"""What a release hands back to its caller: a receipt that shows what was done and hides what undoes it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.core.secret import Hidden
from sfumato.receipts.body import ReceiptBody

SCHEMA = "sfumato-release-1"


@dataclass(frozen=True, repr=False)
class Receipt(Hidden):
    """The receipt of a release.

    Attributes
    ----------
    target : Path
        The released file.
    key_path, receipt_path : Path, optional
        Where the key and the sealed receipt were written; None for a key that was handed over as an object.
    method : str
        Id of the method.
    parameters : dict
        The method's public parameters.
    release : str
        Name of the release.
    n_rows : int
    perturbed, kept, dropped : tuples of str
        Columns.
    missing : int
        Missing cells, which are missing in the release too.
    neutralised : int
        Text cells that began like a spreadsheet formula.
    broken : int
        Kept text cells with a line break or a separator in them: if they hold whole records, the file was misread.
    shuffled : bool
    passes : int
        Passes over the data that it took.
    notes : tuple of str
        What the owner must know.
    audit : Audit, optional
        The audit that the policy's limits asked for.
    body : ReceiptBody
        The sealed part; it shows nothing.
    held_back : int
        Rows of the table that are not released, because fewer than ten people are near them.
    """

    target: Path
    key_path: Path | None
    receipt_path: Path | None
    key_fingerprint: str
    method: str
    parameters: dict[str, Any]
    release: str
    n_rows: int
    perturbed: tuple[str, ...]
    kept: tuple[str, ...]
    dropped: tuple[str, ...]
    missing: int
    neutralised: int
    broken: int
    shuffled: bool
    passes: int
    notes: tuple[str, ...]
    audit: Any
    body: ReceiptBody
    held_back: int = 0

    def __repr__(self) -> str:
        return f"Receipt({str(self.target)!r}, method={self.method!r}, n_rows={self.n_rows}, release={self.release!r})"

    def to_data(self) -> dict[str, Any]:
        """Return what may be shown as plain data, with a versioned `schema` field."""
        grade = None if self.audit is None else {"grade": self.audit.grade, "verdict": self.audit.verdict}
        return {
            "schema": SCHEMA,
            "target": str(self.target),
            "key": None if self.key_path is None else str(self.key_path),
            "receipt": None if self.receipt_path is None else str(self.receipt_path),
            "key_fingerprint": self.key_fingerprint,
            "method": self.method,
            "parameters": self.parameters,
            "release": self.release,
            "rows": self.n_rows,
            "held_back": self.held_back,
            "perturbed": list(self.perturbed),
            "kept": list(self.kept),
            "dropped": list(self.dropped),
            "missing_cells": self.missing,
            "neutralised_cells": self.neutralised,
            "kept_cells_with_breaks": self.broken,
            "shuffled": self.shuffled,
            "passes": self.passes,
            "notes": list(self.notes),
            "audit": grade,
        }
