"""The key of a release, and the history that stands beside it.

A key is handed over, read from a file, or made and kept where only its owner can read it. The history says which
tables were released before: a second release with other noise can be averaged with the first. It holds keyed hashes
only, under a key of its own, because two releases usually have two keys: nobody can test a guess about a table with
it.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from sfumato.core.keys import Key
from sfumato.core.secret import Hidden
from sfumato.core.stream import RowHasher, table_hasher
from sfumato.exceptions import KeyFileError, ParameterError, SfumatoError
from sfumato.files.storage.keyring import keys_folder, new_key_path, own_folder
from sfumato.files.storage.outputs import write_atomically

_KEY = "history.key"
_FILE = "history"
_HEADER = "sfumato-history-1"
_LONGEST = 100_000


@dataclass(repr=False)
class ReleaseKey(Hidden):
    """A key and its place.

    Attributes
    ----------
    key : Key
    path : Path, optional
        Its file; None if the caller keeps it.
    new : bool
        Whether the file has still to be written.
    folder : Path
        Where receipts and the history stand.
    """

    key: Key
    path: Path | None
    new: bool
    folder: Path

    def save(self) -> None:
        """Write a new key; it is never overwritten."""
        if self.new:
            assert self.path is not None
            self.key.save(self.path)

    def forget(self) -> None:
        """Remove the file of a new key whose release came to nothing."""
        if self.new and self.path is not None:
            with contextlib.suppress(OSError):
                self.path.unlink()


def key_folder(key: Key | str | os.PathLike[str] | None) -> Path:
    """Return the folder in which the receipts and the history of a release with this key stand."""
    return Path(key).absolute().parent if isinstance(key, str | os.PathLike) else keys_folder()


def choose_key(key: Key | str | os.PathLike[str] | None, target: Path) -> ReleaseKey:
    """Return the key of a release.

    Parameters
    ----------
    key : Key, path or None
        An existing file is used; a new path gets a new key; None makes one in the user's folder of keys.
    target : Path
        The released file, after which a new key is named.
    """
    if key is None:
        path = new_key_path(target)
        return ReleaseKey(Key.generate(), path, new=True, folder=path.parent)
    if isinstance(key, Key):
        return ReleaseKey(key, None, new=False, folder=own_folder(keys_folder()))
    if not isinstance(key, str | os.PathLike):
        raise ParameterError(f"key must be a sfumato.Key, a path or None, got {type(key).__name__}")
    path = Path(key)
    if path.exists() or path.is_symlink():
        return ReleaseKey(Key.load(path), path, new=False, folder=path.absolute().parent)
    if not path.absolute().parent.is_dir():
        raise KeyFileError(f"{path}: no folder {path.absolute().parent}", hint="make the folder first")
    return ReleaseKey(Key.generate(), path, new=True, folder=path.absolute().parent)


def history_files(folder: Path) -> tuple[Path, Path]:
    """Return where the history of a folder of keys stands, and its key."""
    return folder / _FILE, folder / _KEY


class History:
    """The releases whose keys lie in one folder.

    Parameters
    ----------
    folder : Path
        The folder of the keys.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = self._own_key()

    @property
    def readable(self) -> bool:
        """Whether there is a history in the folder, or one can be begun."""
        return self._key is not None

    def hasher(self, names: tuple[str, ...]) -> RowHasher | None:
        """Return the hasher of tables in this history."""
        return None if self._key is None else table_hasher(self._key, names)

    def released_otherwise(self, table: bytes, noise: bytes) -> bool:
        """Tell whether a table was released before with other noise.

        Parameters
        ----------
        table : bytes
            Its fingerprint under the hasher of this history.
        noise : bytes
            Identity of the noise, see `release_identity`.
        """
        mine = self._line(table, noise)
        return any(line.split()[0] == mine.split()[0] and line != mine for line in self._lines())

    def add(self, table: bytes, noise: bytes) -> bool:
        """Record a release, and tell whether it is new; a history that cannot be written is left as it is."""
        if self._key is None:
            return False
        lines = self._lines()
        mine = self._line(table, noise)
        if mine in lines:
            return False
        with contextlib.suppress(OSError, SfumatoError):
            if not (self._folder / _KEY).exists():
                self._key.save(self._folder / _KEY)
            self._write([*lines[-_LONGEST:], mine])
            return True
        return False

    def forget(self, table: bytes, noise: bytes) -> None:
        """Take a release out again that came to nothing."""
        if self._key is None:
            return
        lines, mine = self._lines(), self._line(table, noise)
        if mine in lines:
            with contextlib.suppress(OSError, SfumatoError):
                self._write([line for line in lines if line != mine])

    def _write(self, lines: list[str]) -> None:
        text = "\n".join([_HEADER, *lines]) + "\n"
        write_atomically(self._folder / _FILE, lambda file: file.write(text.encode()))

    def _own_key(self) -> Key | None:
        path = self._folder / _KEY
        try:
            return Key.load(path) if path.exists() else Key.generate()
        except KeyFileError:
            return None

    def _line(self, table: bytes, noise: bytes) -> str:
        assert self._key is not None
        return f"{self._key.derive('table', table).hex()[:32]} {self._key.derive('noise', noise).hex()[:32]}"

    def _lines(self) -> list[str]:
        try:
            text = (self._folder / _FILE).read_text(encoding="ascii", errors="replace")
        except OSError:
            return []
        header, *lines = text.splitlines() or [""]
        return [line for line in lines if len(line.split()) == 2] if header == _HEADER else []
