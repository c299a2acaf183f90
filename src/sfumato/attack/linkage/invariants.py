"""What noise leaves alone: directions of the release, or of functions of it, that records tell though no column is.

Noise may cancel in a sum of columns, be the same in two of them, turn a row about the middle, or multiply one column by
what it divides another by. Each column by itself is hidden then, and one number of every row is not: a sum, a
difference, a length, a product. Such numbers are linear in the cells, their squares or their logarithms. Known rows
show them, as the directions of the release that a line through the records explains best, among all columns and among
each two; a person is linked to the row that fits what theirs should be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_known_rows
from sfumato.attack.engine.transforms import own_scale
from sfumato.attack.linkage.forward import Told, tell_number
from sfumato.attack.linkage.linking import link_best, standardise

if TYPE_CHECKING:
    from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge, Marginals

_FEWEST = 24  # known rows, without which a direction cannot be told from chance
_MOST = 24  # directions at most
_WIDE = 100  # columns beyond which not each two are looked at
_EXPLAINED = 0.5  # share of a direction's variance that a line through known records must explain
_NEW = 0.1  # share of a direction that those before it must not hold
_RIDGE = 1e-10


@dataclass(frozen=True, eq=False)
class Word:
    """People, released rows and known people in one word.

    Attributes
    ----------
    people, known : arrays of shapes (p, f) and (m, f)
        Records.
    rows : array of shape (n, g)
        The release.
    of_column : list of pairs of arrays
        For each column of both tables where it stands in the records and in the release, in this word; the last pair
        is what is said of whole rows, their sums or lengths.
    """

    people: FloatArray
    rows: FloatArray
    known: FloatArray
    of_column: list[tuple[IntArray, IntArray]]


@dataclass(frozen=True, eq=False)
class Direction:
    """A direction of the release, and the parts of records that explain it.

    Attributes
    ----------
    share : float
        How much of its variance they explain.
    vector : array of shape (g,)
    by : array of integers
    """

    share: float
    vector: FloatArray
    by: IntArray


def in_words(records: FloatArray, released: FloatArray, known: FloatArray, public: Marginals) -> Iterator[Word]:
    """Yield records and released rows in each word: cells and their sums, with squares and lengths, and logarithms.

    Parameters
    ----------
    records : array of shape (p, d)
        Of people who are looked for.
    released : array of shape (n, e)
        The release.
    known : array of shape (m, d)
        Of people whose rows are known.
    public : Marginals
        Means and deviations of the original.
    """
    (m, d), e = known.shape, released.shape[1]
    people, helpers = (standardise(table, public.mean, public.sd) for table in (records, known))
    rows = own_scale(released)
    first, second = np.triu_indices(d, 1)

    def sums(table: FloatArray, scaled: FloatArray) -> FloatArray:
        return np.column_stack([scaled, table.sum(axis=1), scaled.sum(axis=1)])

    def squares(table: FloatArray, scaled: FloatArray, middle: FloatArray, *more: FloatArray) -> FloatArray:
        lengths = (scaled**2).sum(axis=1), ((table - middle) ** 2).sum(axis=1)
        return np.column_stack([scaled, scaled**2, *more, *lengths])

    def logs(table: FloatArray) -> FloatArray:
        sizes = np.log(np.maximum(np.abs(table), 1e-300))
        return np.column_stack([sizes, sizes.sum(axis=1)])

    def places(times: int, ends: tuple[int, int], last: int) -> list[tuple[IntArray, IntArray]]:
        if d != e:
            return []
        alone = [(np.arange(j, times * d, d), np.arange(j, times * d, d)) for j in range(d)]
        return [*alone, (np.arange(ends[0] - last, ends[0]), np.arange(ends[1] - last, ends[1]))]

    yield Word(sums(records, people), sums(released, rows), sums(known, helpers), places(1, (d + 2, d + 2), 2))
    middle = public.mean
    more: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    if 2 * (2 * d + len(first) + 3) <= m:  # products of two columns, where enough people are known to weigh them
        more = [people[:, first] * people[:, second]], [helpers[:, first] * helpers[:, second]]
    there = squares(records, people, middle, *more[0])
    became = squares(released, rows, released.mean(axis=0))
    whole = places(2, (there.shape[1], became.shape[1]), 2)
    yield Word(there, became, squares(known, helpers, middle, *more[1]), whole)
    if all(table.all() for table in (records, released, known)):
        yield Word(logs(records), logs(released), logs(known), places(1, (d + 1, d + 1), 1))


def by_chance(parts: int, block: int, known: int) -> float:
    """Return the share of some direction of noise that a line explains by chance (Wachter's edge), with some room.

    Parameters
    ----------
    parts, block, known : int
        Numbers of which a line is made, columns among which the direction is chosen, known rows.

    Examples
    --------
    >>> round(by_chance(4, 4, 100), 2), by_chance(50, 50, 99)
    (0.19, 1.0)
    """
    a, b = (parts + 1) / known, (block + 1) / known
    if a + b >= 1:
        return 1.0
    return float((np.sqrt(a * (1 - b)) + np.sqrt(b * (1 - a))) ** 2)


def directions(known: FloatArray, rows: FloatArray, by: IntArray, blocks: Iterable[IntArray]) -> Iterator[Direction]:
    """Yield the directions of some columns of known released rows that a line through parts of records explains.

    Parameters
    ----------
    known : array of shape (m, f)
        Records.
    rows : array of shape (m, g)
        What they became, centred and of length 1.
    by : array of integers
        The parts of records.
    blocks : iterable of arrays of integers
        Columns of the release that are looked at together.
    """
    parts = known[:, by]
    basis = np.linalg.qr(parts - parts.mean(axis=0))[0]
    seen = basis.T @ rows
    told, total = seen.T @ seen, rows.T @ rows
    for block in blocks:
        least = max(_EXPLAINED, by_chance(len(by), len(block), len(rows)))
        part = np.ix_(block, block)
        shares, vectors = eigh(told[part], total[part] + _RIDGE * np.eye(len(block)))
        for share, vector in zip(shares[::-1], vectors.T[::-1], strict=True):
            if share < least:
                break
            whole = np.zeros(rows.shape[1])
            whole[block] = vector
            yield Direction(float(share), whole, by)


def best_directions(word: Word, at: IntArray, columns: int) -> list[Direction]:
    """Return the directions of a release in a word that known records explain, none of which others hold.

    Parameters
    ----------
    word : Word
    at : array of shape (m,)
        The rows of known people.
    columns : int
        Of the release.
    """
    rows = word.rows[at] - word.rows[at].mean(axis=0)
    lengths = np.linalg.norm(rows, axis=0)
    unit = np.where(lengths > 0, lengths, 1.0)
    rows = rows / unit
    (m, f), g = word.known.shape, rows.shape[1]
    found: list[Direction] = []
    each = [np.array([k]) for k in range(g)]
    two = [(i, j) for i in range(columns) for j in range(i + 1, columns)] if columns <= _WIDE else []
    if m >= 2 * (f + 1):
        there = [np.arange(k, g, columns)[: g // columns] for k in range(columns)]
        pairs = [np.concatenate([there[i], there[j]]) for i, j in two]
        found += directions(word.known, rows, np.arange(f), [*each, *pairs, np.arange(g)])
    elif word.of_column:
        parts, places = word.of_column[-1]
        found += directions(word.known, rows, parts, [np.array([k]) for k in places])
        for i, j in two:
            (own, here), (other, beside) = word.of_column[i], word.of_column[j]
            found += directions(word.known, rows, np.concatenate([own, other]), [np.concatenate([here, beside])])
    found.sort(key=lambda one: -one.share)
    chosen: list[Direction] = []
    held = np.zeros((0, m))
    for one in found:
        values = rows @ one.vector
        rest = values - held.T @ (held @ values)
        if rest @ rest > _NEW * (values @ values) > 0:
            held = np.vstack([held, rest / np.linalg.norm(rest)])
            chosen.append(Direction(one.share, one.vector / unit, one.by))
            if len(chosen) == _MOST:
                break
    return chosen


class Invariants(Attack):
    """Learn from known rows what noise leaves alone, and link a person to the row in which it is theirs.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table, noise = draw.normal(size=(600, 4)), 9 * draw.normal(size=(600, 4))
    >>> run_attack(Invariants(), table, table + noise - noise.mean(axis=1, keepdims=True)).rate > 0.9
    True
    """

    entry = entry("invariants")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when too few people are known to learn from."""
        return needs_known_rows(knowledge, _FEWEST)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the rows in which each person's numbers stand."""
        assert knowledge.pairs is not None
        assert knowledge.records is not None
        assert knowledge.marginals is not None
        at, e = knowledge.pairs.rows, knowledge.released.shape[1]
        best: tuple[float, list[tuple[FloatArray, FloatArray, Told]]] = (0.0, [])
        for word in in_words(knowledge.records, knowledge.released, knowledge.pairs.values, knowledge.marginals):
            deadline.check(word.known.size * word.rows.shape[1] + word.rows.size)
            found = []
            for one in best_directions(word, at, e):
                column = word.rows @ one.vector
                told = tell_number(word.known[:, one.by], column[at])
                if told is not None:
                    found.append((word.people[:, one.by], column, told))
            gained = sum(told.gain for _, _, told in found)
            if gained > best[0]:
                best = (gained, found)
        if not best[1]:
            raise NothingFoundError("no direction of the release is told by records")

        def cost(part: slice) -> FloatArray:
            return np.asarray(sum(told.cost(people[part], column) for people, column, told in best[1]))

        return link_best(len(knowledge.records), knowledge.n_rows, cost, deadline)
