"""Which tables were released before: a second release with other noise can be averaged with the first.

The history stands beside the key. It holds keyed hashes only, under a key of its own, because two releases
usually have two keys: nobody can test a guess about a table with it.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from sfumato.core.fingerprint import RowHasher, table_hasher
from sfumato.core.keys import Key
from sfumato.exceptions import KeyFileError, SfumatoError
from sfumato.files.storage.atomic import write_atomically

_KEY = "history.key"
_FILE = "history"
_HEADER = "sfumato-history-1"
_LONGEST = 100_000


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
