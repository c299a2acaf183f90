"""What several commands say in the same way."""

from __future__ import annotations

import shlex
import sys

from sfumato.exceptions import ParameterError

__all__ = ["cluster_numbers", "command_line"]

_MOST_CLUSTERS = 50


def cluster_numbers(text: str) -> tuple[int, ...]:
    """Return numbers of clusters as people write them.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> cluster_numbers("2-4"), cluster_numbers("3, 5")
    ((2, 3, 4), (3, 5))
    """
    found: set[int] = set()
    for part in text.split(","):
        ends = part.strip().split("-")
        if not all(end.strip().isdecimal() for end in ends) or len(ends) > 2:
            raise ParameterError(f"numbers of clusters look like 2-8 or 3,5, got {text!r}")
        low, high = int(ends[0]), int(ends[-1])
        if not 2 <= low <= high <= _MOST_CLUSTERS:
            raise ParameterError(f"numbers of clusters lie between 2 and {_MOST_CLUSTERS}, got {text!r}")
        found.update(range(low, high + 1))
    return tuple(sorted(found))


def command_line() -> str:
    """Return what was typed, for "to repeat it" in reports."""
    return shlex.join(["sfumato", *sys.argv[1:]])
