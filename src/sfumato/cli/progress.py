"""Progress on stderr for anything over a second: a bar with the time left on a terminal, otherwise a line per tenth."""

from __future__ import annotations

import atexit
import sys
import time
from types import TracebackType
from typing import Any, Self

import click

_PATIENCE = 1.0  # seconds


class Progress:
    """Tell how far a long job is.

    Call it with (what is being done, share done); it stays silent for jobs that end within a second.
    As a context manager it takes its bar off the terminal whatever happens.
    """

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._told = -1
        self._begin = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __call__(self, step: str, share: float) -> None:
        waited = time.monotonic() - self._begin
        if waited < _PATIENCE and self._told < 0:
            return
        tenth = int(10 * share)
        if self._terminal:
            self._show(step, share)
        elif tenth > self._told:
            left = f", about {_clock(waited * (1 - share) / share)} left" if 0.0 < share < 1.0 else ""
            click.echo(f"{share:4.0%} {step}{left}", err=True)
        self._told = max(self._told, tenth)
        if share >= 1.0:
            self.close()

    def close(self) -> None:
        """Take the bar off the terminal."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _show(self, step: str, share: float) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(step, total=1.0)
            self._bar.start()
            atexit.register(self.close)
        self._bar.update(self._task, description=step, completed=share)


def _clock(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole} s" if whole < 90 else f"{round(whole / 60)} min"
