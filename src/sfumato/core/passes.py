"""How a method is fitted and applied: rounds of summaries, then a row kernel.

A method is a generator: it *yields* the summary it wants next, one pass over the table fills it, and the
filled summary is sent back; what the generator returns is the fitted state. It never holds the data, so an
array in memory, a stream of batches, a thread pool or a cluster can run it and reach the same state. The
kernel then maps blocks of rows, each by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.core.fast import compiled_kernels
from sfumato.core.rows import Coverage, RowRange, Rows
from sfumato.core.secret import Hidden
from sfumato.core.sharing import Workers, helpers_here, one_blas_thread
from sfumato.core.stream import RowHasher
from sfumato.core.summaries import Summary, Together
from sfumato.core.tiles import FEW_THREADS, pieces_for, tile_rows, useful_threads

S = TypeVar("S", bound=Summary)
T = TypeVar("T", bound=Summary)
Rounds = Generator[Summary, Any, Any]  # yields a summary, is sent the same one filled, returns the fitted state
Answer = Callable[[Any], tuple[Any, Coverage | None]]  # an empty summary -> the filled one, and the rows it has seen


def ask(wanted: S) -> Generator[Summary, Any, S]:
    """Ask for a pass over the table: `moments = yield from ask(Moments(...))`.

    Parameters
    ----------
    wanted : Summary
        Empty.
    """
    filled: S = yield wanted
    return filled


def ask_both(first: S, second: T) -> Generator[Summary, Any, tuple[S, T]]:
    """Ask for two summaries in one pass over the table.

    Parameters
    ----------
    first, second : Summary
        Empty.
    """
    filled: Together = yield Together([first, second])
    one, other = filled.parts
    assert isinstance(one, type(first))
    assert isinstance(other, type(second))
    return one, other


class Batch(Protocol):
    """Some consecutive rows of a table, as a reader yields them."""

    @property
    def rows(self) -> Rows:
        """The absolute row numbers."""

    def __len__(self) -> int:
        """Return the number of rows."""

    def tile(self, start: int, stop: int) -> Floats:
        """Return rows start..stop-1 of the batch as a new array of shape (columns, rows)."""


@dataclass(frozen=True, repr=False)
class Facts(Hidden):
    """What the survey says about a table.

    Attributes
    ----------
    names : tuple of str
        The perturbed columns.
    kinds : tuple of str
        "integer", "float32" or "float64" for each.
    n_rows : int
    low, high : arrays of shape (d,)
        Smallest and largest value of each column.
    fingerprint : bytes
        Keyed fingerprint of the table.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    n_rows: int
    low: Floats
    high: Floats
    fingerprint: bytes

    @property
    def integer(self) -> tuple[bool, ...]:
        """Which columns hold integers."""
        return tuple(kind == "integer" for kind in self.kinds)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names)


class Survey(Summary):
    """The first look at a table: number of rows, smallest and largest value, fingerprint.

    Parameters
    ----------
    hashes : array of shape (n,), uint64, optional
        Shared by all workers: each row's hash is written to the place of its number.
    """

    learnt: ClassVar[tuple[str, ...]] = ("n_rows", "low", "high", "_lanes")

    def __init__(self, hasher: RowHasher, n_columns: int, hashes: NDArray[np.uint64] | None = None) -> None:
        self._hasher = hasher
        self._hashes = hashes
        self.n_rows = 0
        self.low = np.full(n_columns, np.inf)
        self.high = np.full(n_columns, -np.inf)
        self._lanes = (0, 0)

    def fresh(self) -> Self:
        return type(self)(self._hasher, len(self.low), self._hashes)

    @property
    def hasher(self) -> RowHasher:
        """The hasher of the fingerprint."""
        return self._hasher

    @property
    def block_rows(self) -> int:
        return tile_rows(len(self.low))

    def add(self, tile: Floats, rows: Rows) -> None:
        if tile.shape[1] == 0:
            return
        self.n_rows += tile.shape[1]
        # + 0.0: which of -0.0 and 0.0 is smaller depends on the order of the rows
        np.minimum(self.low, tile.min(axis=1) + 0.0, out=self.low)
        np.maximum(self.high, tile.max(axis=1) + 0.0, out=self.high)
        hashes = self._hasher.rows(tile)
        if self._hashes is not None and isinstance(rows, RowRange):
            self._hashes[rows.start : rows.stop] = hashes
        self._add_lanes(self._hasher.lanes(hashes, rows))

    def add_plain(self, table: Floats, rows: Rows) -> bool:
        fast = compiled_kernels(table.size)
        if fast is None or type(rows) is not RowRange:
            return False
        self.n_rows += len(table)
        mine = self._hashes
        hashes = np.empty(len(table), dtype=np.uint64) if mine is None else mine[rows.start : rows.stop]
        self._add_lanes(self._hasher.look(fast, table, rows.start, (self.low, self.high), hashes))
        return True

    def merge(self, other: Self) -> None:
        self.n_rows += other.n_rows
        np.minimum(self.low, other.low, out=self.low)
        np.maximum(self.high, other.high, out=self.high)
        self._add_lanes(other._lanes)

    def _add_lanes(self, lanes: tuple[int, int]) -> None:
        self._lanes = ((self._lanes[0] + lanes[0]) % 2**64, (self._lanes[1] + lanes[1]) % 2**64)

    def fingerprint(self) -> bytes:
        """Return the keyed fingerprint of the rows seen."""
        return self._hasher.digest(self._lanes, self.n_rows)


def fill(template: S, batches: Iterable[Batch], *, threads: int = 1) -> tuple[S, Coverage]:
    """Read a table once and return the filled summary with the rows it covers.

    Parameters
    ----------
    template : Summary
        Only its kind and parameters are used.
    threads : int
        Blocks are shared among so many workers; the result does not depend on it.
    """
    threads = useful_threads(threads)
    coverage = Coverage()
    total = template.fresh()
    workers = [template.fresh() for _ in range(threads)] if threads > 1 else []
    with one_blas_thread(), Workers(threads) as pool:
        for batch in batches:
            rows = getattr(batch, "numbered", batch.rows)  # their places, where the noise belongs to persons
            if isinstance(rows, RowRange):
                coverage.add(rows.start, rows.stop)
            pieces = pieces_for(len(batch), template.block_rows, threads)
            if threads > 1 and len(pieces) > 1:
                left = iter(pieces)  # taken one by one: nobody waits for a thread that the system has kept waiting
                whole = threads > FEW_THREADS
                pool.map(lambda share: _add_pieces(*share), [(worker, batch, left, whole) for worker in workers])
            else:
                _add_pieces(total, batch, pieces, False)
        while workers:  # pairs side by side: what has been counted may be as large as a table
            half = len(workers) // 2 + 1
            pairs = zip([total, *workers], [total, *workers][half:], strict=False)
            pool.map(lambda pair: pair[0].merge(pair[1]), pairs)
            workers = workers[: half - 1]
    return total, coverage


def _add_pieces(summary: Summary, batch: Batch, pieces: Iterable[tuple[int, int]], whole: bool) -> None:
    """Add pieces to a summary, whole ones in one call where that is possible: many threads have no room for tiles."""
    plain = getattr(batch, "plain", None) if whole else None  # an array as it lies in memory
    for start, stop in pieces:
        rows = batch.rows.part(start, stop)
        table = None if plain is None else plain(start, stop)
        if table is None or not summary.add_plain(table, rows):
            summary.add(batch.tile(start, stop), rows)


def survey(
    batches: Iterable[Batch],
    names: tuple[str, ...],
    kinds: tuple[str, ...],
    hasher: RowHasher,
    *,
    threads: int = 1,
    hashes: NDArray[np.uint64] | None = None,
) -> Facts:
    """Return the facts of a table: the first pass of every fit.

    Parameters
    ----------
    hashes : array of shape (n,), uint64, optional
        Is filled with the keyed hash of each row, which the pass computes anyway.
    """
    seen, coverage = fill(Survey(hasher, len(names), hashes), batches, threads=threads)
    coverage.require_whole(seen.n_rows)
    return Facts(names, kinds, seen.n_rows, seen.low, seen.high, seen.fingerprint())


class Fitting:
    """The rounds of a method, one step at a time: the one place where they are driven.

    Parameters
    ----------
    rounds : generator
        Yields summaries, returns the fitted state.

    Attributes
    ----------
    wanted : Summary or None
        What the next pass must fill; None when the rounds are over.
    fitted : object
        The fitted state, when they are over.
    """

    def __init__(self, rounds: Rounds) -> None:
        self._rounds = rounds
        self.wanted: Summary | None = None
        self.fitted: Any = None
        self._step(lambda: next(rounds))

    def send(self, filled: Summary) -> None:
        """Hand over the wanted summary, filled."""
        self._step(lambda: self._rounds.send(filled))

    def _step(self, run: Callable[[], Summary]) -> None:
        stop_if_asked()
        try:
            self.wanted = run()
        except StopIteration as over:
            self.wanted, self.fitted = None, over.value


def run_rounds(rounds: Rounds, answer: Answer, n_rows: int) -> Any:
    """Drive a method's rounds to its fitted state, and check after each pass that it saw every row once.

    Parameters
    ----------
    answer : callable
        Fills a summary in one pass over the table, and says which rows it saw: None where that was checked already.
    n_rows : int
        Rows of the table; a pass that sees other rows is refused.
    """
    fitting = Fitting(rounds)
    while fitting.wanted is not None:
        filled, seen = answer(fitting.wanted)
        if seen is not None:
            seen.require_whole(n_rows)
        filled.conclude()
        fitting.send(filled)
    return fitting.fitted


def run_kernel(
    kernel: Callable[[Floats, Rows], Floats],
    batch: Batch,
    write: Callable[[int, int, Floats], None],
    *,
    rows_per_tile: int,
    threads: int = 1,
) -> None:
    """Map a batch tile by tile; `write(start, stop, released_tile)` stores each result.

    Parameters
    ----------
    kernel : callable
        (tile, rows) -> released tile; it may overwrite its tile.
    """

    def one(start: int, stop: int) -> None:
        write(start, stop, kernel(batch.tile(start, stop), batch.rows.part(start, stop)))

    run_pieces(one, len(batch), rows_per_piece=rows_per_tile, threads=threads)


def run_pieces(work: Callable[[int, int], None], n_rows: int, *, rows_per_piece: int, threads: int = 1) -> None:
    """Do work(start, stop) for all pieces of so many rows.

    Parameters
    ----------
    rows_per_piece : int
        For one thread; see `pieces_for`.
    """
    threads = useful_threads(threads)
    pieces = pieces_for(n_rows, rows_per_piece, threads)
    if threads > 1 and len(pieces) > 1:
        with one_blas_thread(), Workers(threads) as workers:
            workers.map(lambda piece: work(*piece), pieces)
    else:
        for piece in pieces:
            work(*piece)


_asked: ContextVar[Callable[[], None] | None] = ContextVar("_asked", default=None)


@contextmanager
def stoppable(check: Callable[[], None]) -> Iterator[None]:
    """Let long computations between two passes stop in the middle.

    Parameters
    ----------
    check : callable
        Raises when somebody has asked to stop.
    """
    token = _asked.set(check)
    try:
        yield
    finally:
        _asked.reset(token)


def stop_if_asked() -> None:
    """Raise if somebody has asked to stop, or nobody waits any more; long computations call it at least once a second.

    They are pure functions far below whoever can be asked: the question goes around the layers between, not through.
    """
    check, others = _asked.get(), helpers_here()
    if check is not None:
        check()
    if others is not None:
        others.go_on()
