"""Congruences: whole numbers that are sums of multiples of others in some modulus, whatever the modulus is.

A multiple of a value, a check digit, a linear cipher, a polynomial of the row's number, a generator of random numbers:
each is a line in some modulus. Known rows tell the modulus before it is known what is added up: whole weights with
which their numbers cancel leave a multiple of it of what was written, and several such multiples have it as their
greatest common divisor. Then the weights are solved for in that modulus, and further known rows check them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import gcd, log2

import numpy as np

from sfumato.attack.engine.knowledge import IntArray

_DRAWN = 24  # sets of known rows whose numbers are made to cancel
_TOGETHER = 3  # multiples of the modulus of which the greatest common divisor is taken
_SMALL = 64  # by what a divisor may be too large
_TRIED = 6  # moduli that are checked
_SOLVED = 200  # known rows from which weights are solved
_AGREE = 0.9  # share of the known rows that must be told
_BITS = 40  # how unlikely chance must be, as a power of 2
_LARGEST = 1 << 62


@dataclass(frozen=True, eq=False)
class Congruence:
    """What adds up to a number.

    Attributes
    ----------
    modulus : int
    weights : tuple of int
        Of each number, and of a constant.
    unit : int
        Numbers that are written are this many times as large, from `start` on.
    start : int
    """

    modulus: int
    weights: tuple[int, ...]
    unit: int
    start: int

    def of(self, seen: IntArray) -> IntArray:
        """Return what numbers add up to, in the modulus.

        Parameters
        ----------
        seen : array of shape (n, f)
        """
        total = np.full(len(seen), self.weights[-1], dtype=object)
        for column, weight in zip(seen.T, self.weights, strict=False):
            if weight:
                total = total + column.astype(object) * weight
        return np.asarray(total % self.modulus, dtype=np.int64)

    def written(self, codes: IntArray) -> IntArray:
        """Return written numbers in the modulus, as `of` tells them.

        Parameters
        ----------
        codes : array of shape (n,)
        """
        return np.asarray((codes - self.start) // self.unit % self.modulus, dtype=np.int64)


def binomials(places: IntArray, degree: int) -> IntArray:
    """Return the columns of which polynomials of places are sums, whole in every modulus.

    Parameters
    ----------
    places : array of shape (n,)
    degree : int

    Examples
    --------
    >>> binomials(np.array([4, 5]), 3).tolist()
    [[4, 6, 4], [5, 10, 10]]
    """
    columns, last = [], np.ones(len(places), dtype=np.int64)
    for power in range(degree):
        last = last * (places - power) // (power + 1)
        columns.append(last)
    return np.column_stack(columns)


class Cancelled:
    """Known rows whose numbers were made to cancel, to be asked about whatever may be written in them.

    Parameters
    ----------
    seen : array of shape (m, f)
        Whole numbers of known rows.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> seen = draw.integers(0, 10**6, size=(40, 2))
    >>> found = Cancelled(seen).congruence((seen @ [123, 7001] + 55) % 9973)
    >>> found.modulus, found.weights
    (9973, (123, 7001, 9649))
    >>> Cancelled(seen).congruence(draw.integers(0, 10**4, size=40)) is None
    True
    """

    def __init__(self, seen: IntArray) -> None:
        self._seen = seen
        draw = np.random.default_rng([*seen.shape, 83])
        m, f = seen.shape
        design = np.column_stack([seen - seen[0], np.ones(m, dtype=np.int64)])
        self._sets: list[tuple[IntArray, list[int]]] = []
        for _ in range(_DRAWN if m >= f + 4 else 0):
            some = draw.permutation(m)[: f + 2]
            weights = _cancel(design[some])
            if weights is not None:
                self._sets.append((some, weights))

    def congruence(self, written: IntArray, least: int = 2) -> Congruence | None:
        """Return what numbers add up to what is written in known rows; None if it is no such sum.

        Parameters
        ----------
        written : array of shape (m,)
            Whole numbers.
        least : int
            Smallest modulus that is of use. Default: 2.
        """
        start = int(written.min())
        unit = int(np.gcd.reduce(written - start))
        if unit == 0 or len(self._sets) < _TOGETHER:
            return None
        codes = (written - start) // unit
        multiples = [
            abs(sum(weight * int(codes[row]) for row, weight in zip(some, weights, strict=True)))
            for some, weights in self._sets
        ]
        moduli: dict[int, None] = {}
        for at in range(0, len(multiples) - _TOGETHER + 1, _TOGETHER):
            common = reduce(gcd, multiples[at : at + _TOGETHER])
            for part in range(1, _SMALL):
                if common % part == 0 and least <= common // part < _LARGEST:
                    moduli[common // part] = None
        for modulus in sorted(moduli, reverse=True)[: _TRIED * 2]:
            weights = self._solved(codes, modulus)
            if weights is not None and any(weights[:-1]):
                return Congruence(modulus, weights, unit, start)
        return None

    def _solved(self, codes: IntArray, modulus: int) -> tuple[int, ...] | None:
        """Return the weights in a modulus, if enough known rows agree on them."""
        m, f = self._seen.shape
        order = np.random.default_rng([m, 84]).permutation(m)[:_SOLVED]
        for turn in range(3):  # a row that was changed by something else misleads
            some = np.roll(order, turn * (f + 2))
            weights = _in_modulus(self._seen[some], codes[some], modulus)
            if weights is None:
                continue
            told = Congruence(modulus, weights, 1, 0).of(self._seen) == codes % modulus
            checked = int(told.sum()) - f - 1
            varies = len(np.unique(codes % modulus)) > 1
            if varies and told.mean() >= _AGREE and checked * log2(modulus) >= _BITS:
                return weights
        return None


def _cancel(rows: IntArray) -> list[int] | None:
    """Return whole weights with which rows add up to nothing; None if they are too large."""
    size, width = rows.shape
    table = [[int(cell) for cell in row] + [int(i == j) for j in range(size)] for i, row in enumerate(rows)]
    for column in range(width):
        at = next((i for i, row in enumerate(table) if row[column]), None)
        if at is None:
            continue
        pivot = table.pop(at)
        for i, row in enumerate(table):
            if row[column]:
                common = gcd(row[column], pivot[column])
                one, other = pivot[column] // common, row[column] // common
                table[i] = [one * a - other * b for a, b in zip(row, pivot, strict=True)]
    if not table:
        return None
    weights = table[0][width:]
    common = reduce(gcd, weights)
    return [weight // common for weight in weights] if common else None


def _in_modulus(seen: IntArray, codes: IntArray, modulus: int) -> tuple[int, ...] | None:
    """Return the weights of numbers and a constant that give the codes of the first rows that determine them."""
    f = seen.shape[1]
    rows = [
        [*(int(cell) % modulus for cell in row), 1, int(code) % modulus]
        for row, code in zip(seen[: 8 * (f + 2)], codes, strict=False)
    ]
    solved: list[tuple[int, list[int]]] = []
    for column in range(f, -1, -1):  # the constant first: every row has it
        at = next((i for i, row in enumerate(rows) if gcd(row[column], modulus) == 1), None)
        if at is None:
            continue
        pivot = rows.pop(at)
        inverse = pow(pivot[column], -1, modulus)
        pivot = [cell * inverse % modulus for cell in pivot]
        rows = [_less(row, pivot, column, modulus) for row in rows]
        solved = [(place, _less(row, pivot, column, modulus)) for place, row in solved]
        solved.append((column, pivot))
    weights = [0] * (f + 1)
    for column, row in solved:
        weights[column] = row[-1]
    return tuple(weights)


def _less(row: list[int], pivot: list[int], column: int, modulus: int) -> list[int]:
    factor = row[column]
    return [(a - factor * b) % modulus for a, b in zip(row, pivot, strict=True)] if factor else row
