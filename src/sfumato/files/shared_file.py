"""Files that owners exchange: versioned, sealed under their shared key, without pickle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.core.keys import Key
from sfumato.core.sealed import seal, unseal
from sfumato.core.secret import Hidden
from sfumato.core.stream import STREAM_VERSION
from sfumato.core.system import read_regular
from sfumato.core.travel import pack, unpack
from sfumato.exceptions import DataError, ReceiptError
from sfumato.files.schema import known_type
from sfumato.files.source import CsvStyle
from sfumato.files.storage.outputs import write_atomically

_HEADER = b"sfumato-shared-1"


@dataclass(frozen=True, repr=False)
class SharedFile(Hidden):
    """What one owner's summary, or the joint file of all, holds.

    Attributes
    ----------
    kind : "summary" or "joint"
    policy : dict
        The policy of the release.
    names : tuple of str
        Columns of the tables.
    types : dict
        Names of their types; empty for text files.
    owners : tuple of (name, rows)
    stages : list
        What each pass has learnt; in a summary the last one is this owner's own.
    owner : str
        Who made a summary.
    """

    kind: str
    policy: dict[str, Any]
    names: tuple[str, ...]
    types: dict[str, str]
    owners: tuple[tuple[str, int], ...]
    stages: list[Any]
    owner: str

    def agreed(self, key: Key) -> bytes:
        """Return a keyed hash of what the summaries of one pass must have in common."""
        owners = self.owners if len(self.stages) > 1 else ()
        earlier = self.stages[:-1]
        return key.derive("agreed", pack([self.policy, self.names, self.types, list(owners), earlier]))


class NamedTypes:
    """The columns of a table that is not here.

    Parameters
    ----------
    types : dict
        Names of types.
    """

    style = CsvStyle()
    path = Path("the tables")

    def __init__(self, names: tuple[str, ...], types: Mapping[str, str]) -> None:
        self.names = names
        found = {name: known_type(text) or pl.String() for name, text in types.items()}
        self.types: dict[str, pl.DataType] = found


def type_names(types: Mapping[str, pl.DataType], what: str) -> dict[str, str]:
    """Return the types of columns by name, or raise for numbers that owners cannot describe to one another."""
    for name, dtype in types.items():
        if dtype.is_numeric() and known_type(str(dtype)) is None:
            raise DataError(
                f"{what}: column {name!r} holds {dtype}, which owners cannot share", hint="convert it to plain numbers"
            )
    return {name: str(dtype) for name, dtype in types.items()}


def write_shared(path: Path, key: Key, file: SharedFile) -> None:
    """Write a file for the other owners, whole or not at all."""
    header = _header(key, file.kind)
    plain = pack({"stream": STREAM_VERSION, **asdict(file)})
    sealed = seal(key.derive("shared", 1), plain, header)
    write_atomically(path, lambda out: out.write(header + b"\n" + sealed))


def read_shared(path: Path, key: Key, kind: str) -> SharedFile:
    """Read a file of the owners.

    Parameters
    ----------
    key : Key
        The shared key.
    """
    raw = b""
    problem: str | None = None
    try:
        raw = read_regular(path)
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    header, _, sealed = raw.partition(b"\n")
    words = header.split(b" ")
    if problem is None and (words[0] != _HEADER or len(words) != 3):
        problem = "not a summary or joint file of this version of sfumato"
    elif problem is None and words[2] != key.fingerprint.encode():
        problem = "sealed with another key"
    elif problem is None and words[1] != kind.encode():
        problem = f"a {words[1].decode(errors='replace')} file, and a {kind} file is wanted here"
    plain = None if problem is not None else unseal(key.derive("shared", 1), sealed, header)
    if problem is None and plain is None:
        problem = "damaged, or changed since it was written"
    if problem is not None:
        raise ReceiptError(f"{path}: {problem}", hint="ask its owner for the file, and check --key")
    assert plain is not None
    data = unpack(plain)
    if data.pop("stream") != STREAM_VERSION:
        raise ReceiptError(f"{path}: made with another stream version", hint="all owners need the same sfumato")
    return SharedFile(**data)


def _header(key: Key, kind: str) -> bytes:
    return b" ".join([_HEADER, kind.encode(), key.fingerprint.encode()])
