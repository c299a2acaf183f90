"""When to give up waiting for a studio: when it has had nothing to do for two minutes, however busy the machine is.

A limit in seconds would be a bet on the load of the machine. A studio that still computes is waited for; one that is
quiet, and whose page still lacks what a test waits for, will never bring it. The hard limit is for one that computes
for ever.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HARD_LIMIT = 900  # seconds
_LOOK = 5.0  # seconds between two looks
_LOOKS = 24
_AT_WORK = 0.03  # seconds of processor time between two looks
_TICKS = os.sysconf("SC_CLK_TCK")


class QuietStudio:
    """Counts how often in a row a studio was found to have done nothing.

    Parameters
    ----------
    process : int
        Its number.
    """

    def __init__(self, process: int) -> None:
        self._process = process
        self._spent = _processor_time(process)
        self._idle = 0

    def look(self) -> bool:
        """Look at the studio once more; return whether it has been quiet for long."""
        spent = _processor_time(self._process)
        self._idle = self._idle + 1 if spent - self._spent < _AT_WORK else 0
        self._spent = spent
        return self._idle >= _LOOKS


def _processor_time(process: int) -> float:
    """Return the processor time that a process and its children have spent; one that has ended spends no more."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS + sum(_processor_time(int(child)) for child in children)


@contextmanager
def closed_when_quiet(context: Any, process: int) -> Iterator[None]:
    """Close a browser's context when a studio has been quiet for long: whatever waits on it fails, and says why.

    Parameters
    ----------
    context : BrowserContext
        Its events are handled while something waits on it, and only then the studio is looked at.
    """
    studio, own, loop = QuietStudio(process), context._impl_obj, context._loop
    why = f"the studio has had nothing to do for {_LOOK * _LOOKS:.0f} seconds"
    closing: list[Any] = []

    def look() -> None:
        if studio.look():
            closing.append(loop.create_task(own.close(reason=why)))
        else:
            waiting[0] = loop.call_later(_LOOK, look)

    waiting = [loop.call_later(_LOOK, look)]
    try:
        yield
    finally:
        waiting[0].cancel()


@contextmanager
def ended_when_quiet(process: Any) -> Iterator[None]:
    """Kill a studio that has been quiet for long while it was asked for something: the request fails then.

    Parameters
    ----------
    process : Popen
    """
    answered = threading.Event()

    def watch() -> None:
        studio = QuietStudio(process.pid)
        while not answered.wait(_LOOK):
            if studio.look():
                process.kill()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        answered.set()
        watcher.join()
