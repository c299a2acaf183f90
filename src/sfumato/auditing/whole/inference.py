"""Telling a category from a person's other columns with the release, beside people who are not in it.

The people are split in two. The attacker holds the release of the first half; the second half is not in it and is the
control: what works as well there is knowledge about people in general.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from sfumato._arrays import Floats, Integers
from sfumato.frames.whole import WholeRows

_PEOPLE = 1_000
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
    1,000 people of each half are asked about, against at most 20,000 released rows.

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
    generator = np.random.default_rng([seed, 13])
    order = generator.permutation(len(rows.original))
    half = len(order) // 2
    held = order[:half][:_ROWS]
    groups = [order[:half][: min(_PEOPLE, len(held))], order[half:][: min(_PEOPLE, len(held))]]
    span = np.ptp(rows.original, axis=0)
    scale = np.where(span > 0, span, 1.0)
    exact = np.array(rows.categories) | np.array(rows.kept)
    weight = np.where(rows.kept, 4.0 * len(exact), 1.0)
    view = rows.released[held]
    hits = np.zeros((2, len(asked), max(map(len, groups))), dtype=np.bool_)
    for which, people in enumerate(groups):
        size = max(1, _CELLS // len(view))
        for begin in range(0, len(people), size):
            some = rows.original[people[begin : begin + size]]
            told = _nearest_others(some, view, asked, exact, scale, weight)
            for place, j in enumerate(asked):
                hits[which, place, begin : begin + len(some)] = view[told[place], j] == some[:, j]
    z = NormalDist().inv_cdf(1 - _DOUBT / len(asked))
    counts = [len(people) for people in groups]
    found = []
    for place, j in enumerate(asked):
        rate, control = (float(hits[group, place, : counts[group]].mean()) for group in (0, 1))
        found.append(_inferred(rows.names[j], rate, control, counts[0], z))
    return tuple(found)


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


def _inferred(name: str, rate: float, control: float, people: int, z: float) -> Inferred:
    doubt = z * np.sqrt((rate * (1 - rate) + control * (1 - control) + 0.5 / people) / people)
    room = max(1.0 - control, 1e-9)
    return Inferred(name, rate, control, (rate - control) / room, float(rate - control - doubt) / room)
