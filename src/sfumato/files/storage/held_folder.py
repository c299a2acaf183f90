"""Folders that belong to a running process: made, held by a lock, and swept when their process is gone.

The operating system lets go of the lock with the process, however it ends. A folder stands for a moment before its
lock is held, and another process may sweep it just then; its maker notices and makes another one.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

_LOCK = "lock"
_TRIES = 100


def hold_new(path: Callable[[], Path]) -> tuple[Path, int]:
    """Make a folder that only its owner can enter, and hold it.

    Parameters
    ----------
    path : callable
        Return a new name each time.

    Returns
    -------
    tuple of Path and int
        The folder and the descriptor of its lock.
    """
    for _ in range(_TRIES):
        folder = path()
        folder.mkdir(mode=0o700)
        try:
            lock = _held(folder)
        except FileNotFoundError:  # swept before the lock stood
            continue
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if lock is not None:
            return folder, lock
    raise OSError(errno.EBUSY, "other processes keep sweeping the folder")


def let_go(folder: Path, lock: int) -> None:
    """Remove a folder with everything in it, and let go of its lock."""
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def sweep(folders: Iterable[Path]) -> int:
    """Remove those folders whose process has ended; return how many."""
    swept = 0
    for left in folders:
        if left.is_symlink() or not left.is_dir():
            continue
        with contextlib.suppress(OSError):  # another one was quicker, or it is not ours
            lock = _held(left)
            if lock is not None:
                let_go(left, lock)
                swept += 1
    return swept


def _held(folder: Path) -> int | None:
    """Return a descriptor that holds the folder's lock, or None if another process holds or removes it."""
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), (folder / _LOCK).stat()):
            return lock
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:
        os.close(lock)
        raise
    os.close(lock)
    return None
