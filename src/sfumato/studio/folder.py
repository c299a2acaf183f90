"""The studio's own folder: only its user can read it, and nothing in it outlives the studio.

A studio that was killed cannot sweep. So each folder is held by its process, and the next studio removes every
folder that nobody holds.
"""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

from sfumato.exceptions import DataError
from sfumato.files.storage.workspace import hold_new, let_go, sweep


def private_home() -> Path:
    """Return the folder that holds the studios' folders: in the user's own data directory, never a shared place."""
    base = os.environ.get("XDG_DATA_HOME", "")
    home = Path(base) if base and Path(base).is_absolute() else Path.home() / ".local" / "share"
    return home / "sfumato" / "studio"


class Folder:
    """A new folder with mode 0700, locked while the studio lives.

    Parameters
    ----------
    home : Path
        Where such folders stand; made with mode 0700 if missing.
    """

    def __init__(self, home: Path) -> None:
        try:
            home.mkdir(parents=True, exist_ok=True, mode=0o700)
            home.chmod(0o700)
            sweep(home.iterdir())
            self.path, self._lock = hold_new(lambda: home / secrets.token_hex(8))
        except OSError as error:
            raise DataError(
                f"{home}: cannot be used for the studio's files ({error.strerror})",
                hint="set XDG_DATA_HOME to a folder of your own",
            ) from None

    def new_file(self, suffix: str) -> Path:
        """Return the path of a file that does not exist yet; its name says nothing about the user's file."""
        return self.path / f"{secrets.token_hex(8)}{suffix}"

    def free_bytes(self) -> int:
        """Return how much more the disk takes."""
        return shutil.disk_usage(self.path).free

    def close(self) -> None:
        """Remove the folder and everything in it."""
        if self._lock >= 0:
            let_go(self.path, self._lock)
            self._lock = -1
