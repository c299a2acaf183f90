"""A small language of transforms: what a release may have done to cells or rows before or after a linear step.

Attacks try each word of it and keep the one that known people agree with, so that "nonlinear, then linear" needs no
attack of its own. A word on the side of the original must be undone again; one on the side of the release need not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from sfumato.attack.engine.knowledge import FloatArray, Marginals
from sfumato.attack.public.quantile_mapping import rank_levels

WIDE = 24  # columns beyond which trees of nearest rows are no faster than looking at all
_EDGE = 1e-4  # levels nearer to 0 and 1 have no finite score worth speaking of


@dataclass(frozen=True)
class Word:
    """One way of writing the cells of a column anew, and the way back.

    Parameters
    ----------
    name : str
        In words, for the note of an attack.
    there, back : callable
        Take a column and the number of its place in the table.
    ranked : bool
        Whether it depends on ranks: they are seen again in the order of the guesses. Default: False.
    """

    name: str
    there: Callable[[FloatArray, int], FloatArray]
    back: Callable[[FloatArray, int], FloatArray]
    ranked: bool = False


def _power(name: str, exponent: float, offset: float) -> Word:
    """Return a power of a column, or its logarithm for 0."""

    def there(column: FloatArray, _: int) -> FloatArray:
        moved = column + offset
        moved = np.where(moved > 0, moved, 0.0 if exponent > 0 else np.nan)
        return np.log(moved) if exponent == 0 else moved**exponent

    def back(column: FloatArray, _: int) -> FloatArray:
        if exponent == 0:
            return np.exp(np.minimum(column, 700.0)) - offset
        return np.maximum(column, 0.0) ** (1 / exponent) - offset

    return Word(name, there, back)


_POWERS = (
    ("logarithm", 0.0, 0.0),
    ("square root", 0.5, 0.0),
    ("cube root", 1 / 3, 0.0),
    ("fourth root", 0.25, 0.0),
    ("square", 2.0, 0.0),
    ("cube", 3.0, 0.0),
    ("reciprocal", -1.0, 0.0),
    ("reciprocal root", -0.5, 0.0),
    ("logarithm of one more", 0.0, 1.0),
    ("reciprocal of one more", -1.0, 1.0),
    ("root of one more", 0.5, 1.0),
)


def words_of_originals(public: Marginals | None) -> tuple[Word, ...]:
    """Return what may have been done to the cells of an original, with the way back.

    Parameters
    ----------
    public : Marginals or None
        Public quantiles, without which ranks mean nothing.

    Examples
    --------
    >>> root = next(word for word in words_of_originals(None) if word.name == "square root")
    >>> root.back(root.there(np.array([9.0]), 0), 0)
    array([9.])
    """
    words = [Word("as it is", lambda column, _: column, lambda column, _: column)]
    words += [_power(*one) for one in _POWERS]
    words += [
        Word("exponential", lambda c, _: np.exp(np.minimum(c, 700)), lambda c, _: np.log(np.maximum(c, 1e-300))),
        Word("inverse hyperbolic sine", lambda c, _: np.arcsinh(c), lambda c, _: np.sinh(np.clip(c, -700, 700))),
    ]
    if public is None:
        return tuple(words)

    def level(column: FloatArray, j: int) -> FloatArray:
        levels, quantiles = public.levels, public.quantiles[:, j]
        below = np.interp(column, quantiles, levels)
        values, first = np.unique(quantiles, return_index=True)
        if len(values) == len(quantiles):
            return below
        last = len(quantiles) - 1 - np.unique(quantiles[::-1], return_index=True)[1]
        return np.interp(column, values, (levels[first] + levels[last]) / 2)  # ties stand in the middle of their span

    def value(levels: FloatArray, j: int) -> FloatArray:
        return np.interp(levels, public.levels, public.quantiles[:, j])

    def scored(column: FloatArray, j: int) -> FloatArray:
        return np.asarray(ndtri(np.clip(level(column, j), _EDGE, 1 - _EDGE)))

    unit = np.where(public.sd > 0, public.sd, 1.0)
    for name, there, back in (
        ("cube root of scores", np.cbrt, lambda c: c**3),
        ("cube of scores", lambda c: c**3, np.cbrt),
        ("bent score", np.tanh, lambda c: np.arctanh(np.clip(c, -1 + 1e-12, 1 - 1e-12))),
        ("logistic score", lambda c: np.tanh(c / 2), lambda c: 2 * np.arctanh(np.clip(c, -1 + 1e-12, 1 - 1e-12))),
        ("hyperbolic score", np.arcsinh, lambda c: np.sinh(np.clip(c, -700, 700))),
        ("exponential of scores", lambda c: np.exp(np.minimum(c, 700)), lambda c: np.log(np.maximum(c, 1e-300))),
    ):
        words.append(
            Word(
                name,
                lambda c, j, there=there: there((c - public.mean[j]) / unit[j]),  # type: ignore[misc]
                lambda c, j, back=back: back(c) * unit[j] + public.mean[j],  # type: ignore[misc]
            )
        )
    words.append(Word("rank", level, value, ranked=True))
    words.append(Word("normal score", scored, lambda c, j: value(np.asarray(ndtr(c)), j), ranked=True))
    for name, bent, straight in (
        ("bent normal score", np.tanh, lambda c: np.arctanh(np.clip(c, -1 + 1e-12, 1 - 1e-12))),
        ("cubed normal score", lambda c: c**3, np.cbrt),
    ):
        words.append(
            Word(
                name,
                lambda c, j, bent=bent: bent(scored(c, j)),  # type: ignore[misc]
                lambda c, j, straight=straight: value(np.asarray(ndtr(straight(c))), j),  # type: ignore[misc]
                ranked=True,
            )
        )
    return tuple(words)


def words_of_releases(released: FloatArray) -> dict[str, FloatArray]:
    """Return a release written anew in every way that its values allow.

    Parameters
    ----------
    released : array of shape (n, e)
        The release.

    Examples
    --------
    >>> sorted(words_of_releases(np.array([[1.0], [2.0]])))[:2]
    ['as it is', 'cube']
    """
    low, high = released.min(axis=0), released.max(axis=0)
    told = {"as it is": released, "cube": released**3, "sinh": np.sinh(np.clip(released, -50, 50))}
    told["cube root"], told["differences of rows"] = np.cbrt(released), np.diff(released, axis=0, prepend=0.0)
    levels = np.column_stack([rank_levels(column) for column in released.T])
    told["normal score"] = np.asarray(ndtri(np.clip(levels, 0.5 / len(released), 1 - 0.5 / len(released))))
    if (np.abs(released) < 1).all():
        told["inverse tangent"] = np.arctanh(released)
    if (low > 0).all():
        told["logarithm"], told["reciprocal"] = np.log(released), 1 / released
        if (high < 1).all():
            told["logit"] = np.log(released / (1 - released))
    if (low >= 0).all():
        told["square"], told["square root"] = released**2, np.sqrt(released)
    return {name: table for name, table in told.items() if np.isfinite(table).all()}


def unit_rows(table: FloatArray) -> FloatArray:
    """Return every row at length 1, on the side on which its sum is positive: its direction, whatever its factor.

    Parameters
    ----------
    table : array of shape (n, d)
        Rows.

    Examples
    --------
    >>> unit_rows(np.array([[-3.0, -4.0]]))
    array([[0.6, 0.8]])
    """
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    side = np.where(table.sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    return np.asarray(side * table / np.where(lengths > 0, lengths, 1.0))


def own_scale(table: FloatArray) -> FloatArray:
    """Return a table in its own standard deviations from its own means.

    Parameters
    ----------
    table : array of shape (n, d)
        Rows.

    Examples
    --------
    >>> own_scale(np.array([[1.0], [3.0]])).ravel()
    array([-1.,  1.])
    """
    spread = table.std(axis=0)
    return np.asarray((table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def unit_logs(table: FloatArray) -> FloatArray:
    """Return the direction of every row's logarithms: what it is, whatever power its cells were raised to.

    Parameters
    ----------
    table : array of shape (n, d)
        Rows.

    Examples
    --------
    >>> bool(np.allclose(unit_logs(np.array([[2.0, 3.0]])), unit_logs(np.array([[4.0, 9.0]]))))
    True
    """
    return unit_rows(np.log(table)) if (table > 0).all() else np.full(table.shape, np.nan)


def from_row_means(table: FloatArray) -> FloatArray:
    """Return every row from its own mean: what it is, whatever was added to all of its cells.

    Parameters
    ----------
    table : array of shape (n, d)
        Rows.

    Examples
    --------
    >>> from_row_means(np.array([[1.0, 3.0]]))
    array([[-1.,  1.]])
    """
    return np.asarray(table - table.mean(axis=1, keepdims=True))


def narrowed(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return two tables on the same few random directions where they are wide: who is near stays near.

    Parameters
    ----------
    first, second : arrays of shapes (n, d) and (m, d)
        Rows in one space.

    Examples
    --------
    >>> narrowed(np.ones((3, 100)), np.ones((2, 100)))[1].shape
    (2, 24)
    """
    d = first.shape[1]
    if d <= WIDE:
        return first, second
    directions = np.random.default_rng([d, 55]).normal(size=(d, WIDE)) / np.sqrt(d)
    return np.asarray(first @ directions), np.asarray(second @ directions)


def _level(column: FloatArray) -> FloatArray:
    """Return roughly the share of a column below each value: exact ranks are the same numbers in every table."""
    levels = np.linspace(0.0, 1.0, 21)
    values, first = np.unique(np.quantile(column, levels), return_index=True)
    return np.interp(column, values, levels[first]) if len(values) > 1 else np.zeros(len(column))


#: ways of looking at rows that need no other table: each undoes what a release may have done to all of its rows
ROW_VIEWS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "own scale": own_scale,
    "ranks": lambda table: np.column_stack([_level(column) for column in table.T]),
    "size": lambda table: np.abs(own_scale(table)),
    "size from the middle": lambda table: own_scale(np.abs(table - np.median(table, axis=0))),
    "direction": unit_rows,
    "direction of logarithms": unit_logs,
    "sorted cells": lambda table: np.sort(table, axis=1),
    "sorted scaled cells": lambda table: np.sort(own_scale(table), axis=1),
    "cells from the row's mean": from_row_means,
    "direction of sorted cells": lambda table: unit_rows(np.sort(table, axis=1)),
}
