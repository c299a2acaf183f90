"""Digits that go round as places go on: whatever multiple of a row's number was written, in whatever modulus.

A number that is counted up, down, in steps or in a congruence goes round a circle at one speed. Known rows tell the
speed: at it, and at no other, all of them point the same way (a peak of the periodogram). Digits of several columns may
each tell a part of the place.
"""

from __future__ import annotations

import numpy as np

from sfumato.attack.engine.knowledge import FloatArray, IntArray

_LOOKED_AT = (
    48  # known rows that tell the speed at first; they stand near one another, so that few speeds need be tried
)
_DOUBT = 12.0  # logarithm of how unlikely chance must be
_SHARP = 0.5  # most that the error may be of how much digits vary
_LEAST = 0.7  # share of the known rows' length that points the same way


def on_circle(digits: FloatArray) -> FloatArray:
    """Return digits as parts of a whole turn: from the least to one step beyond the largest.

    Parameters
    ----------
    digits : array of shape (n,)

    Examples
    --------
    >>> on_circle(np.array([0.2, 0.3, 0.4, 0.5])).round(6)
    array([0.  , 0.25, 0.5 , 0.75])
    """
    levels = len(np.unique(digits))
    width = float(np.ptp(digits)) * (1 + 1 / max(levels - 1, 1))
    return np.asarray((digits - digits.min()) / (width or 1.0))


def _apart(turns: FloatArray) -> FloatArray:
    """Return turns as the shorter way round."""
    return np.asarray(turns - np.round(turns))


def find_speed(turns: FloatArray, rows: IntArray, places: IntArray, *, tried: int) -> tuple[float, float, float] | None:
    """Return turns for each place, where place 0 stands, and the usual error, in turns; None if nothing goes round.

    Parameters
    ----------
    turns : array of shape (n,)
        Digits of all rows, of `on_circle`.
    rows : array of shape (m,)
        Known rows.
    places : array of shape (m,)
        Their places in the original file.
    tried : int
        How many digits are looked at in all: chance has as many more.

    Examples
    --------
    >>> places = np.random.default_rng(0).permutation(1000)[:60]
    >>> speed, start, error = find_speed((np.arange(1000) * 0.377 + 0.1) % 1, places, places, tried=1)
    >>> round(speed, 6), round(start, 6), error < 1e-9
    (0.377, 0.1, True)
    """
    order = np.argsort(places)
    rows, places = rows[order], places[order]
    first = max(0, (len(places) - _LOOKED_AT) // 2)
    near = slice(first, first + _LOOKED_AT)
    window = places[near] - places[near][0]
    arrows = np.exp(2j * np.pi * turns)
    arrows = arrows[rows[near]] - arrows.mean()
    length = float(np.linalg.norm(arrows))
    size = 1 << int(np.ceil(np.log2(4 * (window[-1] + 1))))
    if length < 1e-9:
        return None
    field = np.zeros(size, dtype=np.complex128)
    np.add.at(field, window, arrows)
    strength = np.abs(np.fft.fft(field)) / (length * np.sqrt(len(window)))
    peak = int(strength.argmax())
    if peak == 0 or strength[peak] < max(_LEAST, np.sqrt((np.log(size * tried) + _DOUBT) / len(window))):
        return None
    speed, start, held = peak / size, 0.0, turns[rows]
    # the speed is made sharper step by step, by known rows that stand farther and farther apart
    middle = places[first + len(window) // 2]
    reach = max(1, int(window[-1]))
    while True:
        inside = np.abs(places - middle) <= reach
        away = (places[inside] - middle).astype(np.float64)
        for _ in range(4):
            off = held[inside] - speed * away
            start = float(np.angle(np.exp(2j * np.pi * off).mean()) / (2 * np.pi))
            rest = _apart(off - start)
            sure = np.abs(rest) <= max(4 * float(np.median(np.abs(rest))), 1e-9)
            line = np.polyfit(away[sure], rest[sure], 1) if np.ptp(away[sure]) > 0 else np.zeros(2)
            speed, start = speed + float(line[0]), start + float(line[1])
        if inside.all():
            break
        reach *= 2
    error = _apart(held - speed * (places - middle) - start)
    usual = 1.4826 * float(np.median(np.abs(error)))
    still = float(np.median(np.abs(_apart(held - np.angle(np.exp(2j * np.pi * held).mean()) / (2 * np.pi)))))
    if usual > _SHARP * still:  # digits that hardly vary say as much of every place
        return None
    return speed % 1.0, float((start - speed * middle) % 1.0), max(usual, 1e-12)


def find_pitch(rows: IntArray, values: FloatArray, n_rows: int) -> float | None:
    """Return how many turns a row takes on which values of known rows go round; None if they do not.

    Parameters
    ----------
    rows : array of shape (m,)
        Known rows.
    values : array of shape (m,)
        What they hold: a wave or a saw of their number.
    n_rows : int
        Rows of the whole table.

    Examples
    --------
    >>> rows = np.random.default_rng(0).permutation(900)[:90]
    >>> round(find_pitch(rows, np.sin(0.5 * rows), 900) * 2 * np.pi, 4)
    0.5
    """
    around = values - values.mean()
    power = float((around**2).sum()) * len(rows) / 2
    if power <= 0:
        return None
    size = 1 << int(np.ceil(np.log2(8 * n_rows)))
    field = np.zeros(size)
    np.add.at(field, rows, around)
    strength = np.abs(np.fft.rfft(field)) ** 2 / power
    strength[0] = 0.0
    peak = int(strength.argmax())
    if strength[peak] < min(0.5, 2 * (np.log(size) + _DOUBT) / len(rows)):
        return None
    pitch, step = peak / size, 1.0 / size
    tried = pitch + step * np.linspace(-1, 1, 41)
    pitch = float(tried[np.abs(np.exp(-2j * np.pi * np.outer(tried, rows)) @ around).argmax()])
    for reach in (0.3, 0.01, 0.0003):  # turns at the last row: finer and finer, as neighbours on the circle agree
        tried = pitch + reach / n_rows * np.linspace(-1, 1, 61)
        pitch = float(tried[np.argmin([_uneven(rows * one % 1.0, values) for one in tried])])
    return pitch


def _uneven(turns: FloatArray, values: FloatArray) -> float:
    """Return how far values usually are from the line between their neighbours on the circle."""
    order = np.argsort(turns, kind="stable")
    at, held = turns[order], values[order]
    span = np.maximum(at[2:] - at[:-2], 1e-12)
    between = held[:-2] + (at[1:-1] - at[:-2]) / span * (held[2:] - held[:-2])
    return float(np.median(np.abs(held[1:-1] - between)))
