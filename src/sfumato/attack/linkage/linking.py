"""For every known person the released rows that fit best, in chunks that fit in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, guess_links

if TYPE_CHECKING:
    from sfumato.attack.engine.interface import Deadline
    from sfumato.attack.engine.knowledge import Knowledge

CELLS = 2_000_000


def standardise(table: FloatArray, mean: FloatArray, sd: FloatArray) -> FloatArray:
    """Return a table in standard deviations from a mean; constant columns become 0.

    Parameters
    ----------
    table : array of shape (n, d)
        Rows.
    mean, sd : arrays of shape (d,)
        Where 0 and 1 shall be.

    Returns
    -------
    array of shape (n, d)
        Scaled rows.

    Examples
    --------
    >>> standardise(np.array([[3.0, 1.0]]), np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([[1., 0.]])
    """
    return np.where(sd > 0, (table - mean) / np.where(sd > 0, sd, 1.0), 0.0)


def link_best(
    people: int, rows: int, cost: Callable[[slice], FloatArray], deadline: Deadline, *, tolerance: float = 1e-9
) -> Guess:
    """Return for every person the rows of least cost, equal ones together.

    Parameters
    ----------
    people, rows : int
        How many of each.
    cost : callable
        Takes a slice of the people, returns an array of shape (people in the slice, rows).
    deadline : Deadline
        When the work is used up, the remaining people get no answer.
    tolerance : float, optional
        Costs that differ by less count as equal.

    Returns
    -------
    Guess
        Links; incomplete when the work was used up.
    """
    candidates: list[IntArray] = []
    size = max(1, CELLS // max(rows, 1))
    for begin in range(0, people, size):
        if deadline.expired:
            candidates += [np.empty(0, dtype=np.int64)] * (people - begin)
            return guess_links(candidates, complete=False, note=f"{begin} of {people} people within the work")
        deadline.spend(size * rows)
        table = cost(slice(begin, min(begin + size, people)))
        least = table.min(axis=1, keepdims=True)
        equal = table <= least + tolerance * (1 + np.abs(least))
        candidates += [np.flatnonzero(row) for row in equal]
    return guess_links(candidates)


def link_nearest(people: FloatArray, rows: FloatArray, deadline: Deadline) -> Guess:
    """Return for every person the rows at least Euclidean distance.

    Parameters
    ----------
    people : array of shape (m, d)
        Known people, scaled.
    rows : array of shape (n, d)
        Released rows, scaled.
    deadline : Deadline
        When the work is used up, the remaining people get no answer.

    Examples
    --------
    >>> from sfumato.attack.engine.interface import Deadline
    >>> found = link_nearest(np.array([[0.9]]), np.array([[0.0], [1.0], [1.0]]), Deadline())
    >>> found.candidates[0].tolist()
    [1, 2]
    """
    lengths = (rows**2).sum(axis=1)

    def squared(part: slice) -> FloatArray:
        block = people[part]
        table = (block**2).sum(axis=1)[:, None] + lengths - 2 * block @ rows.T
        # the product form loses digits: the close ones are computed again, exactly
        close = np.argwhere(table <= table.min(axis=1, keepdims=True) + 1e-6 * (1 + lengths.max()))
        exact = np.full(table.shape, np.inf)
        exact[close[:, 0], close[:, 1]] = ((block[close[:, 0]] - rows[close[:, 1]]) ** 2).sum(axis=1)
        return exact

    return link_best(len(people), len(rows), squared, deadline)


def link_kinds(people: FloatArray, rows: FloatArray, held: Knowledge, deadline: Deadline, *, power: int = 2) -> Guess:
    """Return for every person the rows at least distance in columns of every kind.

    Two numbers are as far apart as they are; two categories are at distance 0 or 1; a row whose kept columns are not
    the person's is out of the question.

    Parameters
    ----------
    people : array of shape (m, d)
        Known people; numbers are scaled.
    rows : array of shape (n, d)
        Released rows, scaled alike.
    held : Knowledge
        The same as they are, and which columns hold what.
    deadline : Deadline
        When the work is used up, the remaining people get no answer.
    power : int, optional
        2 adds up squares of distances, 1 the distances themselves.
    """
    assert held.kinds is not None
    assert held.records is not None
    exact, known = held.kinds.categories | held.kinds.kept, held.records
    weight = np.where(held.kinds.kept, float(4 * held.n_columns * max(1.0, np.abs(rows).max()) ** power), 1.0)

    def cost(part: slice) -> FloatArray:
        total = np.zeros((len(people[part]), len(rows)))
        for j in range(people.shape[1]):
            if exact[j]:
                total += weight[j] * (known[part, j][:, None] != held.released[:, j])
            else:
                total += np.abs(people[part, j][:, None] - rows[:, j]) ** power
        return total

    return link_best(len(people), len(rows), cost, deadline)
