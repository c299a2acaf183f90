"""Work that is shared among threads far below whoever knows how many there are, and how many there may be.

How many threads a job has is said once, around it (`shared_by`), and asked where independent work turns up (`share`):
the pure functions between need not pass it on. Inside a thread of `share` there is one thread, so that pools inside
pools do not multiply; but threads that have nothing else to do help inside what others do.
"""

from __future__ import annotations

import sys
import weakref
from _thread import start_new_thread
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from queue import SimpleQueue
from threading import Lock
from typing import Any, Generic, Self, TypeVar

from sfumato.core.system import processors
from sfumato.exceptions import ReleaseCancelledError

T = TypeVar("T")
U = TypeVar("U")

_threads: ContextVar[int | None] = ContextVar("_threads", default=None)  # None: nobody has said
_is_helper: ContextVar[bool] = ContextVar("_is_helper", default=False)  # whether a thread does a part of shared work
_lender: ContextVar[Workers | None] = ContextVar("_lender", default=None)  # whose threads help inside shared work
_TURN = 1.0  # seconds after which whoever waits looks whether the threads still live


class Task(Generic[U]):
    """Some work that a thread does, and what it came to."""

    def __init__(self, work: Callable[[], U], check: Callable[[], None]) -> None:
        self._work: Callable[[], U] | None = work
        self._check, self._open, self._found = check, Lock(), []  # type: ignore[var-annotated]
        self._error: BaseException | None = None
        self._open.acquire()

    def run(self) -> None:
        """Do the work, unless somebody has left it undone."""
        work, self._work = self._work, None
        try:
            if work is not None:
                self._found.append(work())
        except BaseException as error:  # noqa: BLE001  # raised where the result is asked for
            self._error = error
        finally:
            self._open.release()

    def cancel(self) -> None:
        """Leave the work undone if it has not begun."""
        self._work = None

    def done(self) -> bool:
        """Tell whether it is over; raise if it never will be."""
        if self._open.locked():
            self._check()
            return False
        return True

    def result(self) -> U:
        """Wait for the end, and return what the work came to, or raise its error."""
        while not self._open.acquire(timeout=_TURN):
            self._check()
        self._open.release()
        if self._error is not None:
            raise self._error
        found: U = self._found[0]
        return found


class _Alive:
    """Held by a thread as long as it lives, however it ends."""


class _Thread:
    """A thread that does one task after the other until there is none."""

    def __init__(self, tasks: SimpleQueue[Task[Any] | None]) -> None:
        alive, self._ended = _Alive(), Lock()
        self._alive = weakref.ref(alive)
        self._ended.acquire()
        start_new_thread(_serve, (tasks, self._ended, alive))

    @property
    def lives(self) -> bool:
        """Whether it has not ended; it ends without a word where memory is missing for its very first step."""
        return self._ended.locked() and self._alive() is not None

    def join(self) -> None:
        """Wait until it has ended."""
        while not self._ended.acquire(timeout=_TURN):
            if not self.lives:
                return


def _serve(tasks: SimpleQueue[Task[Any] | None], ended: Any, alive: _Alive) -> None:  # noqa: ARG001  # held to the end
    try:
        while (task := tasks.get()) is not None:
            task.run()
            del task  # nobody holds a result while it waits for the next one
    finally:
        ended.release()


class Workers:
    """Threads that take work from one queue; begun when there is work, and waited for at the end.

    Where a thread dies because memory is missing for a step of its own, whoever waits for it is told: the pool of the
    standard library waits for ever, and prints a traceback.

    Parameters
    ----------
    threads : int
        How many there are at most.

    Examples
    --------
    >>> with Workers(2) as workers:
    ...     workers.map(abs, [-1, 2, -3])
    [1, 2, 3]
    """

    def __init__(self, threads: int) -> None:
        self.most = max(threads, 1)
        self._threads: list[_Thread] = []
        self._starting, self._over = Lock(), False
        self.given_up = False  # whether nobody waits any more for what the threads still do
        self._tasks: SimpleQueue[Task[Any] | None] = SimpleQueue()

    def submit(self, work: Callable[..., U], *arguments: Any) -> Task[U]:
        """Let a thread do work(*arguments)."""
        task = Task(lambda: self._do(work, *arguments), self.check)
        with self._starting:  # whoever helps inside shared work is asked by any of the threads
            if len(self._threads) < self.most and not self._over:
                self._threads.append(_Thread(self._tasks))
            self._tasks.put(task)
        return task

    def map(self, work: Callable[[T], U], items: Iterable[T]) -> list[U]:
        """Return work(item) for every item, in order."""
        tasks = [self.submit(work, item) for item in items]
        try:
            return [task.result() for task in tasks]
        finally:
            for task in tasks:
                task.cancel()

    def check(self) -> None:
        """Raise if a thread has ended before its work has."""
        if not all(thread.lives for thread in self._threads):
            raise MemoryError("a thread has ended before its work has")

    def go_on(self) -> None:
        """Raise if nobody waits any more for what the threads still do."""
        if self.given_up:
            raise ReleaseCancelledError("nobody waits for this any more")

    def _do(self, work: Callable[..., U], *arguments: Any) -> U:
        self.go_on()
        return work(*arguments)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        with self._starting:
            self._over, self.given_up = True, error is not None
            for _thread in self._threads:
                self._tasks.put(None)
        for thread in self._threads:
            thread.join()


@contextmanager
def shared_by(threads: int) -> Iterator[None]:
    """Let work that turns up inside be shared among so many threads.

    What libraries do with threads of their own stays on the thread that asks for it: it is many and small, such threads
    wait for one another in a loop that keeps others from working, and last bits of sums depend on how many there are.

    Parameters
    ----------
    threads : int
        What the job has in all.
    """
    token, libraries = _threads.set(threads), _one_openmp_thread()
    try:
        with one_blas_thread():
            yield
    finally:
        libraries.restore_original_limits()
        _threads.reset(token)


def threads_here() -> int:
    """Return how many threads a job that begins here has, if nobody says otherwise: those of the job around it, or all.

    Examples
    --------
    >>> with shared_by(3):
    ...     threads_here(), share(lambda _: threads_here(), [0, 1])
    (3, [1, 1])
    """
    said = _threads.get()
    return processors() if said is None else said


def sharing_here() -> int:
    """Return among how many threads `share` shares work here: 1 where nobody has said, and inside shared work."""
    return _threads.get() or 1


def share(work: Callable[[T], U], items: Sequence[T], *, largest_first: Callable[[T], float] | None = None) -> list[U]:
    """Return work(item) for every item, in order, computed by as many threads as there are here.

    An error is that of the first item that has one; what has not begun then is left undone.

    Parameters
    ----------
    work : callable
        Must not depend on what it does for other items.
    largest_first : callable, optional
        How long an item takes, in any unit: long ones are begun first, so that nobody waits for one at the end.

    Examples
    --------
    >>> with shared_by(4):
    ...     share(abs, [-1, 2, -3])
    [1, 2, 3]
    """
    threads = sharing_here() if len(items) > 1 else 1
    lender = _lender.get() if len(items) > 1 else None
    if threads <= 1 and lender is None:
        return [work(item) for item in items]
    order = list(range(len(items)))
    if largest_first is not None:
        sizes = [largest_first(item) for item in items]
        order.sort(key=lambda at: -sizes[at])

    if threads <= 1 and lender is not None:
        return _with_help(lender, work, items, order)
    with one_blas_thread(), Workers(threads) as workers:
        tasks = {at: submit_alone(workers, work, items[at]) for at in order}
        try:
            return [tasks[at].result() for at in range(len(items))]
        finally:
            for task in tasks.values():
                task.cancel()


def helpers_here() -> Workers | None:
    """Return whose threads help with what is done here once they have nothing else to do; None outside shared work."""
    return _lender.get()


def _with_help(lender: Workers, work: Callable[[T], U], items: Sequence[T], order: Sequence[int]) -> list[U]:
    """Do shared work inside shared work: on this thread, and on others whose own has ended.

    Nobody is waited for who has not begun: this thread takes what is left. So whoever waits, waits for work further
    inside, and never for one another.
    """
    tasks = {at: Task(partial(work, items[at]), lender.check) for at in order}
    left = iter(order)

    def take(_: None) -> None:
        for at in left:
            tasks[at].run()

    helpers = [submit_alone(lender, take, None) for _ in range(min(len(items), lender.most) - 1)]
    take(None)
    for helper in helpers:
        helper.cancel()
    return [tasks[at].result() for at in range(len(items))]


def submit_alone(workers: Workers, work: Callable[[T], U], item: T) -> Task[U]:
    """Let a thread do work(item), for which there is one thread then.

    It has a copy of the caller's context: it knows who may stop it, and how numpy treats overflow.
    """

    def alone() -> U:
        _threads.set(1)
        _is_helper.set(True)
        _lender.set(workers)
        _one_openmp_thread()
        return work(item)

    return workers.submit(copy_context().run, alone)


class _OneThread:
    """BLAS on one thread as long as somebody wants it so; several may, at the same time."""

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._limited: Any = None

    def enter(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._limited = _libraries.found().limit(limits=1, user_api="blas")

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limited.restore_original_limits()


class _Libraries:
    """What controls the threads of the libraries that are loaded: looked for once, and once more with scikit-learn.

    Whoever looks holds the lock of the system's loader and waits for the interpreter's; a thread that imports a library
    holds them the other way round. So threads that share work never look: whoever shares it out has.
    """

    def __init__(self) -> None:
        self._lock, self._found, self._learnt = Lock(), None, False

    def found(self) -> Any:
        learnt = "sklearn" in sys.modules
        if self._found is not None and (_is_helper.get() or self._learnt == learnt):
            return self._found
        from threadpoolctl import ThreadpoolController

        with self._lock:
            self._found, self._learnt = ThreadpoolController(), learnt
        return self._found


_libraries = _Libraries()


def _one_openmp_thread() -> Any:
    """Let the calling thread, and no other, have one thread inside libraries that use OpenMP."""
    return _libraries.found().limit(limits=1, user_api="openmp")


_one_thread = _OneThread()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let matrix products inside run on the calling thread: many threads with one product each do not wait."""
    _one_thread.enter()
    try:
        yield
    finally:
        _one_thread.leave()
