"""Cases in child processes, each with a limit of time and memory: what hangs, aborts or eats memory is a finding."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

MEMORY = 6 << 30
_STILL = 60  # seconds without any work: waiting for what never comes
_MOST = 120.0  # seconds of a processor, for some twenty cases: work that never ends
_TICKS = os.sysconf("SC_CLK_TCK")


def in_child(work: Callable[[], Any], told: Path) -> tuple[str, Any]:
    """Run something in a forked child; return how it ended ("done", "wrong", "hung", "killed by N") and what it said.

    Parameters
    ----------
    told : Path
        A file for the answer.
    """
    told.unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        _child(work, told)
    status = ended(pid)
    if status is None:
        return "hung", None
    if os.WIFSIGNALED(status):
        return f"killed by {os.WTERMSIG(status)}", None
    answer = json.loads(told.read_text()) if told.exists() else {"error": "no answer"}
    return ("wrong", answer["error"]) if "error" in answer else ("done", answer["result"])


def ended(pid: int) -> int | None:
    """Return the status with which a child ended; None if it hung, and was killed.

    A busy machine makes everything slow, so no time is taken: a child hangs if it has not worked at all for a minute,
    or has worked for two.
    """
    worked, since = 0.0, time.monotonic()
    while True:
        gone, status = os.waitpid(pid, os.WNOHANG)
        if gone:
            return status
        now = _worked(pid)
        if now != worked:
            worked, since = now, time.monotonic()
        if time.monotonic() - since > _STILL or worked > _MOST:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return None
        time.sleep(0.01)


def _worked(pid: int) -> float:
    """Return the seconds of a processor that a process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _child(work: Callable[[], Any], told: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    try:
        answer: dict[str, Any] = {"result": work()}
    except BaseException as error:  # noqa: BLE001  # the finding itself
        frames = traceback.extract_tb(error.__traceback__)
        inside = [frame for frame in frames if "sfumato" in frame.filename]
        place = (inside or frames)[-1]
        answer = {"error": f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {str(error)[:300]}"}
    told.write_text(json.dumps(answer))
    sys.stdout.flush()
    os._exit(0)
