"""Work that processes do beside this one: threads that run Python wait for one another, processes do not.

A process is the same interpreter with the same library, and nothing of the caller's script. What it is told and what it
answers goes through a pipe of its own as plain values (`core/travel.py`): no file, no name that others can open, no
pickle; large arrays lie in memory that all of them see (`shared_arrays.py`). It ends with the pipe, however this
process ends, in the middle of its work if need be. What it cannot do is done here: an error is raised by the very work
that fails, not by a report of it.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Self

from sfumato.core.errands.shared_arrays import SharedArrays, with_arrays
from sfumato.core.errands.things import named, put_together, taken_apart
from sfumato.core.sharing import shared_by
from sfumato.core.system import memory
from sfumato.core.travel import pack, unpack
from sfumato.exceptions import SfumatoWarning

Work = Callable[[Any], Any]
_RUN = (
    "import sys; _, kind, shared, *sys.path = sys.argv; from sfumato.core.errands.processes import serve; "
    "serve(kind, shared)"
)
_ALONE = {  # else what a process loads later than it is told so would begin as many threads as there are processors
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
}
_LOOK = 0.2  # seconds after which whoever waits for an answer looks whether somebody has asked to stop
_PIECE = 1 << 20
_BYTES = 400 << 20  # of memory for a process: the libraries, and a few copies of a small table
_COPIES = 8  # of what it is told
_SHARE = 0.5  # of the memory, at most
FEW = 4  # threads that get along without processes: what a process costs to begin is two seconds of a processor


class Errands:
    """Processes that do one kind of work, begun when they are needed and ended with the block.

    Parameters
    ----------
    kind : str
        "module:function" of this library: the function is told what `told` returns, and returns what does the work of
        an item.
    told : callable
        Returns what all items have in common, plain values and things (`things.py`); asked when it is needed.
    here : callable
        Does the work of an item in this process: from things and plain values to the same.
    most : int
        Processes, at most. With 4 threads or fewer there are none.
    check : callable, optional
        Raises when somebody has asked to stop.

    Examples
    --------
    >>> with Errands("sfumato.core.errands.processes:adding", lambda: 2, lambda item: item + 2, 5) as work:
    ...     work(3), work.done_elsewhere
    (5, 1)
    """

    def __init__(
        self, kind: str, told: Callable[[], Any], here: Work, most: int, check: Callable[[], None] = lambda: None
    ) -> None:
        self._kind, self._tell, self._here, self._check = kind, told, here, check
        self._told: bytes | None = None
        room = int(_SHARE * memory() / _BYTES)
        able = os.name == "posix" and sys.executable and not hasattr(sys, "frozen")  # what is frozen runs no other code
        self._most = min(most, room) if most > FEW and able else 0
        self._arrays: SharedArrays | None = None
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        self._begun: list[_Process] = []
        self._lock, self._over = Lock(), False
        self.done_elsewhere = 0

    def __call__(self, item: Any) -> Any:
        """Return what the work of an item comes to; called by as many threads as there are processes at most."""
        process = self._taken()
        common = None if process is None else self._common()
        if process is None or common is None:
            return self._here(item)
        try:
            done, found = process.ask(common, item, self._check)
        except BaseException as error:  # it has ended, or is at work on what nobody waits for any more
            process.end()
            if self._over or not isinstance(error, _EndedError):
                raise
            return self._here(item)
        self._idle.put(process)
        if not done:
            return self._here(item)
        with self._lock:
            self.done_elsewhere += 1
        return found

    def begin(self, count: int) -> None:
        """Begin so many processes now: they load what they need while this one does something else.

        Parameters
        ----------
        count : int
        """
        for _ in range(min(count, self._most) - len(self._begun)):
            process = self._another()
            if process is not None:
                self._idle.put(process)

    def _common(self) -> bytes | None:
        """Return what processes are told; None if it cannot travel, or has no room in memory twice."""
        with self._lock:
            if self._told is None and self._arrays is not None:
                try:
                    self._told = pack(self._arrays.without(taken_apart(self._tell())))
                except (TypeError, OSError, MemoryError):
                    self._keep(0)
                    return None
                told = len(self._told) + self._arrays.size
                self._keep(max(1, int(_SHARE * memory() / (_BYTES + _COPIES * told))))
            return self._told

    def _keep(self, most: int) -> None:
        """Have so many processes from now on; those that wait and are too many end."""
        self._most = min(self._most, most)
        with suppress(Empty):
            while len(self._begun) > self._most:
                process = self._idle.get_nowait()
                process.end()
                self._begun.remove(process)

    def _taken(self) -> _Process | None:
        with suppress(Empty):
            return self._idle.get_nowait()
        return self._another()

    def _another(self) -> _Process | None:
        with self._lock:
            if self._over or len(self._begun) >= self._most:
                return None
            try:
                if self._arrays is None:
                    self._arrays = SharedArrays()
                self._begun.append(_Process(self._kind, self._arrays.descriptor))
            except (OSError, MemoryError):
                self._most = len(self._begun)
                return None
            return self._begun[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._over = True
            for process in self._begun:
                process.end()
            if self._arrays is not None:
                self._arrays.close()


class _EndedError(Exception):
    """A process has ended before its answer: for want of memory perhaps, or because it was ended."""


class _Process:
    """A process that is told something once, and answers item after item."""

    def __init__(self, kind: str, descriptor: int | None = None) -> None:
        places = [place or str(Path.cwd()) for place in sys.path]
        shared = "" if descriptor is None else str(descriptor)
        self._process = subprocess.Popen(  # noqa: S603  # this interpreter, and nothing of the caller's
            [sys.executable, "-P", "-c", _RUN, kind, shared, *places],  # -P: no module of the folder we happen to be in
            pass_fds=[] if descriptor is None else [descriptor],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={**os.environ, **_ALONE},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._asked, self._answers = self._process.stdin, self._process.stdout
        for pipe in (self._asked, self._answers):
            os.set_blocking(pipe.fileno(), False)
        self._talks = Lock()  # held while a pipe is in use: the number of a closed one may be the next file
        self._knows = False

    def ask(self, common: bytes, item: Any, check: Callable[[], None]) -> tuple[bool, Any]:
        """Return whether the item was done, and what it came to."""
        with self._talks:
            for message in ([] if self._knows else [common]) + [pack(taken_apart(item))]:
                for part in (len(message).to_bytes(8, "little"), message):
                    self._put(memoryview(part), check)
            self._knows = True
            answer = self._got(int.from_bytes(self._got(8, check), "little"), check)
        done, found = unpack(answer)
        return done, put_together(found)

    def _put(self, what: memoryview, check: Callable[[], None]) -> None:
        while what:
            try:
                ready = select.select([], [self._asked], [], _LOOK)[1]
                what = what[(self._asked.write(what) or 0) if ready else 0 :]
            except (OSError, ValueError) as error:  # also: it is closed
                raise _EndedError from error
            if not ready:
                check()

    def _got(self, length: int, check: Callable[[], None]) -> bytes:
        parts: list[bytes] = []
        while length:
            try:
                ready = select.select([self._answers], [], [], _LOOK)[0]
                part = self._answers.read(min(length, _PIECE)) if ready else None
            except (OSError, ValueError) as error:
                raise _EndedError from error
            if part == b"":
                raise _EndedError
            if part:
                parts.append(part)
                length -= len(part)
            if not ready:
                check()
        return b"".join(parts)

    def end(self) -> None:
        """End it at once, whatever it does: it has made nothing that would be left behind."""
        with suppress(OSError):
            self._process.kill()
        with self._talks:  # whoever waits for an answer meets its end
            for pipe in (self._asked, self._answers):
                pipe.close()
        self._process.wait()


def _send(pipe: Any, message: bytes) -> None:
    pipe.write(len(message).to_bytes(8, "little"))
    pipe.write(message)
    pipe.flush()


def _received(pipe: Any) -> bytes:
    length = pipe.read(8)
    if len(length) < 8:
        raise EOFError
    message: bytes = pipe.read(int.from_bytes(length, "little"))
    if len(message) < int.from_bytes(length, "little"):
        raise EOFError
    return message


def _end_with(pipe: int) -> None:
    """End this process as soon as nobody reads its answers any more, whatever it does."""
    reader = select.poll()
    reader.register(pipe, 0)  # that the other end is closed is always told
    reader.poll()
    os._exit(1)


def serve(kind: str, descriptor: str = "") -> None:
    """Answer through the standard streams until they end; what a process that runs errands does.

    Parameters
    ----------
    kind : str
        See `Errands`.
    descriptor : str
        Of the memory with large arrays, where there is one.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever gave the errand ends it
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)  # what a library prints is no answer
    Thread(target=_end_with, args=[answers.fileno()], daemon=True).start()
    begin = named(kind)  # loads what it needs before it is told anything
    with suppress(EOFError, OSError), shared_by(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", SfumatoWarning)
        warnings.filterwarnings("ignore", message="Number of distinct clusters")
        told = unpack(_received(asked))
        work = begin(put_together(with_arrays(told, int(descriptor) if descriptor else None)))
        del told
        while True:
            item = put_together(unpack(_received(asked)))
            try:
                answer = True, work(item)
            except Exception:  # noqa: BLE001  # who gave the errand does it, and meets the error
                answer = False, None
            _send(answers, pack(taken_apart(answer)))


def adding(told: Any) -> Work:
    """Return the work of adding a number: the example of an errand.

    Parameters
    ----------
    told : number
    """
    return lambda item: item + told
