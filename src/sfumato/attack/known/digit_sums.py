"""Digits that each stand for something: in whatever order, behind whatever cipher or mask, in whatever columns.

An original that was written into digits one by one (backwards, each by a cipher of its own, spread over several
columns), or whose bits were turned over by a mask, is a sum of what single digits or bits stand for. Half of the known
rows tell what that is, of the digits of one column, of its bits, or of the digits of all columns that tell most one
after the other; the other half checks.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.bits import bits_of, whole_units
from sfumato.attack.engine.decimals import snap
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_known_rows
from sfumato.attack.engine.knowledge import BoolArray, FloatArray, Guess, IntArray, Knowledge, guess_values

_FEWEST = 60  # known rows: a half of them tells, the other one checks
_TOGETHER = (2, 4, 6)  # last digits of a column that are added up
_BITS = (2, 3, 4, 5, 6)  # last digits whose bits are
_BINARY = 24  # last bits of numbers that are no decimals
_MOST = 12  # digits of all columns that tell one
_FIRST, _NEXT = 0.3, 0.1  # share of the variance that is left which the first of them and each further one must tell
_LEFT = 0.05  # share of the squares that may be left of a column that is told, in the median
_RIDGE = 1e-6
_ONE = 0.3  # rows within which a place is told


def _flags(digits: IntArray) -> FloatArray:
    """Return a column for each value of each digit."""
    return np.column_stack([np.equal.outer(digit, np.unique(digit)) for digit in digits.T]).astype(np.float64)


def _with_one(bits: BoolArray) -> FloatArray:
    return np.column_stack([bits, np.ones(len(bits))])


def _last_digits(released: FloatArray) -> Iterator[tuple[IntArray, int, int]]:
    """Yield whole units of each column, the base of their digits, and how many there are.

    Of negative numbers the digits above the next lower whole number are read, and those of the number without its sign.
    """
    for column in released.T:
        units = whole_units(column)
        if units is None or np.ptp(units[0]) == 0:
            continue
        many = len(np.base_repr(int(np.abs(units[0]).max()), units[1]))
        yield units[0], units[1], many
        if units[0].min() < 0:
            yield np.abs(units[0]), units[1], many


def sets_of_digits(released: FloatArray) -> Iterator[FloatArray]:
    """Yield what may be added up: the last digits of each column, or the bits of these.

    Parameters
    ----------
    released : array of shape (n, e)

    Examples
    --------
    >>> next(sets_of_digits(np.array([[41.0], [17.0]])))
    array([[1., 0., 0., 1.],
           [0., 1., 1., 0.]])
    """
    for whole, base, many in _last_digits(released):
        if base == 2:
            yield _with_one(bits_of(whole, min(many, _BINARY)))
            continue
        for count in sorted({min(many, length) for length in _TOGETHER}):
            yield _flags(np.column_stack([whole // 10**place % 10 for place in range(count)]))
        for count in sorted({min(many, length) for length in _BITS}):
            yield _with_one(bits_of(whole % 10**count, int(10**count - 1).bit_length()))


def single_digits(released: FloatArray) -> list[FloatArray]:
    """Return every decimal digit of every column by itself, with a column for each of its values.

    Parameters
    ----------
    released : array of shape (n, e)
    """
    found = []
    for whole, base, many in _last_digits(released):
        found += [_flags((whole // 10**place % 10)[:, None]) for place in range(many) if base == 10]
    return [flags for flags in found if flags.shape[1] > 1]


def weights_of(flags: FloatArray, values: FloatArray) -> FloatArray:
    """Return what each flag adds, so that their sums come nearest to some columns.

    Parameters
    ----------
    flags : array of shape (m, f)
    values : array of shape (m, ...)
    """
    return np.asarray(np.linalg.solve(flags.T @ flags + _RIDGE * np.eye(flags.shape[1]), flags.T @ values))


def digits_that_tell(digits: list[FloatArray], column: FloatArray) -> list[int]:
    """Return which digits tell a column: the one that tells most, then the one that tells most of what is left.

    Parameters
    ----------
    digits : list of arrays of shape (m, levels)
        Of known rows.
    column : array of shape (m,)
        What they hold, centred.
    """
    every = np.column_stack(digits)
    counts, begins = every.sum(axis=0), np.cumsum([0, *[one.shape[1] for one in digits[:-1]]])
    chosen: list[int] = []
    rest, total = column, float(column @ column)
    while len(chosen) < _MOST and float(rest @ rest) > 1e-9 * total:
        alone = np.where(
            counts > 1, (rest @ every) ** 2 / np.maximum(counts, 1), 0.0
        )  # one row tells nothing of others
        gains = np.add.reduceat(alone, begins)
        best = int(gains.argmax())
        if best in chosen or gains[best] < (_NEXT if chosen else _FIRST) * float(rest @ rest):
            break
        chosen.append(best)
        flags = np.column_stack([digits[one] for one in chosen])
        rest = column - flags @ weights_of(flags, column)
    return chosen


def _half(rows: int) -> BoolArray:
    """Return every second row of a random order: known rows may stand at places that are all even."""
    return np.asarray(np.random.default_rng([rows, 75]).permutation(rows) % 2 == 0)


def place_of_digits(released: FloatArray, rows: IntArray, places: FloatArray, deadline: Deadline) -> FloatArray | None:
    """Return what the digits of every row say of its place in the original file; None if they say nothing.

    Parameters
    ----------
    released : array of shape (n, e)
    rows, places : arrays of shape (m,)
        Known rows, and their places.
    deadline : Deadline

    Examples
    --------
    >>> places = np.arange(400)
    >>> backwards = places % 10 * 100 + places // 10 % 10 * 10 + places // 100
    >>> place_of_digits(backwards[:, None], places[::3], places[::3], Deadline())[17].round(3)
    np.float64(17.0)
    >>> noise = np.random.default_rng(0).permutation(1000)[:400, None]
    >>> place_of_digits(noise, places[::3], places[::3], Deadline()) is None
    True
    """
    if len(rows) < _FEWEST:
        return None
    half, found = _half(len(rows)), None
    middle, least = float(np.median(places)), _ONE
    for flags in sets_of_digits(released):
        deadline.check(flags[rows].size)
        first = weights_of(flags[rows][half], places[half] - middle)
        rest = float(np.median(np.abs(places[~half] - middle - flags[rows][~half] @ first)))
        if rest < least:
            least, found = rest, flags
    if found is None:
        return None
    return np.asarray(found @ weights_of(found[rows], places - middle) + middle)


class DigitSums(Attack):
    """Learn from known rows what single digits, or bits, of a release stand for, and add them up.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).integers(0, 1000, size=(1000, 2)).astype(float)
    >>> backwards = table % 10 * 100 + table // 10 % 10 * 10 + table // 100
    >>> run_attack(DigitSums(), table, backwards).rate
    1.0
    """

    entry = entry("digit-sums")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when too few people are known to learn what digits stand for."""
        return needs_known_rows(knowledge, _FEWEST)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the columns that digits tell; nothing for the others."""
        assert knowledge.pairs is not None
        rows, values = knowledge.pairs.rows, knowledge.pairs.values
        middle = np.median(values, axis=0)
        truth, half = values - middle, _half(len(rows))
        usual = np.median(truth[~half] ** 2, axis=0)
        least = np.full(knowledge.n_columns, np.inf)
        guess = np.full((knowledge.targets.size, knowledge.n_columns), np.nan)

        def add_up(flags: FloatArray, columns: IntArray) -> None:
            deadline.check(flags[rows].size)
            first = weights_of(flags[rows][half], truth[half][:, columns])
            rest = np.median((truth[~half][:, columns] - flags[rows][~half] @ first) ** 2, axis=0)
            better = columns[(rest <= _LEFT * usual[columns]) & (rest < least[columns])]
            if len(better):
                least[better] = rest[np.isin(columns, better)]
                guess[:, better] = flags[knowledge.targets] @ weights_of(flags[rows], truth[:, better]) + middle[better]

        varies = np.flatnonzero((np.ptp(values, axis=0) > 0) & (usual > 0))
        for flags in sets_of_digits(knowledge.released):
            add_up(flags, varies)
        digits = single_digits(knowledge.released)
        for j in varies[~np.isfinite(least[varies])] if digits else ():
            deadline.check(len(rows))
            chosen = digits_that_tell([one[rows][half] for one in digits], truth[half, j])
            if chosen:
                add_up(np.column_stack([digits[one] for one in chosen]), np.array([j]))
        told = int(np.isfinite(least).sum())
        if not told:
            raise NothingFoundError("no column is a sum of what digits stand for")
        note = f"{told} of {knowledge.n_columns} columns are sums of digits"
        return guess_values(snap(guess, knowledge.decimals), note=note)
