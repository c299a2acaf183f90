"""How a command ends: one line, a hint, and an exit code, for every error that there is.

Messages of unknown errors may quote a cell or a secret: only their kind and place are shown.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from pathlib import Path
from typing import IO, Any

import click

from sfumato.cli.exit_codes import Exit
from sfumato.cli.words import as_typed
from sfumato.exceptions import PolicyLimitError, ReleaseCancelledError, RepeatedReleaseError, SfumatoError
from sfumato.files.storage.outputs import written_files

_SCARCE = {errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN}
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_THREADS = (
    "can't start new thread",
    "cannot allocate",
    "can't allocate",
    "out of memory",
    "memory allocation",
    "malloc",
)
_NO_OBJECT = ("memoryerror", "pyobject pointer is null", "python api call failed")  # Rust that panics for want of one
_NOTHING_TO_RAISE = ("without setting an exception", "without exception set")
_ROOM_MB, _ROOM_EACH_MB = 2560, 256  # what was enough on a machine of two processors: docs/reliability.md
_MORE_MEMORY = "\nhint: raise the limit (ulimit -v, ulimit -u, ulimit -n), or close other programs"


class TooLittleRoomError(click.ClickException):
    """The libraries would wait for ever, or abort, when they cannot get the memory they ask for."""

    exit_code = Exit.SCARCE

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"sfumato: error: {self.message}", err=True, file=file)


def require_room(limit: int | None) -> None:
    """Raise if the address space is too small for the libraries to start in: they reserve far more than they use.

    Parameters
    ----------
    limit : int, optional
        Bytes of address space; None if there is no limit.
    """
    needed = (_ROOM_MB + _ROOM_EACH_MB * (os.cpu_count() or 1)) << 20
    if limit is not None and limit < needed:
        raise TooLittleRoomError(
            f"this process may address {limit >> 20:,} MB, and sfumato needs {needed >> 20:,} MB on this machine\n"
            f"hint: ulimit -v {needed >> 10}, or ulimit -v unlimited; to limit memory that is really used, use a cgroup"
        )


def outcome_of(error: BaseException) -> tuple[str, Exit]:
    r"""Return what is said of an error, and the exit code.

    Examples
    --------
    >>> outcome_of(OSError(28, "No space left on device", "out.csv"))[0]
    'sfumato: error: out.csv: No space left on device\nhint: free some space, or choose a place on another disk'
    >>> [outcome_of(error)[1].value for error in (MemoryError(), KeyboardInterrupt(), ZeroDivisionError())]
    [71, 130, 70]
    """
    if isinstance(error, click.Abort | KeyboardInterrupt | ReleaseCancelledError):
        return "sfumato: interrupted, nothing was left half-written", Exit.INTERRUPTED
    if isinstance(error, PolicyLimitError | RepeatedReleaseError):
        return as_typed(f"sfumato: {error}"), Exit.LIMIT
    if isinstance(error, SfumatoError):
        return as_typed(f"sfumato: error: {error}"), Exit.DATA
    if _is_scarcity(error):
        return f"sfumato: error: not enough memory, threads or open files ({_done()}){_MORE_MEMORY}", Exit.SCARCE
    if isinstance(error, OSError):
        return _of_system(error), Exit.DATA
    if _is_lost(error):
        said = f"sfumato: error: not enough memory, it seems: Python has lost an error ({_done()}){_MORE_MEMORY}"
        return f"{said}; if memory is not short, please report {type(error).__name__} at {_place(error)}", Exit.SCARCE
    return f"sfumato: bug: {type(error).__name__} at {_place(error)}; please report it ({_done()})", Exit.BUG


def _is_scarcity(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _SCARCE):
        return True
    if not isinstance(error, Exception) and isinstance(getattr(sys, "last_value", None), MemoryError):
        return True  # a library that calls Python, got this for an answer, and panicked
    # threads, and libraries that have no error of their own for it; their words are looked at, never shown
    said = "" if isinstance(error, OSError) else str(error).lower()
    before = error.__cause__ or error.__context__  # what somebody made another error of
    return any(words in said for words in (*_NO_THREADS, *_NO_OBJECT)) or (before is not None and _is_scarcity(before))


def _is_lost(error: BaseException) -> bool:
    """Tell whether the interpreter puts another error in the place of one that it had no memory for.

    So it does where an allocation fails inside of it: it has nothing to raise, or takes the failure for an answer, and
    says that a path is not one of the very kinds that it names, or that a module has a wrong syntax.
    """
    if isinstance(error, SyntaxError):
        return True
    said = str(error)
    if isinstance(error, SystemError):
        return any(words in said for words in _NOTHING_TO_RAISE)
    own = f", not {type(Path()).__name__}"
    return isinstance(error, TypeError) and "os.PathLike" in said and said.endswith(own)


def _of_system(error: OSError) -> str:
    reason = error.strerror or (os.strerror(error.errno) if error.errno else type(error).__name__)
    named = error.filename if isinstance(error.filename, str) else None
    where = f"{named}: " if named else ""
    hint = "free some space, or choose a place on another disk" if error.errno in _FULL else "check it, and try again"
    return f"sfumato: error: {where}{reason}\nhint: {hint}"


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else "an unknown place"  # noqa: PTH119


def _done() -> str:
    written = ", ".join(str(path) for path in written_files())
    return f"complete before that: {written}" if written else "nothing was written"
