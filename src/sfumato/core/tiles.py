"""How work is cut up: tiles that stay in the second-level cache, pieces and batches that threads share; how many do."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from typing import TypeVar

from sfumato.core.fast import compiled_kernels
from sfumato.core.numbers import whole_number
from sfumato.core.sharing import (
    Task,
    Workers,
    helpers_here,
    one_blas_thread,
    share,
    submit_alone,
    threads_here,
)
from sfumato.core.system import processors
from sfumato.exceptions import ParameterError

BLOCK_ROWS = 1 << 16  # rows that one call of Summary.add sees at most
_TILE_BYTES = 1 << 21
_FEWEST, _MOST = 2048, 16384  # fewer rows and the calls cost more than the work, more and a column leaves the cache
FEW_THREADS = 4  # more of them have too little memory in the cache for tiles of their own
_BUSY = 4  # tiles in a piece for many threads: shorter ones wait for the interpreter, longer ones for the last thread
_TURNS = 2  # pieces at least for each of many threads
_USEFUL = 8  # threads that numpy keeps busy; more of them were slower
T = TypeVar("T")
U = TypeVar("U")


def workers(threads: int | None, n_jobs: int | None = None) -> int:
    """Return how many threads share a job: as many as `threads` says, or `n_jobs`, scikit-learn's name for it.

    Parameters
    ----------
    threads : int, optional
    n_jobs : int, optional
        -1 is one for each processor that the process may use, -2 one less. If neither is given, as many as the job
        around this one has, and all without one.

    Examples
    --------
    >>> workers(3), workers(None, 2), workers(None, -1) == workers(None) == processors()
    (3, 2, True)
    """
    asked = set[int]()
    if threads is not None:
        asked.add(whole_number(threads, "threads", low=1))
    if n_jobs is not None and isinstance(n_jobs, Integral) and n_jobs < 0:
        asked.add(max(1, processors() + 1 + int(n_jobs)))
    elif n_jobs is not None:
        asked.add(whole_number(n_jobs, "n_jobs, unless it is -1 for all processors,", low=1))
    if len(asked) > 1:
        raise ParameterError(
            f"threads={threads} and n_jobs={n_jobs} both say how many workers there are", hint="give one of them"
        )
    return asked.pop() if asked else threads_here()


def tile_rows(n_columns: int) -> int:
    """Return how many rows make a tile that stays in the second-level cache.

    Examples
    --------
    >>> tile_rows(1), tile_rows(20), tile_rows(1000)
    (16384, 13107, 2048)
    """
    return max(_FEWEST, min(_MOST, _TILE_BYTES // (8 * max(n_columns, 1))))


def spans(n_rows: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of consecutive pieces of at most `size` rows.

    Examples
    --------
    >>> list(spans(5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    for start in range(0, n_rows, size):
        yield start, min(start + size, n_rows)


def pieces_for(n_rows: int, size: int, threads: int) -> list[tuple[int, int]]:
    """Return the pieces of a batch that threads share among them; for one thread those of `spans`.

    Threads take the interpreter's lock between any two array operations. On a few threads a tile that stays in the
    cache is long enough for the lock to be free. Many threads wait for the lock more often, and take several tiles at
    once, and as many pieces each as the others. Where numpy does the work its operations are many and short, and pieces
    are longer.

    Parameters
    ----------
    size : int
        Rows of a piece for one thread, and at least of any other: all of a table whose rows need one another.

    Examples
    --------
    >>> pieces_for(5, 2, 1)
    [(0, 2), (2, 4), (4, 5)]
    >>> len(pieces_for(100_000, 50_000, 2)), len(pieces_for(1_000, 50_000, 2))
    (2, 1)
    """
    if threads > 1:
        longest = size
        if threads > FEW_THREADS:
            longest = _BUSY * size
        if compiled_kernels(0) is None:
            longest = max(longest, BLOCK_ROWS // 2)
        turns = -(-n_rows // (threads * longest))
        if threads > FEW_THREADS:
            turns = max(turns, _TURNS)  # nobody knows which thread the system keeps waiting
        size = max(size, -(-n_rows // (threads * max(turns, 1))))
    return list(spans(n_rows, size))


def useful_threads(threads: int) -> int:
    """Return how many of so many threads are of use for rows: numpy's many short operations keep few from waiting.

    Examples
    --------
    >>> useful_threads(2)
    2
    """
    return threads if compiled_kernels(0) is not None else min(threads, _USEFUL)


def in_order(
    items: Iterable[T], work: Callable[[T], U], threads: int, *, largest_first: Callable[[T], float] | None = None
) -> Iterator[U]:
    """Yield work(item) for every item, in order; one batch more than there are threads is held at a time.

    Whole batches are shared out, not the operations on one: those of polars and numpy run without the interpreter's
    lock, and a thread that works on a batch of its own rarely waits for it. An error comes at its item's turn.

    Parameters
    ----------
    items : iterable
        Read by the calling thread.
    largest_first : callable, optional
        How long an item takes, in any unit: long ones are begun first, so that nobody waits for one at the end. All
        items are read then, and all results held until their turn comes.

    Examples
    --------
    >>> list(in_order([3, 1, 2], lambda x: x * x, 2)), list(in_order([3, 1, 2], abs, 2, largest_first=float))
    ([9, 1, 4], [3, 1, 2])
    """
    if threads == 1 and largest_first is not None and helpers_here() is not None:
        yield from share(work, list(items), largest_first=largest_first)
        return
    if threads == 1:
        yield from map(work, items)
        return
    with one_blas_thread(), Workers(threads) as workers:
        waiting: deque[Task[U]] = deque()
        try:
            if largest_first is not None:
                items = list(items)
                sizes = [largest_first(item) for item in items]
                order = sorted(range(len(items)), key=lambda at: -sizes[at])
                begun = {at: submit_alone(workers, work, items[at]) for at in order}
                waiting.extend(begun[at] for at in range(len(items)))
                items = []
            for item in items:
                waiting.append(submit_alone(workers, work, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for task in waiting:
                task.cancel()
