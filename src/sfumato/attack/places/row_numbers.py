"""Digits of a column may tell the place of a row in the original file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial import cKDTree
from scipy.stats import spearmanr

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.bits import bits_of, whole_units
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError
from sfumato.attack.engine.knowledge import BoolArray, FloatArray, Guess, IntArray, Knowledge, Places, guess_links
from sfumato.attack.known.digit_sums import place_of_digits
from sfumato.attack.known.low_digits import digits_after, digits_at, telling_digits
from sfumato.attack.places.place_codes import code_of_places, codes_of, places_of_bits
from sfumato.attack.places.place_digits import find_speed, on_circle

_SURE = 0.98
_FEWEST = 20  # known rows, without which a speed cannot be told from chance
_GLANCE = 5_000  # rows on which digits are tried
_DIGITS = 100  # of a column that are looked at
_WITHIN = 0.3  # of a row: a column that is so near to a line of the places is their number, not a sorted column
_MOST_ROWS = 0.9  # share of the known rows that lie on the line
_SORTED = 0.5  # rank correlation of a column with the places in a table that is sorted, more or less


class RowNumbers(Attack):
    """Learn from known rows which digits follow the place in the original file, and look people up by their place.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table, released = draw.normal(size=(300, 2)), np.round(draw.normal(size=(300, 2)), 2)
    >>> released[:, 1] += np.arange(300) * 1e-6
    >>> run_attack(RowNumbers(), table, released).rate
    1.0
    """

    entry = entry("row-numbers")

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return for each place the row whose digits come nearest to it."""
        assert knowledge.places is not None
        held = knowledge.places
        if len(held.rows) < 10:
            raise NothingFoundError("too few people are known to be sure")
        places = held.numbers.astype(np.float64)
        there: list[FloatArray] = []  # what the digits of all rows say
        wanted: list[FloatArray] = []  # what they should say at the places that are asked for
        follows, digits = telling_digits(knowledge.released, held.rows, places[:, None], deadline)[0]
        if abs(follows) >= _SURE:
            slope, start = np.polyfit(places, digits[held.rows], 1)
            error = np.abs(digits[held.rows] - slope * places - start)
            unit = 1.4826 * float(np.median(error)) + abs(slope) / 4
            there.append(digits[:, None] / unit)
            wanted.append((slope * held.asked + start)[:, None] / unit)
        for column in knowledge.released.T:
            slope, start, near = _straight(places, column[held.rows])
            if near > _MOST_ROWS:
                there.append(column[:, None] / abs(slope))
                wanted.append(np.asarray((slope * held.asked + start)[:, None] / abs(slope), dtype=np.float64))
        exact = bool(there)
        for turns, (speed, start, error) in self._going_round(knowledge, deadline):
            unit = 2 * np.pi * error + 1e-9
            there.append(_points(turns) / unit)
            wanted.append(_points(np.asarray(speed * held.asked + start, dtype=np.float64)) / unit)
        for column in knowledge.released.T:
            told = [code_of_places(codes, held.rows, held.numbers, deadline) for codes in codes_of(column)]
            code = max(filter(None, told), key=lambda one: len(np.unique(one[0])), default=None)  # some say a part only
            if code is not None:
                exact = True
                there.append(code[0][:, None].astype(np.float64) * 4)
                wanted.append(code[1](held.asked)[:, None].astype(np.float64) * 4)
        summed = None if exact else place_of_digits(knowledge.released, held.rows, places, deadline)
        if summed is not None:
            there.append(summed[:, None] * 4)
            wanted.append(held.asked[:, None].astype(np.float64) * 4)
        bits = None if summed is not None else places_of_bits(_two_valued(knowledge), held.rows, held.numbers)
        if bits is not None:
            there.append(bits[0].astype(np.float64) * 4)
            wanted.append(bits_of(held.asked, len(bits[1]))[:, bits[1]].astype(np.float64) * 4)
        if not there:
            raise NothingFoundError("no digits follow the places of the rows")
        nearest = cKDTree(np.column_stack(there)).query(np.column_stack(wanted))[1]
        note = f"digits of {len(there)} kinds follow the places of the rows"
        return guess_links([np.array([row]) for row in nearest], note=note)

    def _going_round(
        self, knowledge: Knowledge, deadline: Deadline
    ) -> Iterator[tuple[FloatArray, tuple[float, float, float]]]:
        """Yield the digits of each column that go round best as places go on."""
        assert knowledge.places is not None
        held = knowledge.places
        if len(held.rows) < _FEWEST:
            return
        n, tried = knowledge.n_rows, _DIGITS * knowledge.released.shape[1]
        others = np.setdiff1d(np.random.default_rng([n, 61]).permutation(n)[:_GLANCE], held.rows)
        some = np.concatenate([held.rows, others])  # digits of everybody are read where they tell something
        for column in knowledge.released.T:
            best = None
            for unit, rest in [*_as_it_is(column, some, held), *digits_after(column[some])]:
                deadline.check(len(rest))
                found = find_speed(on_circle(rest), np.arange(len(held.rows)), held.numbers, tried=tried)
                if found is not None and (best is None or found[2] < best[0]):
                    best = (found[2], unit)
            if best is not None:
                turns = on_circle(digits_at(column, best[1]))
                found = find_speed(turns, held.rows, held.numbers, tried=tried)
                if found is not None:
                    yield turns, found


def _two_valued(knowledge: Knowledge) -> BoolArray:
    """Return what has two values in each released cell: whether it is missing, and whether its last digit is even."""
    units = [whole_units(column) for column in knowledge.released.T]
    even = [bits_of(one[0], 1) for one in units if one is not None]
    gaps = [] if knowledge.gaps is None else [knowledge.gaps]
    return np.column_stack([*gaps, *even, np.zeros((knowledge.n_rows, 1), dtype=np.bool_)])


def _as_it_is(column: FloatArray, some: IntArray, held: Places) -> list[tuple[float, FloatArray]]:
    """Return a whole column as digits; nothing of one that rises or falls with the places, as in a sorted table."""
    width = float(np.ptp(column))
    follows = abs(spearmanr(column[held.rows], held.numbers)[0]) if width > 0 else 1.0
    unit = (1 - 1 / len(column)) / (width or 1.0)
    return [(unit, digits_at(column[some], unit))] if follows < _SORTED else []


def _straight(places: FloatArray, values: FloatArray) -> tuple[float, float, float]:
    """Return the line of places that most values lie on, and the share of them that do, within a part of a row."""
    order = np.argsort(places)
    slope = float(np.median(np.diff(values[order]) / np.diff(places[order])))
    start = float(np.median(values - slope * places))
    return slope, start, float((np.abs(values - slope * places - start) < _WITHIN * abs(slope)).mean())


def _points(turns: FloatArray) -> FloatArray:
    return np.column_stack([np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)])
