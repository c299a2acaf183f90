"""What a record becomes: known rows tell it for each released column, and a person is linked to the row that fits.

A column that is folded, cut, recoded or enciphered may be hard to read back: several originals become one value. It
need not be read back. Whoever knows a record says what it becomes, as known rows show, and looks for that row. Each
released column is told by one original column, as a dictionary and as a curve, or by a line through all of them,
whichever tells the known rows best when each is left out in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_known_rows
from sfumato.attack.known.curves import drawn_curve
from sfumato.attack.linkage.linking import link_best

if TYPE_CHECKING:
    from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge

_FEWEST = 24  # known rows, without which what tells a column cannot be told from chance
_TELLS = 0.1  # how much likelier (logarithm) known rows must become, lest chance be followed
_WIDE = 40  # original columns beyond which only the column of the same place is looked at
_CORE = 4.0  # deviations within which what was said counts as right
_NEVER = 1e-3  # share of the rows of which nothing is said however well the others are told


@dataclass(frozen=True, eq=False)
class Told:
    """How one released column is told.

    Attributes
    ----------
    gain : float
        Mean logarithm of how much likelier known rows become.
    cost : callable
        Takes records of shape (p, d) and the released column, returns how unlikely each pair of them is.
    """

    gain: float
    cost: Callable[[FloatArray, FloatArray], FloatArray]


def _others(known: FloatArray, column: FloatArray) -> FloatArray:
    """Return what others of the same value, or neighbours on both sides, say of everybody."""
    values, place, counts = np.unique(known, return_inverse=True, return_counts=True)
    place = place.reshape(-1)
    sums = np.bincount(place, column)
    means = sums / counts
    alone = counts[place] == 1
    same = (sums[place] - column) / np.maximum(counts[place] - 1, 1)
    if len(values) < 3:
        return np.asarray(np.where(alone, column.mean(), same))
    left, right = np.maximum(place - 1, 0), np.minimum(place + 1, len(values) - 1)
    span = np.where(values[right] > values[left], values[right] - values[left], 1.0)
    share = (known - values[left]) / span
    between = means[left] + share * (means[right] - means[left])
    between = np.where(place == 0, means[1], np.where(place == len(values) - 1, means[-2], between))
    return np.asarray(np.where(alone, between, same))


def _likelihood(errors: FloatArray, width: float) -> tuple[float, float, float]:
    """Return the mean log likelihood of errors, their usual size, and the largest cost that one can have."""
    size = max(1.4826 * float(np.median(np.abs(errors))), 1e-9 * width)
    right = min(float((np.abs(errors) <= _CORE * size).mean()), 1.0 - 1.0 / (len(errors) + 2)) - _NEVER
    core = right / (size * np.sqrt(2 * np.pi))
    density = core * np.exp(-0.5 * (errors / size) ** 2) + (1 - right) / width
    return float(np.log(density).mean()), size, float(np.log1p(core * width / (1 - right)))


def tell_number(known: FloatArray, column: FloatArray) -> Told | None:
    """Return how a released column of numbers is told by known records; None if it is not.

    Parameters
    ----------
    known : array of shape (m, d)
        Original records.
    column : array of shape (m,)
        What they became.

    Examples
    --------
    >>> ages = np.arange(90.0)[:, None]
    >>> told = tell_number(ages, ages[:, 0] % 20)
    >>> told.cost(np.array([[47.0]]), np.array([3.0, 7.0])).argmin()
    np.int64(1)
    """
    width = float(np.ptp(column))
    if width == 0:
        return None
    best, usual = None, _likelihood(column - np.median(column), width)[0]
    for guess, predict in _predictors(known, column):
        found, size, most = _likelihood(column - guess, width)
        if best is None or found > best[0]:
            best = (found, size, most, predict)
    if best is None or best[0] - usual < _TELLS:
        return None
    found, size, most, predict = best

    def cost(people: FloatArray, released: FloatArray) -> FloatArray:
        apart = predict(people)[:, None] - released
        apart /= size
        apart *= apart
        apart *= 0.5
        return np.minimum(apart, most, out=apart)

    return Told(found - usual, cost)


def _by_curve(j: int, known: FloatArray, column: FloatArray, people: FloatArray) -> FloatArray:
    return drawn_curve(people[:, j], known, column)


def _predictors(
    known: FloatArray, column: FloatArray
) -> Iterator[tuple[FloatArray, Callable[[FloatArray], FloatArray]]]:
    """Yield what each way of telling says of known rows without themselves, and how it says it of others."""
    m, d = known.shape
    for j in range(d) if d <= _WIDE else ():
        if np.ptp(known[:, j]) > 0:
            yield _others(known[:, j], column), partial(_by_curve, j, known[:, j], column)
    if m < 2 * (d + 1):
        return
    centre, spread = known.mean(axis=0), known.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)

    def design(people: FloatArray) -> FloatArray:
        return np.column_stack([(people - centre) / spread, np.ones(len(people))])

    rows = design(known)
    inverse = np.linalg.inv(rows.T @ rows + 1e-9 * m * np.eye(d + 1))
    weights = inverse @ (rows.T @ column)
    own = np.einsum("ij,jk,ik->i", rows, inverse, rows)
    errors = (column - rows @ weights) / np.maximum(1 - own, 1e-6)
    yield column - errors, lambda people: np.asarray(design(people) @ weights)


def tell_category(known: FloatArray, column: FloatArray) -> Told | None:
    """Return how a released column of categories is told by known records; None if it is not.

    Parameters
    ----------
    known : array of shape (m, d)
        Original records.
    column : array of shape (m,)
        What they became.

    Examples
    --------
    >>> towns = np.tile([0.0, 1.0, 2.0], 30)[:, None]
    >>> told = tell_category(towns, (towns[:, 0] + 1) % 3)
    >>> told.cost(np.array([[2.0]]), np.array([0.0, 1.0])).argmin()
    np.int64(0)
    """
    levels, codes = np.unique(column, return_inverse=True)
    codes = codes.reshape(-1)
    usual = np.bincount(codes) / len(codes)
    best: tuple[float, int, FloatArray, FloatArray] | None = None
    for j in range(known.shape[1]) if known.shape[1] <= _WIDE else ():
        values, place = np.unique(known[:, j], return_inverse=True)
        place = place.reshape(-1)
        counts = np.zeros((len(values), len(levels)))
        np.add.at(counts, (place, codes), 1.0)
        held = counts.sum(axis=1)
        without = (counts[place, codes] - 1 + usual[codes]) / held[place]  # one more, spread as usual
        gain = float(np.log(np.maximum(without, 1e-12) / usual[codes]).mean())
        if best is None or gain > best[0]:
            best = (gain, j, values, (counts + usual) / (held[:, None] + 1))
    if best is None or best[0] < _TELLS:
        return None
    gain, j, values, share = best

    def cost(people: FloatArray, released: FloatArray) -> FloatArray:
        at = np.searchsorted(values, people[:, j]).clip(0, len(values) - 1)
        new = np.searchsorted(levels, released).clip(0, len(levels) - 1)
        table = -np.log(np.vstack([share / usual, np.ones(len(levels))]))
        unknown = levels[new] != released
        found: FloatArray = table[np.where(values[at] == people[:, j], at, len(values))][:, new]
        return np.where(unknown, 0.0, found)

    return Told(gain, cost)


class Forward(Attack):
    """Learn from known rows what records become, and link a person to the row that theirs becomes.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(600, 4))
    >>> run_attack(Forward(), table, table % 0.7).rate > 0.9
    True
    """

    entry = entry("forward")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when too few people are known to learn from."""
        return needs_known_rows(knowledge, _FEWEST)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the rows that fit what each person's record becomes."""
        assert knowledge.pairs is not None
        assert knowledge.records is not None
        rows, values, released = knowledge.pairs.rows, knowledge.pairs.values, knowledge.released
        category = np.zeros(released.shape[1], dtype=np.bool_)
        if knowledge.kinds is not None:
            category = knowledge.kinds.categories
        found: list[tuple[int, Told]] = []
        for k in range(released.shape[1]):
            deadline.check(values.size)
            told = (tell_category if category[k] else tell_number)(values, released[rows, k])
            if told is not None:
                found.append((k, told))
        if not found:
            raise NothingFoundError("known records tell nothing of what they become")
        people = knowledge.records

        def cost(part: slice) -> FloatArray:
            return np.asarray(sum(told.cost(people[part], released[:, k]) for k, told in found))

        return link_best(len(people), len(released), cost, deadline)
