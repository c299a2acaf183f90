"""Codes of row numbers: polynomials in some modulus, steps of a generator, and sums of bits.

Whoever knows the places of some rows and a number that each released row holds tries what numbers are made of places:
powers of the place in a congruence; what a few rows further on is made of a number, as powers of a number or generators
of random numbers go from one to the next; or sums of the bits of the place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import gcd

import numpy as np

from sfumato.attack.engine.bits import add_bits, bits_of, solve_sums, whole_units, width_of
from sfumato.attack.engine.congruences import Cancelled, binomials
from sfumato.attack.engine.interface import Deadline
from sfumato.attack.engine.knowledge import BoolArray, FloatArray, IntArray

_DEGREE = 3  # of polynomials; a line goes round, which is looked for elsewhere, too
_STEPS = range(1, 9)  # rows from which to which a generator is looked for
_BEGUN = 6  # known rows from which it is followed
_AGREE = 0.9  # share of the known rows that it must tell
_FEWEST = 12  # known rows that check a code
_LEAST = 20  # different codes: fewer tell kinds of rows
_LARGEST = 1 << 40

Told = tuple[IntArray, Callable[[IntArray], IntArray]]


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


def code_of_places(codes: IntArray, rows: IntArray, places: IntArray, deadline: Deadline) -> Told | None:
    """Return codes of all rows, and what a place becomes, if codes are made of places; None if they are not.

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
    >>> there, code = code_of_places(places**2 % 1009, places[::7], places[::7], Deadline())
    >>> bool((there == code(places)).all())
    True
    """
    if len(np.unique(codes)) < min(_LEAST, len(codes)) or len(rows) < _FEWEST:
        return None
    known = codes[rows]
    width, wide = width_of(codes), max(1, int(len(codes) - 1).bit_length())
    deadline.check(len(rows) * (width + wide) + len(codes))
    found = Cancelled(binomials(places, _DEGREE)).congruence(known, _LEAST)
    told = _generator(codes, known, places)
    if found is not None:
        polynomial, there = found, found.written(codes)
        if told is None or len(np.unique(there)) >= len(np.unique(told[0])):  # one may say a part of the other
            told = there, lambda asked: polynomial.of(binomials(asked, _DEGREE))
    if told is not None:
        return told
    solved = solve_sums(bits_of(places, wide), bits_of(known, width))
    if solved is None or not solved[1].all() or not solved[0][:-1].any(axis=1).sum() >= wide // 2:
        return None
    weights = solved[0]
    return codes, lambda asked: np.asarray(add_bits(bits_of(asked, wide), weights) @ (1 << np.arange(width)))


def _generator(codes: IntArray, known: IntArray, places: IntArray) -> Told | None:
    """Return codes that known rows show to be made from that of an earlier place, and those of all places."""
    order = np.argsort(places)
    places, known = places[order], known[order]
    for step in _STEPS:
        at = np.searchsorted(places, places + step).clip(0, len(places) - 1)
        has = places[at] == places + step
        if has.sum() < 5:
            continue
        found = Cancelled(known[has][:, None]).congruence(known[at[has]], _LEAST)
        if found is None or found.unit != 1:
            continue
        more, size = found.weights[1] + found.start, max(len(codes), int(places[-1]) + 1)
        every = np.full(size, -1, dtype=np.int64)
        for first in range(step):
            mine = np.flatnonzero(places % step == first)
            chains = [
                _chain(places[one], known[one], size, step, (found.modulus, found.weights[0], more))
                for one in mine[:_BEGUN]
            ]
            if chains:  # a known row may be changed by something else: the chain that most others agree with
                agree = [(chain[places[mine]] == known[mine] % found.modulus).sum() for chain in chains]
                every = np.maximum(every, chains[int(np.argmax(agree))])
        if (every[places] == known % found.modulus).mean() >= _AGREE:  # a chain that errs now and then is soon lost
            return codes % found.modulus, lambda asked, every=every: every[asked]
    return None


def _chain(place: int, code: int, size: int, step: int, law: tuple[int, int, int]) -> IntArray:
    """Return the codes of places that are so many steps before or behind one; -1 for all others."""
    modulus, factor, more = law
    chain = np.full(size, -1, dtype=np.int64)
    chain[place] = last = int(code) % modulus
    for after in range(int(place) + step, size, step):
        chain[after] = last = (factor * last + more) % modulus
    if gcd(factor, modulus) == 1:
        back, last = pow(factor, -1, modulus), int(code) % modulus
        for before in range(int(place) - step, -1, -step):
            chain[before] = last = (last - more) * back % modulus
    return chain


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
