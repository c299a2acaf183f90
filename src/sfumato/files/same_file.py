"""A file that is read several times is the same file each time, or it is refused.

A release reads its table in several passes. If the file is replaced, written to, emptied or removed between two of
them, the second table would get the noise of the first. So what the operating system knows of the file (device,
number, size, times of change) is noted when it is opened first, and compared before and after everything that is read.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from sfumato.exceptions import DataError

# file systems note times in steps of some milliseconds: two changes inside one step look like one
_STEP_NS = 20_000_000


class SameFile:
    """What a file was when it was opened first.

    Parameters
    ----------
    path : Path
        Errors begin with it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = self._now()
        fresh = time.time_ns() - self._known[-1]
        if 0 <= fresh < _STEP_NS:  # a change right now could not be told from the last one
            time.sleep(_STEP_NS / 1e9)
            self._known = self._now()

    def require(self, descriptor: int | None = None) -> None:
        """Raise if the file is not what it was.

        Parameters
        ----------
        descriptor : int, optional
            Of the opened file, which may be another one than that of the name.
        """
        if self._now() != self._known or (descriptor is not None and _marks(os.fstat(descriptor)) != self._known):
            raise DataError(f"{self._path}: has changed while it was read", hint=_HINT)

    def _now(self) -> tuple[int, ...]:
        reason = None
        try:
            return _marks(self._path.stat())
        except FileNotFoundError:
            reason = "it is gone"
        except OSError as error:
            reason = str(error.strerror)
        raise DataError(f"{self._path}: cannot be read ({reason})", hint="check the path, and who else uses the file")


_HINT = "nothing was written; try again with a copy that nobody writes to"


def _marks(status: os.stat_result) -> tuple[int, ...]:
    # the last one cannot be set by anybody but the system itself
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
