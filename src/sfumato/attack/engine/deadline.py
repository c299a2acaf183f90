"""The time an attack may take: a clock that attacks look at between chunks of work."""

from __future__ import annotations

import time


class OutOfTimeError(Exception):
    """The time budget of an attack is used up; the referee turns it into a status."""


class Deadline:
    """A point in time after which `check` raises.

    Parameters
    ----------
    seconds : float
        Budget from now on.

    Examples
    --------
    >>> Deadline(60).expired
    False
    >>> Deadline(0).expired
    True
    """

    clock = staticmethod(time.monotonic)

    def __init__(self, seconds: float) -> None:
        self._end = self.clock() + seconds

    @property
    def expired(self) -> bool:
        """Whether the budget is used up."""
        return self.clock() >= self._end

    @property
    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._end - self.clock())

    def check(self) -> None:
        """Raise `OutOfTimeError` when the budget is used up."""
        if self.expired:
            raise OutOfTimeError
