"""Files that stand whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from sfumato.exceptions import DataError
from sfumato.files.storage.outputs import problem_with
from sfumato.files.storage.written import note_written


def write_atomically(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> None:
    """Write a file beside its place under a name of its own, then rename it there.

    Parameters
    ----------
    path : path
        An existing regular file is replaced; a key, a device, a folder or a symbolic link is refused.
    write : callable
        Writes the content to the open binary file.
    """
    target = Path(path)
    problem = problem_with(target, force=True)
    if problem is not None:
        raise DataError(problem[0], hint=problem[1])
    descriptor, part = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        Path(part).replace(target)
        note_written(target)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
