"""What several commands say in the same way."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from sfumato.exceptions import DataError

__all__ = ["command_line", "writable"]


def command_line() -> str:
    """Return what was typed, for "to repeat it" in reports."""
    return shlex.join(["sfumato", *sys.argv[1:]])


def writable(path: Path | None) -> None:
    """Raise before any work is done if a file cannot be written where it was asked for.

    Parameters
    ----------
    path : Path or None
    """
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise DataError(f"{path}: cannot be written there", hint="name a file in a folder that exists")
