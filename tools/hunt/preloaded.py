"""Every allocation of a release fails once, in turn, in any thread; and every change of a file by threads of their own.

A small library (`failing.c`, built when it is needed) stands before the C library, so Python, numpy and everything
below them ask it. A process that has it, and has loaded the rest, forks a child for each case.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from tools.hunt.faults import as_typed, checked, left_behind, looked_at, prepared, waited

MEMORY, FILES = 1, 2
_ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)
_SOURCE = Path(__file__).with_name("failing.c")


def has_compiler() -> bool:
    """Tell whether the library can be built here."""
    return sys.platform == "linux" and shutil.which("cc") is not None


class Preloaded:
    """A process in which allocations can fail: a release is asked for, and its end is told."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        library = Path(self._folder.name) / "failing.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(_SOURCE)], check=True)
        # Python has a store of its own for small things; without it every one of them is asked for
        environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONMALLOC": "malloc"}
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tools.hunt.preloaded"], env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, cwd=Path(__file__).resolve().parents[2],
        )  # fmt: skip

    def release(
        self, folder: Path, kind: str, what: int = 0, number: int = 0, error: int = 0, *, force: bool = False
    ) -> tuple[int | None, int, str]:
        """Release in a child; return how it ended (None if it hangs), how many calls could have failed, and whose did.

        Parameters
        ----------
        what : 0, MEMORY or FILES
        number : int
            The call that fails; 0 for none.
        error : int
            What a change of a file fails with.
        """
        asked = {"folder": str(folder), "kind": kind, "what": what, "number": number, "error": error, "force": force}
        code, count, asker = self._ask(asked)
        return code, count, asker

    def look(self, folder: Path, kind: str, *, done: bool) -> list[str]:
        """Return what is half in a folder."""
        return list(self._ask({"folder": str(folder), "kind": kind, "done": done}))

    def _ask(self, asked: dict[str, Any]) -> Any:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(asked) + "\n")
        self._server.stdin.flush()
        return json.loads(self._server.stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.communicate()  # it ends where its input does
        self._folder.cleanup()


def calls_of(server: Preloaded, kind: str, what: int) -> int:
    """Return how many calls of a release can fail."""
    with tempfile.TemporaryDirectory() as name:
        return server.release(_prepared(Path(name), what), kind, what)[1]


def cases(server: Preloaded, what: int, first_seed: int) -> Iterator[tuple[str, int, int]]:
    """Yield (kind of file, number of the call, error), drawn from all of a release, without end."""
    draw = random.Random(first_seed)
    counts = {kind: calls_of(server, kind, what) for kind in ("csv", "parquet", "arrow")}
    while any(counts.values()):
        kind = draw.choice([kind for kind, count in counts.items() if count])
        yield kind, draw.randint(1, counts[kind]), draw.choice(_ERRORS)


def run_case(server: Preloaded, what: int, kind: str, number: int, error: int) -> tuple[str, list[str]]:
    """Let one call of a release fail; return how the release ended, and what is wrong afterwards."""
    with tempfile.TemporaryDirectory() as name:
        folder = _prepared(Path(name), what)
        code, _, asker = server.release(folder, kind, what, number, error)
        out = folder / f"out.{kind}"
        made = out.read_bytes() if code == 0 and out.exists() else None
        ended, faults = checked(folder, code, server.look(folder, kind, done=code == 0))
        if code is not None and -code in (6, 11):
            ended = f"a library has died ({-code})"  # some have no other answer; nothing may be half all the same
        if code == 1 and asker.startswith("libgomp"):  # it has no other answer than this one
            ended, faults = "a library has ended it (1)", [one for one in faults if "exit code 1:" not in one]
        if code == 127 and asker.startswith("ld-"):  # the loader has no other answer: only then is this no finding
            ended, faults = "the loader has died (127)", [one for one in faults if "exit code 127" not in one]
        faults = [f"{one} (asked by {asker})" for one in faults]
        again = server.release(folder, kind, force=True)[0]
        faults += left_behind(folder, again)
        if made is not None and out.read_bytes() != made:
            faults.append("it says that all is done, and the release is another one")
        return ended, faults


def _prepared(around: Path, what: int) -> Path:
    return prepared(around, rows=60 if what != FILES else 30_000)


def _serve() -> None:
    library = ctypes.CDLL(os.environ["LD_PRELOAD"])
    if library.hunt_open() != 0:
        sys.exit("no shared memory")
    library.hunt_count.restype, library.hunt_asker.restype = ctypes.c_long, ctypes.c_char_p
    library.hunt_arm.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_int]
    answers = os.fdopen(os.dup(1), "w")
    import sfumato.cli.release
    import sfumato.pipeline.release
    import sfumato.pipeline.restore  # noqa: F401

    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        answers.write(json.dumps(_answer(library, asked)) + "\n")
        answers.flush()


def _answer(library: Any, asked: dict[str, Any]) -> Any:
    folder, kind = Path(asked["folder"]), asked["kind"]
    if "done" in asked:
        return looked_at(folder, kind, done=asked["done"])

    def armed() -> None:
        library.hunt_arm(asked["what"], asked["number"], asked["error"])

    pid = as_typed(folder, kind, armed, force=asked["force"], threads=1 + (asked["what"] == FILES))
    code, count, asker = waited(pid), library.hunt_count(), library.hunt_asker().decode()
    library.hunt_arm(0, 0, 0)
    return [code, count, Path(asker).name]


if __name__ == "__main__":
    _serve()
