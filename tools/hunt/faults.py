"""Every system call of a release that changes a file fails once, and is the last one once (kill -9), in turn.

`strace` injects both. A process that has loaded the libraries forks a child for each case, which waits until it is
traced and then releases a small table; afterwards the folder is looked at, and released to again.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.hunt.children import ended, in_child

CALLS = (
    "openat", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "rename", "renameat2", "link", "linkat", "unlink",
    "unlinkat", "mkdir", "rmdir", "chmod", "fchmod", "flock",
)  # fmt: skip
DEATHS = (-9, -6, -11)  # killed, and what a library ends with that gets no memory
ERRORS = ("ENOSPC", "EIO", "EACCES")


def has_strace() -> bool:
    """Tell whether faults can be injected here."""
    return shutil.which("strace") is not None


def calls_of(kind: str) -> Counter[str]:
    """Return how many calls of each kind the main thread of a release makes."""
    with tempfile.TemporaryDirectory() as name:
        folder = prepared(Path(name))
        log = folder.parent / "log"
        pid, _ = _traced(folder, kind, ["-f", "-e", f"trace={','.join(CALLS)}", "-o", str(log)])
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.startswith(f"{pid} ")]
        found = (re.match(r"\d+ +(\w+)\(", line) for line in lines)
        return Counter(match[1] for match in found if match)


def cases(kind: str) -> Iterator[tuple[str, str, int, str]]:
    """Yield (kind of file, call, number, what happens to it), all errors and kills mixed."""
    counts = calls_of(kind)
    for number in range(1, max(counts.values()) + 1):
        for call, many in sorted(counts.items()):
            if number <= many:
                yield kind, call, number, "KILL"
                yield kind, call, number, ERRORS[number % len(ERRORS)]


def run_case(kind: str, call: str, number: int, what: str) -> tuple[str, list[str]]:
    """Let one call of a release fail or kill it; return how the release ended, and what is wrong afterwards."""
    inject = f"{call}:signal=KILL:when={number}" if what == "KILL" else f"{call}:error={what}:when={number}"
    with tempfile.TemporaryDirectory() as name:
        folder = prepared(Path(name))
        _, code = _traced(folder, kind, ["-e", f"trace={call}", "-e", f"inject={inject}", "-o", "/dev/null"])
        ended, faults = checked(folder, code, looked_at(folder, kind, done=code == 0))
        _, again = _traced(folder, kind, None, force=True)
        return ended, faults + left_behind(folder, again)


def checked(folder: Path, code: int | None, half: list[str]) -> tuple[str, list[str]]:
    """Return how a release with a fault ended, in words, and what is wrong with its end, besides what is half."""
    said = (folder.parent / "said").read_text(errors="replace")
    ended = "killed" if code == -9 else "hung" if code is None else f"exit {code}"
    faults = [] if code is not None else ["it hangs"]
    if code not in (0, 3, 71, 130, *DEATHS, None):
        faults.append(f"exit code {code}: {said[-200:]}")
    if "Traceback" in said or "secret" in said:
        faults.append("a traceback or a cell is printed")
    return ended, faults + half


def left_behind(folder: Path, again: int | None) -> list[str]:
    """Return what is wrong after a second run that ended so."""
    faults = [] if again == 0 else [f"a second run ends with {again}: {(folder.parent / 'said').read_text()[-200:]}"]
    left = sorted(path.name for path in folder.iterdir() if path.name.startswith("."))
    return [*faults, f"left behind after a second run: {left}"] if left else faults


def looked_at(folder: Path, kind: str, *, done: bool) -> list[str]:
    """Return what is half in a folder, looked at in a child: where libraries have run, one cannot fork any more."""
    ended, wrong = in_child(lambda: _half(folder, kind, done=done), folder.parent / "half")
    return list(wrong) if ended == "done" else [f"looking at it: {ended}: {wrong}"]


def _half(folder: Path, kind: str, *, done: bool) -> list[str]:
    """Return what is half: a release, a key, or a release without its receipt."""
    import sfumato as sf
    from sfumato.exceptions import SfumatoError

    out, key = folder / f"out.{kind}", folder / "my.key"
    faults = ["it says that all is done, and nothing is there"] if done and not (out.exists() and key.exists()) else []
    try:
        if key.exists():
            sf.Key.load(key)
        if out.exists():
            with tempfile.TemporaryDirectory() as name:
                sf.restore(out, Path(name) / f"back.{kind}", key)  # reads all of it, checked against the receipt
    except SfumatoError as error:
        faults.append(f"half a file: {error.message[:80]}")
    return faults


def prepared(around: Path, rows: int = 60) -> Path:
    """Make a folder with a table, and return it."""
    folder = around / "folder"
    folder.mkdir()
    lines = "".join(f"secret-{i},{20 + i % 50},{i * 7 % 90}.5\n" for i in range(rows))
    (folder / "in.csv").write_text("id,age,wage\n" + lines)
    return folder


def as_typed(
    folder: Path, kind: str, before: Callable[[], None] | None = None, *, force: bool = False, threads: int = 1
) -> int:
    """Release as a person types it, in a forked child that does something before; return its number.

    Parameters
    ----------
    threads : int
        With one, the same calls are made each time.
    """
    said = os.open(folder.parent / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            os.dup2(said, 1)
            os.dup2(said, 2)
            os.chdir(folder)
            os.environ["SFUMATO_KEYS"] = str(folder)
            from sfumato.cli import main

            arguments = ["release", "in.csv", "-o", f"out.{kind}", "--id", "id", "--key", "my.key", "-m", "rdp"]
            os.cpu_count = lambda: threads
            sys.argv = ["sfumato", *arguments, *(["--force"] if force else [])]
            with contextlib.suppress(MemoryError):  # arming may itself be what gets no memory
                if before is not None:
                    before()
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
        except BaseException:  # noqa: BLE001
            code = 98
        finally:
            os._exit(code)  # never back into the parent's code
    os.close(said)
    return pid


def waited(pid: int) -> int | None:
    """Return how a child ended; None if it hung, and was killed."""
    status = ended(pid)
    return None if status is None else os.waitstatus_to_exitcode(status)


def _traced(folder: Path, kind: str, options: list[str] | None, *, force: bool = False) -> tuple[int, int | None]:
    """Release in a forked child, under strace if there are options; return its number and how it ended."""
    if options is None:
        pid = as_typed(folder, kind, force=force)
        return pid, waited(pid)
    pid = as_typed(folder, kind, lambda: os.kill(os.getpid(), signal.SIGSTOP), force=force)  # until the tracer is there
    os.waitpid(pid, os.WUNTRACED)
    # without -f only the calls of the first thread fail: others wake the threads of libraries; see `preloaded`
    tracer = subprocess.Popen(["strace", "-q", *options, "-p", str(pid)], stderr=subprocess.DEVNULL)
    while b"TracerPid:\t0\n" in Path(f"/proc/{pid}/status").read_bytes() and tracer.poll() is None:
        time.sleep(0.002)
    os.kill(pid, signal.SIGCONT)
    code = waited(pid)
    tracer.wait()
    return pid, code
