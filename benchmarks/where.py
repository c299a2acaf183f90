"""Where the time of a job goes that many threads share: what the main thread does alone, and how busy the others are.

A thread looks every few milliseconds at where the main thread stands. While it waits for others, the work is shared;
the rest is what no further thread can shorten.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

_EVERY = 0.003  # seconds between two looks
_WAITS = ("threading.py", "_base.py", "thread.py")  # where a thread stands that waits for a pool
_OUR_WAITS = {("sharing.py", "result"), ("sharing.py", "join")}
_MOST = 8


@dataclass
class Where:
    """What was seen of a job.

    Attributes
    ----------
    seconds, busy, system, main : float
        By the clock on the wall; of all processors, that part of them which the operating system took, and that of the
        main thread, which other work on the machine does not change.
    alone, shared : Counter
        Seconds of the main thread by place: with work of its own, and while it waited for others.
    """

    seconds: float = 0.0
    busy: float = 0.0
    system: float = 0.0
    main: float = 0.0
    alone: Counter[str] = field(default_factory=Counter)
    shared: Counter[str] = field(default_factory=Counter)

    def lines(self, name: str, threads: int) -> list[str]:
        """Say it, the largest parts first."""
        alone = sum(self.alone.values())
        busy = f"{self.busy / self.seconds:.1f} processors busy ({self.system:.2f} s in the system)"
        main = f"{alone:.2f} s alone ({self.main:.2f} s of processor)"
        out = [f"{name}, {threads} threads: {self.seconds:.2f} s, {busy}, {main}"]
        for title, parts in (("alone", self.alone), ("shared", self.shared)):
            out += [f"    {title} {seconds:6.2f} s  {place}" for place, seconds in parts.most_common(_MOST)]
        return out


def watched(job: Callable[[], object]) -> Where:
    """Run a job on this thread, and return where it spent its time."""
    found, over = Where(), threading.Event()
    main = threading.get_ident()

    def look() -> None:
        before = time.perf_counter()
        while not over.wait(_EVERY):
            now = time.perf_counter()
            frame = sys._current_frames().get(main)  # noqa: SLF001
            place, waits = _place(frame)
            (found.shared if waits else found.alone)[place] += now - before
            before = now

    looker = threading.Thread(target=look, daemon=True)
    start, used, own = time.perf_counter(), os.times(), time.thread_time()
    looker.start()
    try:
        job()
    finally:
        found.seconds = time.perf_counter() - start
        now = os.times()
        found.main = time.thread_time() - own
        found.system = now.system - used.system
        found.busy = now.user - used.user + found.system
        over.set()
        looker.join()
    return found


def _place(frame: FrameType | None) -> tuple[str, bool]:
    """Return the innermost function of ours and who called it from another file, and whether the thread waits."""
    waits = False
    if frame is not None:
        file = Path(frame.f_code.co_filename).name
        waits = file in _WAITS or (file, frame.f_code.co_name) in _OUR_WAITS
    ours: list[str] = []
    while frame is not None and len(ours) < 3:
        path = frame.f_code.co_filename.replace(os.sep, "/")
        if "/sfumato/" in path:
            place = f"{path.rpartition('/sfumato/')[2].removesuffix('.py')}:{frame.f_code.co_name}"
            if place not in ours:
                ours.append(place)
        frame = frame.f_back
    return " < ".join(ours) or "outside", waits
