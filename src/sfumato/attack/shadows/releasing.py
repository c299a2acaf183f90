"""Releases of an attacker's own: the method is public, so whoever has a similar table can try it out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from sfumato.attack.engine.knowledge import FloatArray, IntArray
from sfumato.core.numbers import number_table
from sfumato.exceptions import ParameterError

Releasing = Callable[[FloatArray, int], FloatArray]

FEWEST_FAR = 10
_SHARE = 0.01


def releasing(method: Any) -> Releasing:
    """Return a function of a table and a number that releases the table with a key of that number.

    Parameters
    ----------
    method : perturber or callable
        A perturber is copied, its own key is never used. A callable takes a table and a number, and returns a release.

    Examples
    --------
    >>> releasing(lambda table, number: table + number)(np.ones((1, 1)), 2)
    array([[3.]])
    """
    if not hasattr(method, "fit_transform"):
        if not callable(method):
            raise ParameterError(
                f"method must be a perturber or a function, got {type(method).__name__}",
                hint="for instance sf.perturb.AtomMixing(), or lambda table, number: ...",
            )
        return lambda table, number: np.asarray(method(table, number), dtype=np.float64)

    def release(table: FloatArray, number: int) -> FloatArray:
        from sklearn.base import clone

        made = clone(method).set_params(key=None, insecure_seed=number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a seed is none for real releases, and the like
            return number_table(made.fit_transform(np.array(table)), "release", finite=False)

    return release


def standardised(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a table in standard deviations from its mean, and the deviations (1 for constant columns)."""
    spread = table.std(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    return (table - table.mean(axis=0)) / unit, unit


def lengths_of(table: FloatArray) -> FloatArray:
    """Return the squared distance of every row from the mean, in standard deviations."""
    squares: FloatArray = np.round((standardised(table)[0] ** 2).sum(axis=1), 9)
    return squares


def choose_people(table: FloatArray, most: int, seed: int) -> tuple[IntArray, IntArray]:
    """Return some people, and which of them are the farthest from the middle: one in a hundred, ten to half of them.

    Parameters
    ----------
    table : array of shape (n, d)
    most : int
        How many people, the farthest included.
    seed : int
        Draws the others.

    Examples
    --------
    >>> table = np.random.default_rng(0).normal(size=(200, 2))
    >>> people, far = choose_people(table, 30, 0)
    >>> len(people), len(far)
    (30, 10)
    """
    far = np.argsort(-lengths_of(table), kind="stable")[
        : min((most + 1) // 2, max(FEWEST_FAR, int(_SHARE * len(table))))
    ]
    others = np.setdiff1d(np.arange(len(table)), far)
    drawn = np.random.default_rng([seed, 61]).permutation(others)[: most - len(far)]
    return np.concatenate([far, np.sort(drawn)]), np.arange(len(far))
