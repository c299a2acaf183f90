"""Batches on several threads at once, their results in the order in which they came."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def in_order(items: Iterable[T], work: Callable[[T], U], threads: int) -> Iterator[U]:
    """Yield work(item) for every item, in order; one batch more than there are threads is held at a time.

    Whole batches are shared out, not the operations on one: those of polars and numpy run without the interpreter's
    lock, and a thread that works on a batch of its own rarely waits for it. An error comes at its item's turn.

    Parameters
    ----------
    items : iterable
        Read by the calling thread.

    Examples
    --------
    >>> list(in_order([3, 1, 2], lambda x: x * x, 2))
    [9, 1, 4]
    """
    if threads == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[U]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
