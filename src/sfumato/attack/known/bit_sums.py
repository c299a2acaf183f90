"""Sums of bits: an exclusive or of columns, a mask, a Gray code or bits in another order are undone by elimination."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.bits import SPARE, add_bits, bits_of, numbers_of, solve_sums, whole_units, width_of
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError
from sfumato.attack.engine.knowledge import BoolArray, FloatArray, Guess, IntArray, Knowledge, guess_values

_PAIRS = 24  # columns beyond which not each two are looked at


class BitSums(Attack):
    """Solve for the bits of each original column as sums, modulo 2, of released bits and of those of row numbers.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).integers(0, 500, size=(800, 3))
    >>> run_attack(BitSums(), table, table ^ 341 ^ np.arange(800)[:, None]).rate
    1.0
    """

    entry = entry("bit-sums")

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the columns all of whose bits are sums of released ones."""
        assert knowledge.pairs is not None
        rows, values = knowledge.pairs.rows, knowledge.pairs.values
        seen = _released_bits(knowledge.released)
        if not seen:
            raise NothingFoundError("no released column stands on a grid")
        numbers = bits_of(np.arange(knowledge.n_rows), max(1, int(knowledge.n_rows - 1).bit_length()))
        guess = np.full((knowledge.targets.size, knowledge.n_columns), np.nan)
        told = 0
        for j, column in enumerate(values.T):
            units = whole_units(column)
            if units is None or np.ptp(column) == 0:
                continue
            for bits in _sets(seen, j, numbers, len(rows)):
                deadline.check(bits.shape[1] * len(rows))
                found = _read(units[0], bits, rows, knowledge.targets)
                if found is not None:
                    told += 1
                    guess[:, j] = found / float(units[1]) ** units[2]
                    break
        if not told:
            raise NothingFoundError("no column is a sum of bits")
        return guess_values(guess, note=f"{told} of {knowledge.n_columns} columns are sums of bits")


def _released_bits(released: FloatArray) -> dict[int, BoolArray]:
    """Return the bits of each released column that stands on a grid, by its number."""
    units = {k: whole_units(column) for k, column in enumerate(released.T) if np.ptp(column) > 0}
    return {k: bits_of(one[0], width_of(one[0])) for k, one in units.items() if one is not None}


def _sets(seen: dict[int, BoolArray], j: int, numbers: BoolArray, known: int) -> Iterator[BoolArray]:
    """Yield bits to be tried for an original column: all at once if enough rows are known, else of few columns."""
    every = np.column_stack([*seen.values(), numbers])
    if every.shape[1] + 1 + SPARE <= known:
        yield every
        return
    of = [*([j] if j in seen else []), *(k for k in seen if k != j)]
    if len(of) > _PAIRS:
        of = of[:1]
    own = seen[of[0]]
    yield np.column_stack([own, numbers])
    for k in of[1:]:
        yield seen[k]
        yield np.column_stack([own, seen[k]])


def _read(hidden: IntArray, bits: BoolArray, rows: IntArray, targets: IntArray) -> FloatArray | None:
    """Return what the sums say of the target rows; None if the largest bits are none.

    Bits below those that are sums count as half of what they may be.
    """
    width, signed = width_of(hidden), bool(hidden.min() < 0)
    solved = solve_sums(bits[rows], bits_of(hidden, width))
    if solved is None or not solved[1][-1]:
        return None
    weights, sure = solved
    low = int(np.flatnonzero(~sure).max(initial=-1)) + 1  # bits from here on are all known
    if width - low < 1 or not weights[:-1, low:].any():
        return None
    read = numbers_of(add_bits(bits[targets], weights[:, low:]), signed=signed)
    return np.asarray(read * 2.0**low + (2.0**low - 1) / 2)
