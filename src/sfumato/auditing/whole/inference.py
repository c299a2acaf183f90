"""Telling a category from a person's other columns with the release, beside people who are not in it.

The people are split in two. The attacker holds the release of one half; the other half is not in it and is the control:
what works as well there is knowledge about people in general. Then the halves change places.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from sfumato._arrays import Flags, Floats, Integers
from sfumato.frames.whole import WholeRows

_PEOPLE = 500  # of each half
_ROWS = 20_000
_CELLS = 2_000_000
_DOUBT = 0.025  # of a false alarm, over all columns together


@dataclass(frozen=True)
class Inferred:
    """How well one column of categories is told from all others.

    Attributes
    ----------
    column : str
    rate, control : float
        Share told right of the people in the release, and of people who are not in it.
    lift, lift_low : float
        (rate - control) / (1 - control), and a lower bound that holds for all columns at once.
    """

    column: str
    rate: float
    control: float
    lift: float
    lift_low: float


def measure_inference(rows: WholeRows, *, seed: int = 0) -> tuple[Inferred, ...]:
    """Tell every category of a person from the nearest released row in all other columns (Gower's distance).

    Columns that are kept are public and need not be told; they must agree wherever a released row has them. At most
    500 people of each half are asked about, against at most 20,000 released rows.

    Parameters
    ----------
    rows : WholeRows
        Row by row the same people.
    seed : int
        Splits the people. Default: 0.
    """
    asked = [j for j, kind in enumerate(rows.kinds) if kind == "category" and not rows.kept[j]]
    asked = [j for j in asked if rows.original[:, j].max() > rows.original[:, j].min()]
    if not asked or len(rows.kinds) < 2 or len(rows.original) < 8:
        return ()
    order = np.random.default_rng([seed, 13]).permutation(len(rows.original))
    halves = order[: len(order) // 2][:_ROWS], order[len(order) // 2 :][:_ROWS]
    size = min(_PEOPLE, *map(len, halves))
    span = np.ptp(rows.original, axis=0)
    scale = np.where(span > 0, span, 1.0)
    exact = np.array(rows.categories) | np.array(rows.kept)
    weight = np.where(rows.kept, 4.0 * len(exact), 1.0)
    hits = np.zeros((2, len(asked), 2 * size), dtype=np.bool_)
    chosen = np.zeros((2, len(asked), 2 * size), dtype=np.int64)
    for turn, held in enumerate(halves):  # each half is held once, and is strangers once
        view = rows.released[held]
        step = max(1, _CELLS // len(view))
        for which, people in enumerate((held, halves[1 - turn])):
            for begin in range(0, size, step):
                some = rows.original[people[begin : min(begin + step, size)]]
                told = _nearest_others(some, view, asked, exact, scale, weight)
                part = slice(turn * size + begin, turn * size + begin + len(some))
                for place, j in enumerate(asked):
                    hits[which, place, part] = view[told[place], j] == some[:, j]
                    chosen[which, place, part] = told[place] + turn * _ROWS
    z = NormalDist().inv_cdf(1 - _DOUBT / len(asked))
    return tuple(_inferred(rows.names[j], hits[:, place], chosen[:, place], z) for place, j in enumerate(asked))


def _nearest_others(
    people: Floats, view: Floats, asked: list[int], exact: np.ndarray, scale: Floats, weight: Floats
) -> list[Integers]:
    """Return for every asked column the nearest row to each person in all other columns."""

    def distance(j: int) -> Floats:
        if exact[j]:
            return np.asarray(weight[j] * (people[:, j][:, None] != view[:, j]), dtype=np.float64)
        return np.asarray(np.abs(people[:, j][:, None] - view[:, j]) / scale[j], dtype=np.float64)

    total = np.zeros((len(people), len(view)))
    for j in range(people.shape[1]):
        total += distance(j)
    return [(total - distance(j)).argmin(axis=1) for j in asked]


def _inferred(name: str, hits: Flags, chosen: Integers, z: float) -> Inferred:
    """Return the figures of one column.

    People who are told from the same released row are right or wrong together, so rows and not people are counted.
    """
    rate, control = (float(one.mean()) for one in hits)
    doubt = 0.0
    for right, row in zip(hits, chosen, strict=True):
        apart = np.bincount(row, weights=right - right.mean())
        doubt += float((apart**2).sum()) / right.size**2 + 0.25 / right.size**2
    room = max(1.0 - control, 1e-9)
    low = rate - control - z * float(np.sqrt(doubt))
    return Inferred(name, rate, control, (rate - control) / room, low / room)
