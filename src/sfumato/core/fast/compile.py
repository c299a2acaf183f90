"""How every kernel is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile a kernel: without the interpreter's lock, floats as IEEE 754 has them, kept on disk where possible."""
    compiler: Any = numba.njit
    options = {"nogil": True, "fastmath": False, "error_model": "numpy"}
    try:
        out: F = compiler(cache=True, **options)(function)
    except RuntimeError:  # no folder to write to: compiled anew in each process
        out = compiler(**options)(function)
    return out
