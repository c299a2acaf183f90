"""The chaotic distortion's orbit, found from one known row or from none, also when the rows are shuffled."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import rounding_error
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge, guess_values
from sfumato.attack.orbit.column import CHUNK, candidate_ranges, follow, rho_from_two_rows, search, slack_of
from sfumato.attack.orbit.order import find_order
from sfumato.attack.orbit.rounded import frequent_value, track

if TYPE_CHECKING:
    from collections.abc import Iterator


#: pairs of range and first value that are tried, and when nobody said that the method is an orbit
MOST_BLIND, MOST_CURIOUS = 100_000_000, 3_000_000
#: columns tried when it is not public that the method is an orbit
CURIOUS = 3
#: slack, in grid steps, beyond which the grid no longer renews the orbit
ROUNDED = 0.25


class _Orbit(Attack):
    """What the two attacks share: columns one by one, in the file's order first, then in the orbit's own order."""

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when the method is known to be another one."""
        if knowledge.method not in {None, "chaotic"}:
            return f"the method is {knowledge.method!r}, not an orbit"
        if knowledge.parameters.get("source", "orbit") != "orbit":
            return "the description says that the noise is no orbit"
        if knowledge.decimals is None or all(places is None for places in knowledge.decimals):
            return "no original column is known to stand on a decimal grid"
        if not 0 < knowledge.number("amplitude", 0.1) < 1:
            return "the amplitude of an orbit lies between 0 and 1"
        if knowledge.n_rows < 8:
            return f"the release has {knowledge.n_rows} rows, at least 8 are needed"
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the columns that could be followed, NaN elsewhere."""
        assert knowledge.decimals is not None
        amplitude = knowledge.number("amplitude", 0.1)
        recovered = np.full(knowledge.released.shape, np.nan)
        order: IntArray = np.arange(knowledge.n_rows)
        shuffled = False
        columns = sorted(
            (j for j, places in enumerate(knowledge.decimals) if places is not None),
            # coarse columns are the cheapest, and the first one that is found gives the order of all
            key=lambda j: float(np.ptp(knowledge.released[:, j]) * 10.0 ** (knowledge.decimals or ())[j]),  # type: ignore[operator]
        )
        found = 0
        for tried, column in enumerate(columns):
            if deadline.expired or (knowledge.method is None and found == 0 and tried == CURIOUS):
                break
            places = knowledge.decimals[column]
            assert places is not None
            step = 10.0**-places
            released = knowledge.released[:, column]
            if np.ptp(released) == 0:
                recovered[:, column] = released
                continue
            solved = self._ordered(knowledge, column, released[order], order, amplitude, step, deadline)
            if solved is None and found == 0 and not shuffled:
                starts = self._starts(knowledge, column, amplitude, step)
                other = find_order(released, starts, amplitude, step, deadline)
                if other is not None:
                    order, shuffled = other, True
                    solved = self._ordered(knowledge, column, released[order], order, amplitude, step, deadline)
            if solved is not None:
                recovered[order, column] = solved
                found += 1
        if found == 0:
            raise NothingFoundError("no column follows an orbit from any start that was tried")
        where = "in an order of its own" if shuffled else "in the order of the file"
        note = f"{found} columns follow an orbit {where}"
        return guess_values(recovered[knowledge.targets], note=note, complete=not deadline.expired)

    @abstractmethod
    def _ordered(
        self,
        knowledge: Knowledge,
        column: int,
        released: FloatArray,
        order: IntArray,
        amplitude: float,
        step: float,
        deadline: Deadline,
    ) -> FloatArray | None:
        """Return the originals of a column whose rows stand in a given order, or None."""

    @abstractmethod
    def _starts(
        self, knowledge: Knowledge, column: int, amplitude: float, step: float
    ) -> Iterator[tuple[int, FloatArray, FloatArray]]:
        """Yield rows, values and ranges from which an orbit may start."""


def _all_ranges(knowledge: Knowledge, column: int, amplitude: float, step: float) -> FloatArray:
    """Return the public range of the original column, or all ranges on the grid that the release allows."""
    released = knowledge.released[:, column]
    if knowledge.marginals is not None:
        quantiles = knowledge.marginals.quantiles[:, column]
        return np.array([quantiles[-1] - quantiles[0]])
    low, high = candidate_ranges(released, amplitude, step)
    if high - low > MOST_BLIND:  # a grid this fine does not narrow anything down
        return np.empty(0)
    return np.arange(low, high + 1, dtype=np.float64) * step


class KnownOrbit(_Orbit):
    """Follow the orbit from one known row: the range is tried on the grid until the next rows fit.

    Two known neighbours give the amplitude directly.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).integers(0, 500, size=(100, 1)).astype(float)
    >>> levels = [0.123]
    >>> for _ in range(99):
    ...     levels.append(4 * levels[-1] * (1 - levels[-1]))
    >>> released = table + 0.1 * (np.array(levels)[:, None] - 0.5) * np.ptp(table)
    >>> run_attack(KnownOrbit(), table, released, method="chaotic", known=1).rate
    1.0
    """

    entry = entry("orbit-known")

    def _ordered(
        self,
        knowledge: Knowledge,
        column: int,
        released: FloatArray,
        order: IntArray,
        amplitude: float,
        step: float,
        deadline: Deadline,
    ) -> FloatArray | None:
        assert knowledge.pairs is not None
        place = np.argsort(order)[knowledge.pairs.rows]
        known = dict(zip(place.tolist(), knowledge.pairs.values[:, column].tolist(), strict=True))
        ranges = _all_ranges(knowledge, column, amplitude, step)
        if slack_of(released, step) > ROUNDED and knowledge.marginals is not None:
            return track(
                released,
                known,
                rho=amplitude * float(ranges[0]),
                step=step,
                unit=2 * rounding_error(released),
                close=0.05 * float(knowledge.marginals.sd[column]),
                frequent=frequent_value(knowledge.marginals, column),
            )
        for row, value in known.items():
            if row + 1 in known:
                rho = rho_from_two_rows(released[row] - value, released[row + 1] - known[row + 1])
                solved, misses = follow(released, row, value, rho, step, deadline) if rho > 0 else (released, 1)
                if misses == 0:
                    return solved
        for row, value in known.items():
            deadline.check()
            solution = self._from_row(released, row, value, ranges, amplitude, step, deadline)
            if solution is not None:
                return solution
        return None

    @staticmethod
    def _from_row(
        released: FloatArray,
        row: int,
        value: float,
        ranges: FloatArray,
        amplitude: float,
        step: float,
        deadline: Deadline,
    ) -> FloatArray | None:
        for begin in range(0, ranges.size, CHUNK):
            deadline.check(CHUNK)
            part = ranges[begin : begin + CHUNK]
            if row + 4 < released.size:
                rho = search(released, row, np.full(part.size, value), part, amplitude, step)[0]
            elif part.size <= 20_000:
                rho = amplitude * part  # too few rows follow: every range is tried backwards
            else:
                rho = part[:0]
            for tried in rho.tolist():
                solved, misses = follow(released, row, value, tried, step, deadline)
                if misses == 0:
                    return solved
        return None

    def _starts(
        self, knowledge: Knowledge, column: int, amplitude: float, step: float
    ) -> Iterator[tuple[int, FloatArray, FloatArray]]:
        assert knowledge.pairs is not None
        ranges = _all_ranges(knowledge, column, amplitude, step)
        for row, values in zip(knowledge.pairs.rows.tolist(), knowledge.pairs.values, strict=True):
            yield row, np.full(ranges.size, values[column]), ranges


class BlindOrbit(_Orbit):
    """Find the orbit knowing nobody: range and first value are enumerated on the decimal grid.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).integers(0, 500, size=(100, 1)).astype(float)
    >>> levels = [0.123]
    >>> for _ in range(99):
    ...     levels.append(4 * levels[-1] * (1 - levels[-1]))
    >>> released = table + 0.1 * (np.array(levels)[:, None] - 0.5) * np.ptp(table)
    >>> run_attack(BlindOrbit(), table, released, method="chaotic").rate
    1.0
    """

    entry = entry("orbit")

    def _ordered(
        self,
        knowledge: Knowledge,
        column: int,
        released: FloatArray,
        order: IntArray,  # noqa: ARG002 - the same signature as with known rows
        amplitude: float,
        step: float,
        deadline: Deadline,
    ) -> FloatArray | None:
        for values, ranges in _blind_candidates(knowledge, column, float(released[0]), amplitude, step):
            deadline.check(2 * values.size)
            rho, value = search(released, 0, values, ranges, amplitude, step)
            for tried, first in zip(rho.tolist(), value.tolist(), strict=True):
                solved, misses = follow(released, 0, first, tried, step, deadline)
                if misses == 0:
                    return solved
        return None

    def _starts(
        self, knowledge: Knowledge, column: int, amplitude: float, step: float
    ) -> Iterator[tuple[int, FloatArray, FloatArray]]:
        first = float(knowledge.released[0, column])
        for values, ranges in _blind_candidates(knowledge, column, first, amplitude, step):
            yield 0, values, ranges


class RangedOrbit(BlindOrbit):
    """Find the orbit when the ranges of the columns are public: only one value is left to be tried.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).integers(0, 10**6, size=(100, 1)).astype(float)
    >>> levels = [0.123]
    >>> for _ in range(99):
    ...     levels.append(4 * levels[-1] * (1 - levels[-1]))
    >>> released = table + 0.1 * (np.array(levels)[:, None] - 0.5) * np.ptp(table)
    >>> run_attack(RangedOrbit(), table, released, method="chaotic").rate
    1.0
    """

    entry = entry("orbit-range")


def _blind_candidates(
    knowledge: Knowledge, column: int, first: float, amplitude: float, step: float
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield chunks of (value of the first row, range) on the grid; nothing when there are too many."""
    most = MOST_CURIOUS if knowledge.method is None else MOST_BLIND
    ranges = _all_ranges(knowledge, column, amplitude, step)
    half = amplitude * float(ranges[-1]) / 2 if ranges.size else 0.0
    low, high = np.ceil((first - half) / step), np.floor((first + half) / step)
    if not 0 < ranges.size * (high - low + 1) <= most:
        return
    values = np.arange(low, high + 1) * step
    rows = max(1, CHUNK // values.size)
    for begin in range(0, ranges.size, rows):
        part = ranges[begin : begin + rows]
        yield np.tile(values, part.size), np.repeat(part, values.size)
