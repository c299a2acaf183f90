"""Files that get their name when they are whole: beside their place, held by a lock while they are made.

A process that was killed leaves such a file without a holder, and the next one that writes to the same folder removes
it. The operating system lets go of a lock with the process, however it ends, so no clock is asked.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from sfumato.core.system import AS_BYTES, CREATE, NOT_A_LINK, NOT_INHERITED, RENAMES_OPEN, hold, only_for_owner

_ENDING = ".sfumato-part"
_TRIES = 100
_made: set[Path] = set()  # what this process has made and not finished; a signal can come between any two steps


def begun(path: Path) -> Path:
    """Note the name of something unfinished before it is made."""
    _made.add(path)
    return path


def done_with(path: Path) -> None:
    """Forget something that has its name, or is gone."""
    _made.discard(path)


def leave_nothing() -> None:
    """Remove what is unfinished: the last thing that an interrupted process does."""
    for path in tuple(_made):
        with contextlib.suppress(OSError):  # its name may be one that the system never took
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
        _made.discard(path)


@contextlib.contextmanager
def under_way(place: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Yield a new private file beside its place, and its path; when the caller has not given it a name, it is removed.

    Parameters
    ----------
    place : Path
        Where the file will stand.
    """
    folder = place.absolute().parent
    sweep_parts(folder)
    descriptor, part = _held_part(folder, place.name)
    with os.fdopen(descriptor, "wb") as file:
        try:
            only_for_owner(descriptor)
            yield file, part
        finally:
            with contextlib.suppress(OSError):
                part.unlink()
            done_with(part)


def finish(file: BinaryIO) -> None:
    """Make sure that everything is on the disk, and that the file can be renamed."""
    file.flush()
    os.fsync(file.fileno())
    if not RENAMES_OPEN:
        file.close()


def sweep_parts(folder: Path) -> int:
    """Remove files under way whose process has ended; return how many."""
    swept = 0
    with contextlib.suppress(OSError):  # a folder that cannot be read is somebody else's trouble
        for left in folder.glob(f".*{_ENDING}"):
            if left.is_symlink() or not left.is_file():
                continue
            with contextlib.suppress(OSError):  # held, gone, or not ours
                descriptor = os.open(left, os.O_RDWR | NOT_A_LINK | NOT_INHERITED | AS_BYTES)
                try:
                    hold(descriptor, wait=False)
                    left.unlink()
                    swept += 1
                finally:
                    os.close(descriptor)
    return swept


def _held_part(folder: Path, name: str) -> tuple[int, Path]:
    for _ in range(_TRIES):
        part = begun(folder / f".{name[:100]}.{secrets.token_hex(6)}{_ENDING}")
        descriptor = os.open(part, CREATE, 0o600)
        try:
            hold(descriptor, wait=False)
            if os.path.samestat(os.fstat(descriptor), part.stat()):
                return descriptor, part
        except (BlockingIOError, FileNotFoundError):  # swept before it was held
            pass
        except BaseException:
            os.close(descriptor)
            part.unlink(missing_ok=True)
            raise
        os.close(descriptor)
    raise BlockingIOError("other processes keep sweeping the folder")
