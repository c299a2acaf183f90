"""Codes of row numbers: polynomials in some modulus, and sums of bits.

Whoever knows the places of some rows and a number that each released row holds tries what numbers are made of places:
squares and cubes in a congruence whose modulus lies just above the largest number, or sums of the bits of the place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import gcd

import numpy as np

from sfumato.attack.engine.bits import add_bits, bits_of, solve_sums, whole_units, width_of
from sfumato.attack.engine.interface import Deadline
from sfumato.attack.engine.knowledge import BoolArray, FloatArray, IntArray

_DEGREES = (2, 3)  # a line goes round, which is looked for elsewhere
_FEWEST = 12  # known rows that check a polynomial
_MODULI = 600  # that are tried
_TRIED, _DRAWN = 12, 400  # sets of known rows from which a polynomial is solved, and that are drawn to choose from
_BRANCHES = 4  # solutions of one division that are tried
_AGREE = 0.9  # share of the known rows that a polynomial must tell
_LEAST = 20  # different codes: fewer tell kinds of rows
_LARGEST = 1 << 31  # products stay exact


def codes_of(column: FloatArray) -> Iterator[IntArray]:
    """Yield the whole numbers that a column may hold in the digits behind each place.

    Parameters
    ----------
    column : array of shape (n,)

    Examples
    --------
    >>> [codes.tolist() for codes in codes_of(np.array([1.25, 3.5] * 10))][0][:2]
    [125, 350]
    """
    units = whole_units(column)
    if units is None:
        return
    whole, base, _ = units
    if np.abs(whole).max() < _LARGEST:
        yield whole
    size = base
    while size <= 2 * int(np.abs(whole).max()):
        if _LEAST <= size < _LARGEST:
            yield whole % size
        size *= base


def code_of_places(
    codes: IntArray, rows: IntArray, places: IntArray, deadline: Deadline
) -> Callable[[IntArray], IntArray] | None:
    """Return what a place becomes, if codes of rows are made of places; None if they are not.

    Parameters
    ----------
    codes : array of shape (n,)
        A number of every row.
    rows, places : arrays of shape (m,)
        Known rows, and their places in the original file.
    deadline : Deadline

    Examples
    --------
    >>> places = np.arange(300)
    >>> code = code_of_places(places**2 % 1009, places[::7], places[::7], Deadline())
    >>> code(np.array([5, 40])).tolist()
    [25, 591]
    """
    if len(np.unique(codes)) < min(_LEAST, len(codes)) or len(rows) < _FEWEST:
        return None
    known = codes[rows]
    found = _polynomial(known, places, int(codes.min()), int(codes.max()), deadline)
    if found is not None:
        return found
    width, wide = width_of(codes), max(1, int(len(codes) - 1).bit_length())
    deadline.check(len(rows) * (width + wide))
    solved = solve_sums(bits_of(places, wide), bits_of(known, width))
    if solved is None or not solved[1].all() or not solved[0][:-1].any(axis=1).sum() >= wide // 2:
        return None
    weights = solved[0]
    return lambda asked: np.asarray(add_bits(bits_of(asked, wide), weights) @ (1 << np.arange(width)))


def places_of_bits(bits: BoolArray, rows: IntArray, places: IntArray) -> tuple[BoolArray, BoolArray] | None:
    """Return the bits of every row's place that are sums of some bits, and which those are; None if there are none.

    Parameters
    ----------
    bits : array of shape (n, f)
        Whatever has two values in the release.
    rows, places : arrays of shape (m,)
        Known rows, and their places in the original file.
    """
    wide = max(1, int(len(bits) - 1).bit_length())
    varies = bits.any(axis=0) & ~bits.all(axis=0)
    if not varies.any():
        return None
    bits = bits[:, varies]
    solved = solve_sums(bits[rows], bits_of(places, wide))
    if solved is None:
        return None
    weights, sure = solved
    sure &= weights[:-1].any(axis=0)
    return (add_bits(bits, weights[:, sure]), sure) if sure.any() else None


def _polynomial(
    known: IntArray, places: IntArray, low: int, high: int, deadline: Deadline
) -> Callable[[IntArray], IntArray] | None:
    if low < 0:
        return None
    gap = max(8, 12 * (high - low + 1) // max(1, len(known)))  # how far the modulus may lie above the largest code
    near = np.arange(high + 1, high + 1 + min(gap, _MODULI), dtype=np.int64)
    round_ones = [base**k for base in (2, 10) for k in range(1, 31) if high < base**k < min(8 * (high + 1), _LARGEST)]
    moduli = np.concatenate([near, np.array(round_ones, dtype=np.int64)])
    for degree in _DEGREES:
        if len(known) < degree + 1 + _FEWEST:
            continue
        deadline.check(len(moduli) * _TRIED * (degree + 1) ** 3)
        sets = _points(places, degree + 1)
        for modulus in moduli.tolist():
            found = next(filter(None, (_solved(known[some], places[some], modulus) for some in sets)), [])
            for weights in found:
                if (_values(weights, modulus, places) == known).mean() >= _AGREE:
                    return partial(_values, weights, modulus)
    return None


def _values(weights: tuple[int, ...], modulus: int, places: IntArray) -> IntArray:
    total = np.zeros(len(places), dtype=np.int64)
    for weight in weights[::-1]:
        total = (total * (places % modulus) + weight) % modulus
    return total


def _points(places: IntArray, many: int) -> list[IntArray]:
    """Return sets of so many known rows from which a polynomial may be solved.

    In an even modulus only odd numbers have an inverse: of neighbours in a set one is even, one odd, and those next to
    neighbours are two apart in the remainder by four, which leaves few solutions to be tried.
    """
    draw = np.random.default_rng([len(places), 71])
    sets = [draw.permutation(len(places))[:many] for _ in range(_DRAWN)]
    wanted = (np.arange(many) % 4).tolist()
    good = [some for some in sets if ((places[some] - places[some[0]]) % 4).tolist() == wanted]
    return [*good[: _TRIED // 2], *sets[: _TRIED // 2]]


def _solved(codes: IntArray, places: IntArray, modulus: int) -> list[tuple[int, ...]]:
    """Return the weights of polynomials through some points in a modulus (Newton's form)."""
    points = [int(place) % modulus for place in places]
    every = [[int(code) for code in codes]]
    n = len(points)
    for level in range(1, n):
        for i in range(n - 1, level - 1, -1):
            step = (points[i] - points[i - level]) % modulus
            common = gcd(step, modulus)
            if common > _BRANCHES:
                return []
            part = modulus // common
            inverse = pow(step // common, -1, part) if part > 1 else 0
            more = []
            for one in every:
                rise = (one[i] - one[i - 1]) % modulus
                if rise % common == 0:
                    least = rise // common * inverse % part
                    more += [[*one[:i], least + turn * part, *one[i + 1 :]] for turn in range(common)]
            every = more
    return [_powers(one, points, modulus) for one in every]


def _powers(ordinates: list[int], points: list[int], modulus: int) -> tuple[int, ...]:
    """Return the weights of powers of a polynomial in Newton's form."""
    weights = [ordinates[-1]]
    for i in range(len(points) - 2, -1, -1):
        shifted = [0, *weights]
        for power, weight in enumerate(weights):
            shifted[power] = (shifted[power] - points[i] * weight) % modulus
        shifted[0] = (shifted[0] + ordinates[i]) % modulus
        weights = shifted
    return tuple(weight % modulus for weight in weights)
