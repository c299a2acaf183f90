"""The studio's own folder: only its user can read it, and nothing in it outlives the studio.

A studio that was killed cannot sweep. So each folder holds a lock that the operating system lets go of with the
process, and the next studio removes every folder whose lock is free.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from pathlib import Path

from sfumato.exceptions import DataError

__all__ = ["Folder", "private_home"]

_LOCK = "lock"


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
            sweep(home)
            self.path = home / secrets.token_hex(8)
            self.path.mkdir(mode=0o700)
            self._lock = _locked(self.path)
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
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def sweep(home: Path) -> int:
    """Remove the folders of studios that have ended; return how many.

    Parameters
    ----------
    home : Path
    """
    swept = 0
    for left in home.iterdir():
        if left.is_symlink() or not left.is_dir():
            continue
        lock = _locked(left)
        if lock is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)
            swept += 1
    return swept


def _locked(path: Path) -> int | None:
    """Return a descriptor that holds the folder's lock, or None while another process holds it."""
    descriptor = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
