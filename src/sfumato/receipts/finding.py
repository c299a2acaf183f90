"""How the receipt of a release is found again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sfumato.core.keys import Key
from sfumato.core.system import read_regular
from sfumato.exceptions import ReceiptError
from sfumato.files.storage.keyring import load_key
from sfumato.files.storage.workspace import file_digest
from sfumato.receipts.body import ReceiptBody, open_receipt

_LARGEST_RECEIPT = 256 << 20


def read_receipt(path: Path, key: Key) -> ReceiptBody:
    """Read and open a receipt."""
    reason = None
    sealed = b""
    try:
        if path.stat().st_size > _LARGEST_RECEIPT:
            reason = "too large for a receipt"
        else:
            sealed = read_regular(path)
    except OSError as error:
        reason = error.strerror
    if reason is not None:
        raise ReceiptError(f"{path}: cannot be read ({reason})", hint="name the receipt with receipt=...")
    return open_receipt(key, sealed, str(path))


def find_receipt(folder: Path, key: Key, *, n_rows: int | None = None, digest: str | None = None) -> ReceiptBody:
    """Return the one receipt in a folder that belongs to a key and a released file.

    Parameters
    ----------
    folder : Path
        The folder of the key.
    n_rows : int, optional
        Rows of the release.
    digest : str, optional
        Keyed hash of the released rows; decides when it matches.
    """
    mine = list(_receipts(folder, key))
    exact = [body for _, body in mine if digest is not None and body.released_digest == digest]
    if exact:
        return exact[0]
    fitting = [(path, body) for path, body in mine if n_rows is None or body.n_rows == n_rows]
    if not fitting:
        raise ReceiptError(
            f"{folder}: no receipt of this key{'' if n_rows is None else f' for {n_rows:,} rows'}",
            hint="it is written with the key; name it with receipt=...",
        )
    if len({body.identity for _, body in fitting}) > 1:
        shown = ", ".join(path.name for path, _ in fitting[:5])
        raise ReceiptError(
            f"{folder}: {len(fitting)} receipts of this key would fit: {shown}", hint="choose one with receipt=..."
        )
    return fitting[0][1]


def all_receipts(key: Key | str | os.PathLike[str], receipt: Any = None) -> tuple[Key, list[ReceiptBody]]:
    """Return a key and the receipts of its releases, or the one that is named.

    Parameters
    ----------
    receipt : Receipt or path, optional
        None looks for the receipts with the key.
    """
    opened, folder = load_key(key)
    body = getattr(receipt, "body", None)
    if isinstance(body, ReceiptBody):
        return opened, [body]
    if receipt is not None:
        return opened, [read_receipt(Path(receipt), opened)]
    return opened, [one for _, one in _receipts(folder, opened)]


def receipt_of(
    key: Key | str | os.PathLike[str], receipt: Any = None, *, n_rows: int | None = None, digest: str | None = None
) -> tuple[Key, ReceiptBody]:
    """Return a key and the receipt of one of its releases.

    Parameters
    ----------
    receipt : Receipt or path, optional
        None looks for the receipt with the key.
    n_rows : int, optional
        Rows of the released file; a receipt of another number is refused.
    digest : str, optional
        See `find_receipt`.
    """
    opened, folder = load_key(key)
    body = getattr(receipt, "body", None)
    if receipt is None:
        body = find_receipt(folder, opened, n_rows=n_rows, digest=digest)
    elif not isinstance(body, ReceiptBody):
        body = read_receipt(Path(receipt), opened)
    if n_rows is not None and body.n_rows != n_rows:
        raise ReceiptError(
            f"the receipt is of a release of {body.n_rows:,} rows, and this file has {n_rows:,}",
            hint="give the receipt of this release with receipt=...",
        )
    return opened, body


def receipt_of_file(key: Key | str | os.PathLike[str], receipt: Any, released: Path) -> tuple[Key, ReceiptBody]:
    """Return a key and the receipt of a released file, found by the file's digest where no receipt is named.

    Whoever uses it must still check that the file is the released one: see `released_rows`.

    Parameters
    ----------
    receipt : Receipt or path, optional
    """
    opened, _ = load_key(key)
    digest = file_digest(released, opened.derive("released")) if receipt is None and released.exists() else None
    return receipt_of(key, receipt, digest=digest)


def _receipts(folder: Path, key: Key) -> Iterator[tuple[Path, ReceiptBody]]:
    start = f"sfumato-receipt-1 {key.fingerprint}\n".encode()
    for path in sorted(folder.glob("*.receipt")):
        try:
            mine = read_regular(path, len(start)) == start
        except OSError:
            continue
        if mine:
            yield path, read_receipt(path, key)
