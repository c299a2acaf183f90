"""What operating systems do in their own ways: locks, private modes, flags of opened files, signals that end a process.

And how many processors and how much memory a process may use. Linux and macOS know all of it. Where something is
missing (Windows has no `fcntl`, no modes for others and no `SIGHUP`) the nearest thing is done, and the rest is left
out; nothing here fails to import.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from sfumato.exceptions import KeyFileError

try:
    import fcntl as _fcntl
except ImportError:  # Windows
    _fcntl = None  # type: ignore[assignment]
try:
    import resource as _resource
except ImportError:
    _resource = None  # type: ignore[assignment]

_CGROUP = Path("/sys/fs/cgroup")
_USUAL = 8 << 30  # bytes of memory of a machine that does not say how many it has
_posix: ModuleType | None = _fcntl

NOT_A_LINK = getattr(os, "O_NOFOLLOW", 0)
NOT_INHERITED = getattr(os, "O_CLOEXEC", 0)
NOT_WAITING = getattr(os, "O_NONBLOCK", 0)
AS_BYTES = getattr(os, "O_BINARY", 0)
RENAMES_OPEN = os.name == "posix"  # elsewhere a file must be closed first
READ = os.O_RDONLY | NOT_A_LINK | NOT_INHERITED | AS_BYTES
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOT_A_LINK | NOT_INHERITED | AS_BYTES


def hold(descriptor: int, *, wait: bool) -> None:
    """Lock an open file until it is closed; raise BlockingIOError if another process holds it and nobody waits.

    Parameters
    ----------
    descriptor : int
        Of the open file.
    wait : bool
        Whether to wait for its turn.
    """
    if _posix is not None:
        _posix.flock(descriptor, _posix.LOCK_EX | (0 if wait else _posix.LOCK_NB))
        return
    with contextlib.suppress(ImportError):
        import msvcrt

        ways: Any = msvcrt
        try:
            ways.locking(descriptor, ways.LK_LOCK if wait else ways.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError(error.errno, "another process holds the lock") from None


def read_regular(path: Path, most: int | None = None) -> bytes:
    """Return the bytes of an ordinary file, or its first ones; raise OSError for everything else.

    A named pipe would wait for a writer for ever, and a device may have no end.

    Parameters
    ----------
    most : int, optional
        How many bytes at most.
    """
    descriptor = os.open(path, os.O_RDONLY | NOT_INHERITED | AS_BYTES | NOT_WAITING)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return file.read() if most is None else file.read(most)


def open_lock(folder: Path, name: str) -> int:
    """Return a descriptor that stands for a folder, to be held: of the folder itself where that can be opened."""
    if _posix is not None:
        return os.open(folder, os.O_RDONLY | NOT_INHERITED)
    return os.open(folder / name, os.O_RDWR | os.O_CREAT | AS_BYTES, 0o600)


def only_for_owner(descriptor: int) -> None:
    """Give an open file the mode 0600, whatever the umask has made of it; nothing where modes mean nothing."""
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, 0o600)


def open_to_others(status: os.stat_result) -> bool:
    """Tell whether other users may read or change a file; never where modes do not say so."""
    return os.name == "posix" and bool(status.st_mode & 0o077)


def of_somebody_else(status: os.stat_result) -> bool:
    """Tell whether a file belongs to another user; never where users have no numbers."""
    return hasattr(os, "getuid") and status.st_uid != os.getuid()


def put_new(part: Path, place: Path) -> None:
    """Give a finished file its name in one step; raise FileExistsError if something stands there already."""
    try:
        os.link(part, place)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(place):
            raise FileExistsError(str(place)) from None
        part.replace(place)
        return
    part.unlink()


def ending_signals() -> list[signal.Signals]:
    """Return the signals that ask a process to end; those that the caller has switched off (nohup) stay so."""
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
    known = [getattr(signal, name) for name in names if hasattr(signal, name)]
    return [number for number in known if signal.getsignal(number) is not signal.SIG_IGN]


def on_ending(handler: Callable[[int, Any], Any]) -> None:
    """Call a function when the process is asked to end."""
    for number in ending_signals():
        signal.signal(number, handler)


def address_space() -> int | None:
    """Return the number of bytes of address space that this process may use; None without a limit."""
    if _resource is None or not hasattr(_resource, "RLIMIT_AS"):
        return None
    soft: int = _resource.getrlimit(_resource.RLIMIT_AS)[0]
    return None if soft == _resource.RLIM_INFINITY else soft


def require_own(folder: Path, status: os.stat_result) -> None:
    """Raise unless a folder can be entered by its owner only."""
    if not stat.S_ISDIR(status.st_mode) or open_to_others(status) or of_somebody_else(status):
        raise KeyFileError(f"{folder}: other users may enter the folder of keys", hint=f"chmod 700 {folder}")


def processors() -> int:
    """Return how many processors this process may use: those it is bound to, and what its cgroup grants it.

    Examples
    --------
    >>> 1 <= processors() <= os.cpu_count()
    True
    """
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(bound, granted(_CGROUP, _own_group())))


def memory() -> int:
    """Return how many bytes of memory this process may use: those of the machine, and what its cgroup grants it.

    Examples
    --------
    >>> memory() > 1 << 20
    True
    """
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # a system that does not say it this way
        whole = _USUAL
    place = _CGROUP / _own_group().strip("/")
    for folder in (place, *place.parents):
        with contextlib.suppress(OSError, ValueError):  # no such group, or no limit
            whole = min(whole, int((folder / "memory.max").read_text(encoding="ascii")))
        if folder == _CGROUP:
            break
    return whole


def _own_group() -> str:
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.removeprefix("0::") for line in lines if line.startswith("0::")), "")


def granted(root: Path, group: str) -> int:
    """Return how many processors a control group (version 2) and those above it grant; many where they set no limit.

    Parameters
    ----------
    root : Path
        Where the groups are mounted.
    group : str
        The process's group, as /proc/self/cgroup names it.

    Examples
    --------
    >>> granted(Path("/nowhere"), "/a/b") > 1000
    True
    """
    least = 1 << 20
    place = root / group.strip("/")
    for folder in (place, *place.parents):
        try:
            quota, period = (folder / "cpu.max").read_text(encoding="ascii").split()
            if quota != "max" and int(period) > 0:
                least = min(least, -(-int(quota) // int(period)))
        except (OSError, ValueError):
            pass  # no such group, or no limit that can be read
        if folder == root:
            break
    return least
