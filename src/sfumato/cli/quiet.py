"""Only Python writes to the terminal: what libraries below it print by themselves may quote cells.

A library that panics prints its message, which may hold what it choked on, before anybody can catch it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_ERRORS = 2  # the descriptor that libraries print their errors to


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Send what libraries print as errors nowhere, while Python's own errors go where they went.

    Nor does the interpreter print errors that nobody asked it for: `main` says what there is to say.
    """
    hooks = sys.excepthook, sys.unraisablehook
    sys.excepthook, sys.unraisablehook = _silent, _silent
    try:
        with _native_errors_nowhere():
            yield
    finally:
        sys.excepthook, sys.unraisablehook = hooks


def _silent(*_: object) -> None:
    """Say nothing of an error, in the place of a hook that prints it."""


@contextmanager
def _native_errors_nowhere() -> Iterator[None]:
    try:
        own = os.dup(_ERRORS)
        nowhere = os.open(os.devnull, os.O_WRONLY)
    except OSError:  # there is no such descriptor, and so nothing to keep quiet
        yield
        return
    before = sys.stderr
    if before is not None and _writes_there(before):
        sys.stderr = open(own, "w", encoding=before.encoding, errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    os.dup2(nowhere, _ERRORS)
    os.close(nowhere)
    try:
        yield
    finally:
        with suppress(OSError, ValueError):  # the terminal may be gone
            sys.stderr.flush()
        sys.stderr = before
        os.dup2(own, _ERRORS)
        os.close(own)


def _writes_there(stream: object) -> bool:
    try:
        return bool(stream.fileno() == _ERRORS)  # type: ignore[attr-defined]
    except (OSError, ValueError, AttributeError):
        return False
