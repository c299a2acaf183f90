"""How many rows are released, and which rows of a person count: the first so many, never more.

The number of rows of the table is noisy before anybody sees it, and then lowered so far that there are as many rows
to draw for; the chance that it is still too large is part of delta.
"""

from __future__ import annotations

from math import log, sqrt
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats, Integers
from sfumato.core.passes import Rounds, ask
from sfumato.core.rows import PeopleRows, Rows
from sfumato.core.summaries import Summary
from sfumato.exceptions import DataError

FAILURE = 1e-3  # share of delta for the chance that more rows would be released than there are


class RowsOfPeople(Summary):
    """Whose rows a table has; 24 bytes for each.

    Parameters
    ----------
    most : int
        Rows that count of one person.
    """

    learnt: ClassVar[tuple[str, ...]] = ("_numbers", "_people")

    def __init__(self, most: int) -> None:
        self._most = most
        self._numbers: list[NDArray[np.int64]] = []
        self._people: list[NDArray[np.uint64]] = []

    def fresh(self) -> Self:
        return type(self)(self._most)

    def add(self, tile: Floats, rows: Rows) -> None:
        assert isinstance(rows, PeopleRows)
        self._numbers.append(rows.labels().astype(np.int64))
        self._people.append(np.ascontiguousarray(rows.digests).view("<u8"))

    def merge(self, other: Self) -> None:
        self._numbers += other._numbers
        self._people += other._people

    def beyond(self) -> Integers:
        """Return the numbers of the rows that a person has beyond those that count, sorted."""
        if not self._numbers:
            return np.empty(0, dtype=np.int64)
        numbers, people = np.concatenate(self._numbers), np.concatenate(self._people)
        order = np.lexsort((numbers, people[:, 1], people[:, 0]))
        people = people[order]
        first = np.ones(len(order), dtype=bool)
        first[1:] = (people[1:] != people[:-1]).any(axis=1)
        starts = np.flatnonzero(first)
        rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
        out: Integers = np.sort(numbers[order][rank >= self._most])
        return out


def beyond_rounds(most: int) -> Rounds:
    """Yield what finds the rows of people beyond those that count, and return their numbers, sorted.

    Parameters
    ----------
    most : int
        Rows that count of one person.
    """
    seen = yield from ask(RowsOfPeople(most))
    return seen.beyond()


def released_rows(noisy: float, sigma: float, delta: float, rows: int = 1) -> int:
    """Return how many rows are released, from their noisy number.

    Parameters
    ----------
    noisy : float
    sigma : float
        Standard deviation of its noise.
    delta : float
        Of the whole release: it is beyond the true number with a chance of `FAILURE` times that, at most.
    rows : int
        How many rows one person can change: it is not beyond the true number of a neighbour, either. Default: 1.

    Examples
    --------
    >>> released_rows(20_000.0, 20.0, 1e-6)
    19870
    """
    margin = sigma * sqrt(2.0 * log(1.0 / (FAILURE * delta)))
    wanted = int(np.floor(noisy - margin * (1.0 + 1e-6))) - rows  # the scale of the noise is rounded up, too
    if wanted < 2:
        raise DataError(
            "too few rows for a private number of rows: next to none would be released",
            hint='bring more rows, raise epsilon, or let the number of rows be public with count="public"',
        )
    return wanted
