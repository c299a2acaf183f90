"""Time budgets as people write them: searches count candidates now, and a time is an older way to end them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from math import isfinite

from sfumato.exceptions import ParameterError, SfumatoWarning

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def parse_seconds(budget: str | float) -> float:
    """Return a time budget in seconds.

    Parameters
    ----------
    budget : str or float
        "90s", "5m", "1h", or seconds.

    Examples
    --------
    >>> parse_seconds("5m"), parse_seconds(90), parse_seconds("1.5 h")
    (300.0, 90.0, 5400.0)
    """
    if isinstance(budget, int | float) and not isinstance(budget, bool):
        seconds = float(budget)
    else:
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|m|min|h)?\s*", str(budget))
        seconds = float(found[1]) * _UNITS[found[2] or ""] if found else 0.0
    if not (isfinite(seconds) and seconds > 0.0):
        raise ParameterError(f"a time budget must be above 0 and look like 60s, 5m or 1h, got {budget!r}")
    return seconds


def time_left(budget: str | float | None, clock: Callable[[], float]) -> Callable[[], float]:
    """Return a function that tells which share of a time budget is left; None is never used up.

    Parameters
    ----------
    budget : str, float or None
        See `parse_seconds`; anything but None warns, because the result depends on the machine then.
    clock : callable
        Returns seconds.
    """
    if budget is None:
        return lambda: 1.0
    seconds = parse_seconds(budget)
    text = "budget is a time, so the result depends on the machine: leave it out to count work instead"
    warnings.warn(text, SfumatoWarning, stacklevel=3)
    started = clock()
    return lambda: 1.0 - (clock() - started) / seconds
