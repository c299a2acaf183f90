"""People without company: rows for which k-means makes a cluster of their own, found so that they can be held back.

To keep a clustering is to keep its walls. A wall around one person points at that person, however the row inside is
moved, and to clip the row first puts many others elsewhere. So these rows are left out: in rounds, because the next
farthest row has a cluster of its own once the farthest is gone.

Whether k-means makes a cluster of a few people can hang on one of them, so that the absence of one would show in whom
else a release leaves out. So people far from all others are looked for first, by the distance to the tenth nearest: how
far a row has to go for company hangs on nobody but its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats, Integers
from sfumato.cluster.lattice_kmeans import Asked, likely_centres_of
from sfumato.cluster.lattice_rounds import nearest_and_cost
from sfumato.core.linear import sum_in_order
from sfumato.core.passes import Facts, ask, fill, run_rounds
from sfumato.core.rows import RowRange, Rows
from sfumato.core.sharing import share
from sfumato.core.stream import Streams
from sfumato.core.summaries import Moments, Sample
from sfumato.perturb.guard.leverage import Leverage
from sfumato.perturb.guard.named import Named
from sfumato.perturb.guard.space import Space, find_space
from sfumato.perturb.guard.wanted import is_count, rungs
from sfumato.perturb.mechanism.collected import Collected, WholeTable

COMPANY = 10  # people that a kept cluster has at least
FEWEST_ROWS = 200  # of a table in which anybody has company
SAMPLE_ROWS = 100_000  # rows on which clusterings are named
_MOST = 0.01  # share of the rows that may be held back
_MOST_OF_FEW, _FEW = 0.03, 40  # the same of a small table, up to so many rows
_USUAL = 50  # rows that a cluster has on average where people without company are looked for
_ROUNDS = 12
_NEAR = 0.99  # share of the rows that are near enough when others are clipped
_STARTS, _MORE_STARTS, _SMALL_TABLE = 8, 24, 1 << 12  # of k-means, and of a small table, for which it takes no time
_LOOKED_AT = (2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 20)  # of the ladder: who has no company at 7 has none at 6 or 8

ASKED_ROWS = 20_000  # of a table in which everybody is asked; in a larger one hardly anybody stands out
_REFERENCE = 1 << 12  # rows among which company is looked for
_APART = 2.5  # times what three quarters of the rows have to go
_BLOCK = 1 << 9
_LARGEST = 2.0**20  # squares of so many steps, summed over 4,096 columns, are exact

# (facts, moments, rows of a sample) -> the space in which the clusterings are named
FindSpace = Callable[[Facts, Moments, Floats], Space]


def most_held_back(n_rows: int, share: float | None) -> int:
    """Return how many rows may be held back: a hundredth, and of a small table up to forty.

    Parameters
    ----------
    share : number, optional
        What the owner allows instead.

    Examples
    --------
    >>> most_held_back(100_000, None), most_held_back(1000, None), most_held_back(1000, 0.005)
    (1000, 30, 5)
    """
    return int(n_rows * share) if share is not None else int(max(n_rows * _MOST, min(_FEW, n_rows * _MOST_OF_FEW)))


def looked_at(clusterings: Sequence[Any], n_rows: int) -> tuple[int, ...]:
    """Return the numbers of k-means clusters with which people without company are looked for.

    Where clusters are small anyway, a smaller one says little of its people: it is not kept, and they stay.

    Examples
    --------
    >>> looked_at(range(2, 10), 10_000), looked_at(range(2, 10), 250)
    ((2, 3, 4, 5, 6, 8, 9), (2, 3, 4, 5))
    """
    counts = tuple(int(wanted) for wanted in clusterings if is_count(wanted) and int(wanted) * _USUAL <= n_rows)
    return counts if n_rows <= _SMALL_TABLE else tuple(k for k in counts if k in _LOOKED_AT or k == max(counts))


def exposed_rounds(
    facts: Facts, streams: Streams, find_space: FindSpace, counts: Sequence[int], most: int
) -> Generator[Any, Any, tuple[Integers, int]]:
    """Yield the passes that find the people without company; return their row numbers, and how many others have none.

    Parameters
    ----------
    counts : sequence of int
        Numbers of k-means clusters.
    most : int
        Rows that may be held back. Where a number of clusters needs more, its rows stay, and are the others.
    """
    sample = yield from ask(Sample(SAMPLE_ROWS, streams.subkey("exposed sample"), facts.n_rows))
    rows, numbers = sample.values(), sample.labels().astype(np.int64)
    whole = len(rows) == facts.n_rows
    few = COMPANY if whole else 2  # a larger table has so few of a small cluster in the sample
    starts = _MORE_STARTS if len(rows) <= _SMALL_TABLE else _STARTS
    held = np.zeros(len(rows), dtype=bool)
    if whole and len(rows) <= ASKED_ROWS:
        for _ in range(_ROUNDS):  # once more without the farthest, which make all others look near
            far = _far_from_all(facts, rows, held, find_space, min(most, _FEW))
            held |= far
            if not far.any():
                break
    left: set[int] = set()
    found: list[tuple[Space, Floats, Flags]] = []
    for number in range(_ROUNDS):
        present = np.flatnonzero(~held)
        space = find_space(*_about(facts, rows[present]), rows[present])
        steps = np.ascontiguousarray(space.steps(space.enter(np.ascontiguousarray(rows[present].T))))
        alone = np.zeros(len(present), dtype=bool)
        left = set()
        tried = [k for k in counts if k < len(present)]
        words = [streams.scalars("exposed", f"{number} {k}", 3 * k * starts) for k in tried]
        likely = likely_centres_of([Asked(steps, k, own, starts) for k, own in zip(tried, words, strict=True)])
        labels = share(partial(_labels, steps), [centres for centres, _ in likely])
        for k, (centres, _), of in zip(tried, likely, labels, strict=True):
            small = np.bincount(of, minlength=k) < few
            mine = small[of]
            if np.count_nonzero(held) + np.count_nonzero(alone | mine) > most:
                left |= set(present[mine & ~alone].tolist())
                continue
            alone |= mine
            if mine.any():
                found.append((space, centres, small))
        if not alone.any():
            break
        held[present[alone]] = True
    if whole or not found:
        return np.sort(numbers[held]) if whole else numbers[:0], len(left)
    return (yield from _in_small_clusters(found, most)), len(left)


def _labels(steps: Floats, centres: Floats) -> NDArray[np.integer]:
    return nearest_and_cost(steps, centres)[0]


def _far_from_all(facts: Facts, rows: Floats, held: Flags, find_space: FindSpace, most: int) -> Flags:
    """Return the rows that are far from company when those held back are gone, so many in all at most."""
    present = np.flatnonzero(~held)
    space = find_space(*_about(facts, rows[present]), rows[present])
    alone = np.zeros(len(rows), dtype=bool)
    steps = space.steps(space.enter(np.ascontiguousarray(rows[present].T)))
    alone[present] = isolated(steps, COMPANY, most - int(np.count_nonzero(held)))
    return alone


def exposed_in(values: Floats, streams: Streams) -> Integers:
    """Return the numbers of the rows of a table in memory for which the ladder makes a cluster of their own.

    Parameters
    ----------
    values : array of shape (n, d)
    """
    n, d = values.shape
    facts = Facts(tuple(f"x{i}" for i in range(d)), ("float64",) * d, n, values.min(axis=0), values.max(axis=0), b"")
    counts = looked_at(rungs(n, categories=False, exact=False), n)

    def space(facts: Facts, moments: Moments, _: Floats) -> Space:
        return find_space(facts, moments, "std")

    rounds = exposed_rounds(facts, streams, space, counts, most_held_back(n, None))
    whole = WholeTable(np.ascontiguousarray(values.T))
    found: tuple[Integers, int] = run_rounds(rounds, lambda wanted: fill(wanted, [whole]), n)
    return found[0]


def _about(facts: Facts, rows: Floats) -> tuple[Facts, Moments]:
    """Return facts and moments of a part of the rows."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    moments = Moments(low, high, cross=False)
    moments.add(np.ascontiguousarray(rows.T), RowRange(0, len(rows)))
    return replace(facts, n_rows=len(rows), low=low, high=high), moments


def _in_small_clusters(found: Sequence[tuple[Space, Floats, Flags]], most: int) -> Generator[Any, Any, Integers]:
    """Yield a pass that counts the rows of clusters that were small in a sample; return the rows of the small ones."""
    offsets = np.cumsum([0, *(len(centres) for _, centres, _ in found)])

    def members(tile: Floats, _: Rows) -> tuple[Floats, Integers]:
        marks = np.full(tile.shape[1], -1, dtype=np.int64)
        for (space, centres, small), offset in zip(found, offsets, strict=False):
            of, _cost = nearest_and_cost(np.ascontiguousarray(space.steps(space.enter(tile))), centres)
            here = small[of] & (marks < 0)
            marks[here] = of[here] + offset
        return tile[:0], marks

    numbers, _, marks = (yield from ask(Collected(members))).sorted(0)
    alone = np.bincount(marks, minlength=int(offsets[-1]))[marks] < COMPANY
    rows = numbers[alone].astype(np.int64)
    return np.sort(rows) if len(rows) <= most else rows[:0]


def clipped(space: Space, sample: Floats) -> Floats:
    """Return rows of which the farthest are drawn nearer, in their own direction; shape (m, d).

    Whose clusterings are named then has no far row to make a cluster for; the others may belong elsewhere for it.

    Parameters
    ----------
    sample : array of shape (m, d)
        Rows of the table.
    """
    inside = space.enter(np.ascontiguousarray(sample.T))
    middle = np.sort(inside, axis=1)[:, inside.shape[1] // 2]
    distance = np.sqrt(sum_in_order((inside.T - middle) ** 2))
    farthest = np.sort(distance)[int(_NEAR * (len(distance) - 1))]
    one = Leverage(middle[None, :], np.array([farthest]))  # the whole table as one atom
    return np.ascontiguousarray(space.leave(one.clip(inside, np.zeros(len(sample), dtype=np.int64))).T)


def with_company(named: Named, inside: Floats, n_rows: int) -> Named:
    """Return the clusterings without their clusters of fewer than ten people.

    Their people belong to the next cluster then: a clustering is kept in which nobody stands alone.

    Parameters
    ----------
    inside : array of shape (d, m)
        A sample of the rows, in the space of the clusterings.
    n_rows : int
        Rows of the table.
    """
    fewest = COMPANY if inside.shape[1] == n_rows else max(3, -(-COMPANY * inside.shape[1] // n_rows))
    while True:
        labels = named.labels(inside)
        counts = [np.bincount(row, minlength=size) for row, size in zip(labels, named.sizes, strict=False)]
        # the smallest of each clustering goes first: its people may be company for those of another one
        lost = [int(count.argmin()) if len(count) > 1 and count.min() < fewest else None for count in counts]
        if all(at is None for at in lost):
            return named
        named = named.without(lost)


def isolated(steps: Floats, company: int, most: int) -> Flags:
    """Return who is farther from company than others: at most so many, the farthest.

    Parameters
    ----------
    steps : array of shape (d, n)
        Rows on a lattice, in random order.
    company : int
        How many people are company.
    most : int
        How many may be found.

    Examples
    --------
    >>> rows = np.arange(300.0)
    >>> rows[7] = 900.0
    >>> isolated(rows[None, :], 10, 5).nonzero()[0].tolist()
    [7]
    """
    n = steps.shape[1]
    alone = np.zeros(n, dtype=bool)
    if n <= company + 1 or most < 1:
        return alone
    rows = _coarser(steps)
    others = rows[:, :_REFERENCE]
    # of fewer rows to look at, fewer are company; everybody there is to be found among them, once
    nearest = max(1, round(company * others.shape[1] / n))
    ways = np.empty(n)
    for start in range(0, n, _BLOCK):
        ways[start : start + _BLOCK] = _way(rows[:, start : start + _BLOCK], others, nearest, start)
    usual = float(np.sort(ways)[3 * n // 4])
    order = np.lexsort((np.arange(n), -ways))[:most]
    alone[order] = ways[order] > _APART**2 * usual
    return alone


def _coarser(steps: Floats) -> Floats:
    """Return rows on a lattice so coarse that sums of squares are exact."""
    largest = float(np.abs(steps).max(initial=1.0))
    coarse: Floats = np.rint(steps * 2.0 ** -max(0.0, np.ceil(np.log2(largest / _LARGEST))))
    return coarse


def _way(rows: Floats, others: Floats, nearest: int, start: int) -> Floats:
    """Return the squared distance to the nearest but so many, without oneself."""
    squares = (rows * rows).sum(axis=0)[:, None] + (others * others).sum(axis=0) - 2.0 * (rows.T @ others)
    own = np.arange(start, min(start + rows.shape[1], others.shape[1]))
    squares[own - start, own] = np.inf
    way: Floats = np.partition(squares, nearest - 1, axis=1)[:, nearest - 1]
    return way
