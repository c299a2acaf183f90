"""Progress of a job that goes over the data several times, and the place where it can be stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sfumato.exceptions import ReleaseCancelledError


class Watch:
    """Count passes, tell how far the job is, and stop it when asked.

    Parameters
    ----------
    passes : int
        How many passes are expected.
    progress : callable, optional
        Called with (what is being done, share done).
    cancel : callable or object with is_set, optional
        The job stops at the next batch when it says true.
    """

    def __init__(self, passes: int, progress: Callable[[str, float], None] | None = None, cancel: Any = None) -> None:
        self.passes = passes
        self._progress = progress
        self._cancel: Callable[[], bool] = getattr(cancel, "is_set", cancel or (lambda: False))
        self.done = 0
        self._share = 0.0
        self._what = ""
        self.reach = 1.0  # share of the whole job that the passes are

    def begin(self, what: str) -> None:
        """Begin a pass."""
        self._what = what
        self.at(0.0)

    def at(self, share: float) -> None:
        """Tell how much of the pass is done, and stop if asked to."""
        done = min(0.99, (self.done + share) / max(self.passes, self.done + 1))
        self._tell(self.reach * done)

    def after(self, what: str, share: float) -> None:
        """Tell how much is done of what comes after the passes."""
        self._what = what
        self._tell(min(0.99, self.reach + (1.0 - self.reach) * share))

    def _tell(self, share: float) -> None:
        if self._cancel():
            raise ReleaseCancelledError("cancelled: nothing was written")
        self._share = max(self._share, share)
        if self._progress is not None:
            self._progress(self._what, self._share)

    def end(self) -> None:
        """End a pass."""
        self.done += 1

    def finish(self, what: str = "done") -> None:
        """Tell that all is done."""
        if self._progress is not None:
            self._progress(what, 1.0)
