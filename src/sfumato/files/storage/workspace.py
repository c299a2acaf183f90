"""A folder of one's own beside the target: whatever happens, the target stands whole or not at all.

Everything unfinished lives in a hidden folder that only its owner can enter, held by a lock while the release runs; a
run that was killed leaves a folder without a holder, and the next release to the same target sweeps it.

The operating system lets go of the lock with the process, however it ends. A folder stands for a moment before its
lock is held, and another process may sweep it just then; its maker notices and makes another one.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import polars as pl

from sfumato.core.parts import begun, done_with
from sfumato.core.system import AS_BYTES, CREATE, NOT_A_LINK, NOT_INHERITED, hold
from sfumato.exceptions import DataError, SfumatoError
from sfumato.files.storage.outputs import note_written, problem_with

_LOCK = "lock"
_TRIES = 100
_WAIT = 0.01
_ENDING = ".sfumato-part"


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
        folder = begun(path())
        try:
            folder.mkdir(mode=0o700)
            lock = _held(folder)
        except FileNotFoundError:  # swept before the lock stood
            if not folder.parent.is_dir():
                raise
            continue
        except FileExistsError:
            raise
        except BaseException:  # an interruption, too
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if lock is not None:
            return folder, lock
    raise OSError(errno.EBUSY, "other processes keep sweeping the folder")


def let_go(folder: Path, lock: int) -> None:
    """Remove a folder with everything in it, and let go of its lock.

    The lock goes last, and what stands in the folder after it belongs to another process: from that moment on it can
    make a lock of its own there. So nothing is removed twice.
    """
    try:
        for _ in range(2):  # removing can fail, too, for a moment
            for part in _parts(folder):
                with contextlib.suppress(OSError):
                    _remove(part)
        with contextlib.suppress(OSError):
            (folder / _LOCK).unlink()
    finally:  # a signal may come between any two steps
        with contextlib.suppress(OSError):  # another process was quicker and holds it now, or something has stayed
            folder.rmdir()
            done_with(folder)
        os.close(lock)


def _parts(folder: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return [part for part in folder.iterdir() if part.name != _LOCK]
    return []


def _remove(part: Path) -> None:
    if part.is_dir() and not part.is_symlink():
        shutil.rmtree(part, ignore_errors=True)
    else:
        part.unlink(missing_ok=True)


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
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | NOT_A_LINK | NOT_INHERITED | AS_BYTES, 0o600)
    try:
        hold(lock, wait=False)
        if os.path.samestat(os.fstat(lock), (folder / _LOCK).stat()):
            return lock
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:  # an interruption, too
        os.close(lock)
        raise
    os.close(lock)
    return None


def check_target(target: Path, *, force: bool, folder: bool = False) -> None:
    """Raise unless a file can be written at a place.

    Parameters
    ----------
    force : bool
        Whether an existing file may be replaced.
    folder : bool
        Whether the target may be a folder of Parquet files.
    """
    problem = problem_with(target, force=force, folder=folder)
    if problem is not None:
        raise DataError(problem[0], hint=problem[1])


def disk_error(error: OSError, path: Path) -> DataError:
    """Return an error of the operating system in the words of this package."""
    number = error.errno or _number_in(str(error))
    reason = error.strerror or (os.strerror(number) if number else type(error).__name__)
    full = number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    hint = "free some space, or choose a place on another disk" if full else "check the folder and its permissions"
    return DataError(f"{path}: cannot be written ({reason})", hint=hint)


def _number_in(message: str) -> int:
    """Return the number of an operating system's error that a library has put into words; 0 if there is none."""
    found = re.search(r"os error (\d+)", message)
    return int(found[1]) if found else 0


@contextlib.contextmanager
def guarded_writes(target: Path) -> Iterator[None]:
    """Turn a full disk and other troubles of writing into one clear error.

    Parameters
    ----------
    target : Path
        The file that is being made.
    """
    problem: DataError | None = None
    try:
        yield
    except SfumatoError:  # some are errors of files too, and say better what is wrong
        raise
    except OSError as error:
        problem = disk_error(error, target)
    except pl.exceptions.PolarsError as error:
        # without the writer's own words: they may quote cells
        number = _number_in(str(error))
        problem = disk_error(OSError(number, os.strerror(number) if number else type(error).__name__), target)
    if problem is not None:
        raise problem


def open_private(path: Path) -> BinaryIO:
    """Open a new temporary file that only its owner can read, for writing."""
    return os.fdopen(os.open(path, CREATE, 0o600), "wb")


def file_digest(path: Path, subkey: bytes) -> str:
    """Return the keyed hash of a file, or of the Parquet files of a folder in name order, hexadecimal."""
    digest = hashlib.blake2b(key=subkey, digest_size=32)
    for one in sorted(path.glob("*.parquet")) if path.is_dir() else [path]:
        with one.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


class Workspace:
    """The hidden folder in which one target is made; a context manager that always cleans up.

    Attributes
    ----------
    part : Path
        Where the target is written before it is renamed.
    folder : Path
        Room for other temporary files.
    """

    def __init__(self, target: Path) -> None:
        self.target = target.absolute()
        self.folder = self._new_folder()
        self._lock = -1
        self._made: os.stat_result | None = None

    @property
    def part(self) -> Path:
        return self.folder / "part"

    @property
    def committed(self) -> bool:
        """Whether the target is in its place: looked up, because a signal may come right after it was put there."""
        with contextlib.suppress(OSError):
            return self._made is not None and os.path.samestat(self._made, self.target.stat())
        return False

    def __enter__(self) -> Self:
        sweep(self.target.parent.glob(f".{_escaped(self.target.name)}.*{_ENDING}"))
        try:
            self.folder, self._lock = hold_new(self._new_folder)
        except OSError as error:
            raise disk_error(error, self.target) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        let_go(self.folder, self._lock)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Let one process at a time put something at the target: what it finds there stays until it is done."""
        folder = self.target.parent / f".{self.target.name}.commit{_ENDING}"
        lock = None
        try:
            while lock is None:
                try:
                    folder.mkdir(mode=0o700, exist_ok=True)
                    lock = _held(folder)
                except FileNotFoundError:  # the one before has just ended
                    continue
                if lock is None:
                    time.sleep(_WAIT)
        except OSError as error:
            sweep([folder])  # stays if another one holds it
            raise disk_error(error, self.target) from None
        except BaseException:  # an interruption, too
            sweep([folder])
            raise
        try:
            yield
        finally:
            let_go(folder, lock)

    def commit_originals(self, *, force: bool) -> None:
        """Put a finished part with original values in its place, for its owner's eyes only, whatever the umask says.

        Parameters
        ----------
        force : bool
            Whether an existing file is replaced.
        """
        with self.alone():
            check_target(self.target, force=force)
            self.part.chmod(0o600)
            self.commit()

    def commit(self) -> None:
        """Put the finished part in its place."""
        try:
            descriptor = os.open(self.part, os.O_RDONLY | NOT_INHERITED)
            try:
                os.fsync(descriptor)
                self._made = os.fstat(descriptor)
            finally:
                os.close(descriptor)
            if self.part.is_dir() or self.target.is_dir():  # a folder cannot be replaced in one step: out of the way
                with contextlib.suppress(FileNotFoundError):
                    self.target.replace(self.folder / "replaced")
            self.part.replace(self.target)
            note_written(self.target)
            _sync_folder(self.target.parent)
        except OSError as error:
            raise disk_error(error, self.target) from None

    def _new_folder(self) -> Path:
        return self.target.parent / f".{self.target.name}.{secrets.token_hex(6)}{_ENDING}"


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "[]*?" else letter for letter in name)


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # not every file system knows it
        descriptor = os.open(folder, os.O_RDONLY | NOT_INHERITED)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
