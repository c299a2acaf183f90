"""The same kernels compiled by numba (extra `[fast]`): fewer passes over the cache, the same bits.

numba is never needed and never imported by `import sfumato`. Importing it takes half a second, so numpy does the first
few million cells of a process; a job that is longer than that goes on with the compiled kernels. Which of the two
computes a tile makes no difference to a released bit, so nobody has to know. `SFUMATO_NO_NUMBA=1` turns it off.

No kernel here may use `fastmath` or `parallel`: both change the order of additions.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from types import ModuleType

__all__ = ["available", "compiled_kernels", "load", "turned_off"]

_WORTH_IT = 1 << 23  # cells: about as much work for numpy as importing numba
_cells_seen = 0
_loaded: ModuleType | None = None


@cache
def available() -> bool:
    """Tell whether numba is installed and not turned off."""
    return os.environ.get("SFUMATO_NO_NUMBA", "") in {"", "0"} and find_spec("numba") is not None


def load() -> ModuleType | None:
    """Load the compiled kernels now, whatever the size of the job; None without numba."""
    global _loaded  # noqa: PLW0603
    if _loaded is None and available():
        from sfumato.core.fast import kernels

        _loaded = kernels
    return _loaded


def compiled_kernels(cells: int) -> ModuleType | None:
    """Return the compiled kernels if this process has enough to do for them, or None.

    Parameters
    ----------
    cells : int
        How many cells the caller is about to work on.
    """
    global _cells_seen  # noqa: PLW0603
    if _loaded is not None:
        return _loaded
    _cells_seen += cells
    return load() if _cells_seen >= _WORTH_IT else None


@contextmanager
def turned_off() -> Iterator[None]:
    """Let numpy do all the work for a while: for tests and benchmarks that compare the two."""
    global _loaded, _cells_seen
    before = _loaded, _cells_seen
    _loaded, _cells_seen = None, -(2**62)
    try:
        yield
    finally:
        _loaded, _cells_seen = before
