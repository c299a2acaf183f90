"""The space of a search: every method with the parameters that its catalogue row says are worth trying."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from scipy.stats import qmc

from sfumato.perturb.catalogue import method, methods
from sfumato.perturb.catalogue.entries import Method
from sfumato.perturb.mechanism.parameters import Parameter, Span
from sfumato.tuning.settings import Setting

_POWER = 7  # 128 Sobol points for each method
_NEAR = 0.12  # half the width of the box around a candidate, as a share of each range


@dataclass(frozen=True)
class Candidate:
    """A point of the space.

    Attributes
    ----------
    method : str
    place : tuple of float
        One share from 0 to 1 for each searched parameter, those of a wrapped method last.
    """

    method: str
    place: tuple[float, ...]


def candidates(seed: int, names: Sequence[str] | None = None) -> Iterator[Candidate]:
    """Yield candidates, one of each method in turn, so that a search that ends early has seen all methods.

    Parameters
    ----------
    seed : int
        Scrambles the Sobol sequences.
    names : sequence of str, optional
        Ids or class names of the methods; None takes all.

    Examples
    --------
    >>> from itertools import islice
    >>> [one.method for one in islice(candidates(0, ["ina", "tdp", "cov"]), 5)]
    ['tdp', 'cov', 'ina', 'cov', 'ina']
    """
    chosen = None if names is None else {method(name).id for name in names}
    rows = [row for row in methods() if chosen is None or row.id in chosen]
    sequences = [(row.id, _points(row, seed, place)) for place, row in enumerate(rows)]
    for turn in range(2**_POWER):
        for name, points in sequences:
            if turn < len(points):
                yield Candidate(name, tuple(float(share) for share in points[turn]))


def _points(row: Method, seed: int, place: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the places to look at: the method's own defaults first, then a Sobol sequence."""
    points = _sobol(len(searched(row)), seed, place)
    if points.shape[1]:
        points = np.concatenate([[[_share_of_default(parameter) for parameter in searched(row)]], points])
    return points


def _share_of_default(parameter: Parameter) -> float:
    """Return where a default stands between the ends of its search; the middle where it is none of the values."""
    assert parameter.search is not None
    if not isinstance(parameter.search, Span):
        values = parameter.search.values
        return (values.index(parameter.default) + 0.5) / len(values) if parameter.default in values else 0.5
    if parameter.default is None:
        return 0.5
    low, high, value = parameter.search.low, parameter.search.high, float(parameter.default)
    if parameter.search.log:
        low, high, value = log(low), log(high), log(max(value, low))
    return min(1.0, max(0.0, (value - low) / (high - low)))


def _sobol(dimensions: int, seed: int, place: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    if not dimensions:
        return np.zeros((1, 0))  # nothing to search: one candidate
    generator = np.random.default_rng([seed, 31, place])
    points: np.ndarray[Any, np.dtype[np.float64]] = qmc.Sobol(dimensions, seed=generator).random_base2(_POWER)
    return points


def neighbours(candidate: Candidate, count: int, seed: int) -> list[Candidate]:
    """Return candidates in a small box around one, to look closer where it went well."""
    if not candidate.place:
        return []
    generator = np.random.default_rng([seed, 32])
    shifts = qmc.Sobol(len(candidate.place), seed=generator).random_base2(_POWER)[:count]
    moved = np.clip(np.asarray(candidate.place) + _NEAR * (2.0 * shifts - 1.0), 0.0, 1.0)
    near = [Candidate(candidate.method, tuple(float(share) for share in row)) for row in moved]
    if not any(row.draws_rows for row in methods() if row.id == candidate.method):
        return near
    # of a choice among few values many places are the same setting
    other = {setting_of(one).words: one for one in near}
    other.pop(setting_of(candidate).words, None)
    return list(other.values())


def searched(row: Method) -> list[Parameter]:
    """Return the parameters of a method that are searched, those of a wrapped method last."""
    own = [parameter for parameter in row.parameters if parameter.search is not None]
    return own + (searched(method(row.inner)) if row.wraps else [])


def setting_of(candidate: Candidate) -> Setting:
    """Return the setting of a candidate: shares become values, numbers rounded to three digits.

    Examples
    --------
    >>> setting_of(Candidate("mdav", (0.5, ))).parameters
    {'group_size': 12}
    """
    row = method(candidate.method)
    own = [parameter for parameter in row.parameters if parameter.search is not None]
    values = {parameter.name: _value(parameter, share) for parameter, share in zip(own, candidate.place, strict=False)}
    inner = None
    if row.wraps:
        inner = setting_of(Candidate(row.inner, candidate.place[len(own) :]))
    return Setting(candidate.method, values, "search", inner)


def _value(parameter: Parameter, share: float) -> Any:
    assert parameter.search is not None
    value = parameter.search.at(share)
    if isinstance(parameter.search, Span):
        return round(value) if parameter.kind == "integer" else float(f"{value:.3g}")
    return value
