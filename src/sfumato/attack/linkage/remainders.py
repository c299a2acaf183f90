"""Link by remainders: released digits that are sums of a record's cells in some modulus, or sums of its bits.

A check digit, an exclusive or of two columns, a multiple modulo ten thousand, the parity of a record: they need not be
read back. Known rows tell the modulus and what is added up; a person is linked to the rows that hold what their
record comes to. The row's number may be added, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.bits import SPARE, add_bits, bits_of, solve_sums, whole_units, width_of
from sfumato.attack.engine.congruences import Cancelled, binomials
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_known_rows
from sfumato.attack.linkage.linking import link_best
from sfumato.attack.places.place_codes import codes_of

if TYPE_CHECKING:
    from sfumato.attack.engine.knowledge import BoolArray, Guess, IntArray, Knowledge

_FEWEST = 24
_TOGETHER = 12  # columns that are added up together; of wider tables each one by itself
_PAIRS = 8  # columns of which the bits of each two are added up where all of them are too many
_DEGREE = 2  # of the row's number
_BOTH = 8  # known rows in which a bit is 0, and 1: what hardly varies is told by whatever hardly varies


@dataclass(frozen=True, eq=False)
class Sum:
    """Something that a record comes to, and that released rows hold.

    Attributes
    ----------
    weight : float
        How much it says (logarithm of how many different ones there are).
    people, rows : arrays of shapes (p,) and (n,)
    """

    weight: float
    people: IntArray
    rows: IntArray


class Remainders(Attack):
    """Learn from known rows what released digits are sums of, and link a person to the rows that hold theirs.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.integers(0, 100000, size=(600, 3))
    >>> released = draw.integers(0, 100, size=(600, 3)) * 10000 + (table * 1237 + table[:, ::-1]) % 9973
    >>> run_attack(Remainders(), table, released).rate > 0.95
    True
    """

    entry = entry("remainders")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when too few people are known to learn from."""
        return needs_known_rows(knowledge, _FEWEST)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the rows that hold what each person's record comes to."""
        assert knowledge.pairs is not None
        assert knowledge.records is not None
        people = knowledge.records
        both = np.vstack([people, knowledge.pairs.values])
        units = {j: one[0] for j in range(both.shape[1]) if (one := whole_units(both[:, j])) and np.ptp(one[0])}
        if not units:
            raise NothingFoundError("no column of the original stands on a grid")
        found = [
            *_in_moduli(knowledge, units, len(people), deadline),
            *_of_bits(knowledge, units, len(people), deadline),
        ]
        if not found:
            raise NothingFoundError("no released digits are sums of what known people have")

        def cost(part: slice) -> np.ndarray:
            total = np.zeros((len(people[part]), knowledge.n_rows))
            for one in found:
                total += one.weight * (one.people[part][:, None] != one.rows)
            return total

        return link_best(len(people), knowledge.n_rows, cost, deadline)


def _in_moduli(held: Knowledge, units: dict[int, IntArray], people: int, deadline: Deadline) -> Iterator[Sum]:
    """Yield what the digits of each released column are in a modulus, in the largest one."""
    assert held.pairs is not None
    at, numbers = held.pairs.rows, binomials(np.arange(held.n_rows), _DEGREE)
    own = [[j] for j in units]
    sets = [list(units)] if len(units) <= _TOGETHER and len(at) >= len(units) + _DEGREE + 8 else []
    designs = []
    for some in [*sets, *(own if len(units) > 1 or not sets else [])]:
        cells = np.column_stack([units[j] for j in some])
        designs.append((some, cells, Cancelled(np.column_stack([cells[people:], numbers[at]]))))
    for k, column in enumerate(held.released.T):
        best: Sum | None = None
        for codes in codes_of(column) if np.ptp(column[at]) else ():
            for some, cells, cancelled in designs:
                if len(some) == 1 and len(units) > _TOGETHER and some[0] != k:
                    continue
                deadline.check(len(at))
                one = cancelled.congruence(codes[at])
                if one is None or not any(one.weights[: len(some)]):
                    continue
                weight = float(np.log(one.modulus))
                if best is None or weight > best.weight:
                    theirs = one.of(np.column_stack([cells[:people], np.zeros((people, _DEGREE), dtype=np.int64)]))
                    by_place = one.of(np.column_stack([np.zeros((held.n_rows, len(some)), dtype=np.int64), numbers]))
                    rows = (one.written(codes) - by_place + one.weights[-1]) % one.modulus
                    best = Sum(weight, theirs, np.asarray(rows, dtype=np.int64))
        if best is not None:
            yield best


def _of_bits(held: Knowledge, units: dict[int, IntArray], people: int, deadline: Deadline) -> Iterator[Sum]:
    """Yield the bits of each released column that are sums of bits of records."""
    assert held.pairs is not None
    at = held.pairs.rows
    bits = {j: bits_of(one, width_of(one)) for j, one in units.items()}
    released = {k: one[0] for k, column in enumerate(held.released.T) if (one := whole_units(column)) is not None}
    released = {k: codes for k, codes in released.items() if np.ptp(codes[at])}
    if not released:
        return
    hidden = {k: bits_of(codes, width_of(codes)) for k, codes in released.items()}
    told: dict[int, tuple[int, BoolArray, BoolArray]] = {}
    every = np.column_stack([one[at] for one in hidden.values()])
    varies = np.minimum(every.sum(axis=0), (~every).sum(axis=0)) >= _BOTH
    ends = np.cumsum([0, *[one.shape[1] for one in hidden.values()]])
    for some in _sets(bits, len(at)):
        seen = np.column_stack([bits[j] for j in some])
        deadline.check(seen[people:].size + every.size)
        solved = solve_sums(seen[people:], every)
        if solved is None:
            continue
        weights, sure = solved
        sure &= weights[:-1].any(axis=0) & varies
        for k, first, last in zip(hidden, ends, ends[1:], strict=False):
            mine = sure[first:last]
            if mine.sum() > told.get(k, (0,))[0]:
                theirs = add_bits(seen[:people], weights[:, first:last][:, mine])
                told[k] = int(mine.sum()), theirs, hidden[k][:, mine]
    for count, theirs, rows in told.values():
        powers = 1 << np.arange(count, dtype=np.int64)
        yield Sum(float(np.log(2.0) * count), theirs @ powers, rows @ powers)


def _sets(bits: dict[int, BoolArray], known: int) -> Iterator[list[int]]:
    """Yield columns whose bits may be added up: all at once if enough rows are known, else each two."""
    if sum(one.shape[1] for one in bits.values()) + 1 + SPARE <= known:
        yield list(bits)
        return
    some = list(bits)
    for j in some:
        yield [j]
    for i in some[:_PAIRS]:
        yield from ([i, j] for j in some[:_PAIRS] if j > i)
