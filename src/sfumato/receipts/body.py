"""The receipt of a release: what the owner needs beside the key, sealed under it.

A key alone cannot put the rows back into their order, or undo a release: that also takes the name of the release,
the method, the fingerprint of the table and what was fitted. The receipt holds them, encrypted and authenticated
(AES-256-GCM under a subkey): who finds it without the key learns its length. It stands beside the key.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.keys import Key
from sfumato.core.rows import RowRange
from sfumato.core.sealed import seal, unseal
from sfumato.core.secret import Hidden
from sfumato.core.stream import STREAM_VERSION, RowHasher
from sfumato.exceptions import ReceiptError
from sfumato.files.row_ids import ROW_ID
from sfumato.files.storage.outputs import write_atomically

_HEADER = "sfumato-receipt-1"
_BLOCK = 1 << 20  # rows whose words are held at once


@dataclass(frozen=True, repr=False)
class ReceiptBody(Hidden):
    """What a receipt holds; it shows nothing of it.

    Attributes
    ----------
    release, method : str
        Name of the release and id of the method.
    parameters, public : mappings
        The method's parameters, secret ones included, and those that an attacker may read.
    n_rows : int
    fingerprint : str
        Keyed fingerprint of the table, hexadecimal.
    identity : str
        Keyed hash of everything that decides the noise, hexadecimal.
    shuffled : bool
        Whether the rows were shuffled by the key.
    source_columns, dropped, kept : tuples of str
    columns : tuple of mappings
        The confidential columns: name, kind, decimals, type.
    released_columns : tuple of str
    released_digest : str
        Keyed hash of the released file, hexadecimal; empty if it was not written here.
    released_rows : str
        Keyed hash of the released numbers in the order of the original, hexadecimal: the same whatever file they stand
        in. Empty in receipts of earlier versions, and for rows that were not written here.
    fills : tuple of numbers, optional
        What stood for missing cells, in the order of `columns`; None if none was missing.
    record_id : str, optional
        The column that names a person.
    fitted : JSON values
        Fitted state of an invertible method; None for the others, which are fitted again from the original.
    errors : mapping from columns to numbers
        Largest difference between an original and a restored value.
    first_row : int
        Number of the first row in the table of all owners, for releases of several.
    coded : mapping
        How columns that hold no numbers were counted; see `CodedColumns`.
    held_back : tuple of int
        Numbers of the original rows that are not released, sorted; everything else is about the table without them.
    scale : mapping from columns to (centre, unit)
        By what columns were scaled before they were written; nothing for a release in the units of the table.
    update : mapping
        What an update needs of this release; nothing if it cannot be updated.
    row_id : bool
        Whether the released file has a column of random row ids, after `released_columns`.
    stream_version, version : int
    """

    release: str
    method: str
    parameters: Mapping[str, Any]
    n_rows: int
    fingerprint: str
    identity: str
    shuffled: bool
    source_columns: tuple[str, ...]
    dropped: tuple[str, ...]
    kept: tuple[str, ...]
    columns: tuple[Mapping[str, Any], ...]
    released_columns: tuple[str, ...]
    released_digest: str
    public: Mapping[str, Any] = field(default_factory=dict)
    fills: tuple[float, ...] | None = None
    record_id: str | None = None
    fitted: Any = None
    errors: Mapping[str, float] = field(default_factory=dict)
    first_row: int = 0
    released_rows: str = ""
    coded: Mapping[str, Any] = field(default_factory=dict)
    held_back: tuple[int, ...] = ()
    scale: Mapping[str, Sequence[float]] = field(default_factory=dict)
    update: Mapping[str, Any] = field(default_factory=dict)
    row_id: bool = False
    stream_version: int = STREAM_VERSION
    version: int = 1

    @property
    def file_columns(self) -> tuple[str, ...]:
        """All columns of the released file, that of row ids among them."""
        return (*self.released_columns, *([ROW_ID] if self.row_id else []))


def release_identity(key: Key, release: str, method: str, parameters: Any, table: bytes) -> bytes:
    """Return a keyed hash of everything that decides the noise of a release."""
    return key.derive("identity", STREAM_VERSION, release, method, parameters, table)


def rows_hasher(key: Key, identity: bytes, names: Sequence[str]) -> RowHasher:
    """Return what hashes the released rows of a release.

    Parameters
    ----------
    identity : bytes
        See `release_identity`.
    names : sequence of str
        The released columns of numbers.
    """
    return RowHasher(key.derive("released rows", identity), names)


def order_subkey(key: Key, identity: bytes) -> bytes:
    """Return the subkey whose words the rows of a release are sorted by: its keyed shuffle."""
    return key.derive("order", identity)


def row_id_subkey(key: Key, identity: bytes) -> bytes:
    """Return the subkey whose words are the ids of the rows of a release."""
    return key.derive("row id", identity)


def row_id_words(key: Key, body: ReceiptBody) -> NDArray[np.uint64]:
    """Return the word of the id of every released row, in the order of the original without those held back."""
    rows = RowRange(body.first_row, body.first_row + body.n_rows)
    return rows.words(row_id_subkey(key, bytes.fromhex(body.identity)))


def release_order(key: Key, body: ReceiptBody) -> NDArray[np.int64]:
    """Return the original row that stands in each row of a release; rows that are held back are not counted."""
    if not body.shuffled:
        return np.arange(body.n_rows, dtype=np.int64)
    words = RowRange(body.first_row, body.first_row + body.n_rows).words(
        order_subkey(key, bytes.fromhex(body.identity))
    )
    return np.argsort(words, kind="stable")


def original_rows(body: ReceiptBody, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers that rows have in the original, of their numbers in the table without those held back.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> original_rows(SimpleNamespace(held_back=(1, 3)), np.array([0, 1, 2])).tolist()
    [0, 2, 4]
    """
    held = np.array(body.held_back, dtype=np.int64)
    # before row r of those that are left stand r others and the held-back ones whose own number is at most that many on
    numbers: NDArray[np.int64] = rows + np.searchsorted(held - np.arange(len(held)), rows, side="right")
    return numbers


def rows_left(body: ReceiptBody, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of original rows in the table without those held back; -1 for these."""
    held = np.array(body.held_back, dtype=np.int64)
    return np.where(np.isin(rows, held), -1, rows - np.searchsorted(held, rows))


def about_left(body: ReceiptBody) -> tuple[str, ...]:
    """Say that rows were held back and are in no figure, if there are some."""
    count = len(body.held_back)
    return (f"{count:,} row(s) were held back: everything is measured without them",) if count else ()


def release_places(key: Key, body: ReceiptBody, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row of a release in which each of some original rows stands, without holding the whole order.

    Parameters
    ----------
    rows : array of shape (m,)
        Numbers of original rows; see `rows_left` where some are held back.

    Returns
    -------
    array of shape (m,)
    """
    if not body.shuffled:
        return rows
    subkey = order_subkey(key, bytes.fromhex(body.identity))
    blocks = [RowRange(start, min(start + _BLOCK, body.n_rows)) for start in range(0, body.n_rows, _BLOCK)]
    mine = np.empty(len(rows), dtype=np.uint64)
    for block in blocks:
        here = (rows >= block.start) & (rows < block.stop)
        if here.any():
            mine[here] = block.words(subkey)[rows[here] - block.start]
    order = np.argsort(mine)
    smaller = np.zeros(len(rows) + 1, dtype=np.int64)
    for block in blocks:
        # a word comes before every word of ours that is larger
        first = np.searchsorted(mine[order], block.words(subkey), side="right")
        smaller += np.bincount(first, minlength=len(smaller))
    places = np.empty(len(rows), dtype=np.int64)
    places[order] = np.cumsum(smaller)[: len(rows)]
    return places


def seal_receipt(key: Key, body: ReceiptBody) -> bytes:
    """Return the sealed receipt: a header line and one line of base64."""
    header = f"{_HEADER} {key.fingerprint}".encode()
    text = json.dumps(asdict(body), allow_nan=False, separators=(",", ":")).encode()
    return header + b"\n" + base64.b64encode(seal(key.derive("receipt", 1), text, header)) + b"\n"


def open_receipt(key: Key, sealed: bytes, what: str = "the receipt") -> ReceiptBody:
    """Return what a sealed receipt holds, or raise if it is not one of this key or was changed.

    Parameters
    ----------
    what : str
        How errors call it.
    """
    header, _, rest = sealed.partition(b"\n")
    words = header.split(b" ")
    if words[0] != _HEADER.encode() or len(words) != 2:
        raise ReceiptError(f"{what}: not a receipt of this version of sfumato", hint="check the path")
    if words[1] != key.fingerprint.encode():
        raise ReceiptError(
            f"{what}: sealed with another key (this key's fingerprint is {key.fingerprint})",
            hint="give the key of that release with key=...",
        )
    body: ReceiptBody | None = None
    try:
        raw = base64.b64decode(rest.strip(), validate=True)
        text = unseal(key.derive("receipt", 1), raw, header)
        body = None if text is None else _body(json.loads(text))
    except (binascii.Error, ValueError, TypeError, KeyError):
        body = None
    if body is None:
        raise ReceiptError(f"{what}: damaged, or changed since it was written", hint="use a backup of it")
    if body.stream_version != STREAM_VERSION:
        raise ReceiptError(
            f"{what}: made with stream version {body.stream_version}, and this is {STREAM_VERSION}",
            hint="use the version of sfumato that made the release",
        )
    return body


def _body(data: dict[str, Any]) -> ReceiptBody:
    for name in ("source_columns", "dropped", "kept", "columns", "released_columns"):
        data[name] = tuple(data[name])
    data["fills"] = None if data["fills"] is None else tuple(data["fills"])
    return ReceiptBody(**data)


def receipt_path(folder: Path, target: Path, body: ReceiptBody) -> Path:
    """Return where the receipt of a release stands: one file for each release, the same for the same noise."""
    return folder / f"{target.name}.{body.identity[:8]}.receipt"


def write_private(path: Path, content: bytes) -> None:
    """Write a receipt or a report, whole or not at all, readable by its owner."""
    reason = None
    try:
        write_atomically(path, lambda file: file.write(content))
    except OSError as error:
        reason = error.strerror
    if reason is not None:
        raise ReceiptError(f"{path}: cannot be written ({reason})", hint="name another place for it")
