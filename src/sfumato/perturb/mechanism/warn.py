"""Warnings that point at the caller's line, however deep inside the library they arise."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path

_OURS = str(Path(__file__).parents[2])
_BETWEEN = (_OURS, str(Path(inspect.getfile(warnings)).parent / "contextlib.py"))


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn with the place of the first line on the stack that is not of this package or of scikit-learn."""
    level, frame = 2, inspect.currentframe()
    frame = frame.f_back if frame else None
    while frame is not None and (
        frame.f_code.co_filename.startswith(_BETWEEN) or frame.f_globals.get("__name__", "").startswith("sklearn.")
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level - 1 if frame is None else level)
