"""The law of a method's noise, as far as it follows from the public description and the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sfumato.attack.engine.knowledge import FloatArray, Knowledge

Kind = Literal["normal", "uniform", "arcsine", "laplace"]
_SQRT_3 = float(np.sqrt(3.0))


@dataclass(frozen=True, eq=False)
class NoiseLaw:
    """Additive noise: its shape, its size per column and its covariance.

    Parameters
    ----------
    kind : {'normal', 'uniform', 'arcsine', 'laplace'}
        Shape.
    sd : array of shape (d,)
        Standard deviation per column.
    bound : array of shape (d,) or None
        Largest possible absolute value per column; None for unbounded noise.
    covariance : array of shape (d, d)
        Covariance of the noise.

    All of them tell of some columns, if no others were asked for.
    """

    kind: Kind
    sd: FloatArray
    bound: FloatArray | None
    covariance: FloatArray

    def in_units_of(self, unit: FloatArray) -> NoiseLaw:
        """Return the law of the noise divided by a unit per column.

        Parameters
        ----------
        unit : array of shape (d,)
            Positive.

        Returns
        -------
        NoiseLaw
            The same law, other units.
        """
        bound = None if self.bound is None else self.bound / unit
        return NoiseLaw(self.kind, self.sd / unit, bound, self.covariance / np.outer(unit, unit))


def has_noise_law(knowledge: Knowledge) -> bool:
    """Tell whether the public description tells the noise law of a release."""
    return noise_law(knowledge, slice(0, 1)) is not None


def noise_law(knowledge: Knowledge, block: slice = slice(None)) -> NoiseLaw | None:
    """Return the noise law of a release, or None when the public description does not tell it.

    Understood methods: ``adp`` (scale, distribution, relative), ``cov`` (scale) and ``chaotic`` (amplitude).
    A scale relative to the original's deviation or range uses public marginals, or else what the release tells.

    Parameters
    ----------
    knowledge : Knowledge
        Release, method and public parameters.
    block : slice, optional
        Of which columns; default all.

    Examples
    --------
    >>> held = Knowledge(np.array([[0.0], [10.0]]), ("a",), np.arange(2), "chaotic", {"amplitude": 0.1})
    >>> law = noise_law(held)
    >>> law.kind, law.bound.round(3)
    ('arcsine', array([0.556]))
    """
    if not knowledge.keeps_columns:
        return None
    released, given = knowledge.released, knowledge.parameters
    if knowledge.method == "adp":
        kind = _kind(given.get("distribution", "normal"))
        scale = _numbers(given.get("scale"), knowledge.n_columns)
        if kind is None or scale is None:
            return None
        if not given.get("relative", True):
            sd = scale
        elif knowledge.marginals is not None:
            sd = scale * knowledge.marginals.sd
        else:  # Var(y) = Var(x) (1 + scale^2)
            sd = scale * released.std(axis=0) / np.sqrt(1 + scale**2)
        sd = sd[block]
        return NoiseLaw(kind, sd, _SQRT_3 * sd if kind == "uniform" else None, np.diag(sd**2))
    if knowledge.method == "cov":
        scale = _numbers(given.get("scale", 1.0), 1)
        if scale is None:
            return None
        covariance = np.atleast_2d(np.cov(released[:, block], rowvar=False)) * float(
            scale[0] ** 2 / (1 + scale[0] ** 2)
        )
        return NoiseLaw("normal", np.sqrt(np.diag(covariance)), None, covariance)
    if knowledge.method == "chaotic":
        amplitude = _numbers(given.get("amplitude", 0.1), 1)
        if amplitude is None or not 0 < amplitude[0] < 1:
            return None
        if knowledge.marginals is not None:
            width = knowledge.marginals.quantiles[-1] - knowledge.marginals.quantiles[0]
        else:  # the original range r satisfies (1 - a) r <= released range: an upper bound excludes no true row
            width = np.ptp(released, axis=0) / (1 - amplitude[0])
        bound = (amplitude[0] * width / 2)[block]
        return NoiseLaw("arcsine", bound / np.sqrt(2.0), bound, np.diag(bound**2 / 2))
    return None


def density(law: NoiseLaw, column: int, noise: FloatArray) -> FloatArray:
    """Return the density of a column's noise.

    Parameters
    ----------
    law : NoiseLaw
        The law.
    column : int
        Number of the column.
    noise : array
        Values of the noise.

    Returns
    -------
    array of the same shape
        Densities; 0 outside the bounds.

    Examples
    --------
    >>> law = NoiseLaw("uniform", np.array([1.0]), np.array([2.0]), np.eye(1))
    >>> density(law, 0, np.array([0.0, 3.0]))
    array([0.25, 0.  ])
    """
    sd = max(float(law.sd[column]), 1e-300)
    if law.kind == "normal":
        return np.asarray(np.exp(-0.5 * (noise / sd) ** 2) / (sd * np.sqrt(2 * np.pi)), dtype=np.float64)
    if law.kind == "laplace":
        rate = np.sqrt(2.0) / sd
        return np.asarray(rate / 2 * np.exp(-rate * np.abs(noise)), dtype=np.float64)
    assert law.bound is not None
    bound = max(float(law.bound[column]), 1e-300)
    inside = np.abs(noise) <= bound * (1 + 1e-9)
    if law.kind == "uniform":
        return np.asarray(inside / (2 * bound), dtype=np.float64)
    # the arcsine density is infinite at the ends: levelled off over the last hundredth
    room = np.maximum(1 - (noise / bound) ** 2, 0.01)
    return np.asarray(inside / (np.pi * bound * np.sqrt(room)), dtype=np.float64)


def log_density(law: NoiseLaw, column: int, noise: FloatArray, impossible: float) -> FloatArray:
    """Return the logarithm of the density of a column's noise.

    Parameters
    ----------
    law : NoiseLaw
        The law.
    column : int
        Number of the column.
    noise : array
        Values of the noise.
    impossible : float
        What is added to the logarithm in the middle for noise outside the bounds.

    Returns
    -------
    array of the same shape
        Logarithms.

    Examples
    --------
    >>> law = NoiseLaw("uniform", np.array([1.0]), np.array([2.0]), np.eye(1))
    >>> log_density(law, 0, np.array([0.0, 3.0]), -50.0).round(2)
    array([ -1.39, -51.39])
    """
    sd = max(float(law.sd[column]), 1e-300)
    if law.kind == "normal":
        return np.asarray(-0.5 * (noise / sd) ** 2 - np.log(sd * np.sqrt(2 * np.pi)), dtype=np.float64)
    if law.kind == "laplace":
        return np.asarray(-np.sqrt(2.0) / sd * np.abs(noise) - np.log(sd * np.sqrt(2.0)), dtype=np.float64)
    assert law.bound is not None
    bound = max(float(law.bound[column]), 1e-300)
    inside = np.abs(noise) <= bound * (1 + 1e-9)
    if law.kind == "uniform":
        return np.asarray(np.where(inside, 0.0, impossible) - np.log(2 * bound), dtype=np.float64)
    shape = -0.5 * np.log(np.maximum(1 - (noise / bound) ** 2, 0.01))
    return np.asarray(np.where(inside, shape, impossible) - np.log(np.pi * bound), dtype=np.float64)


def _kind(name: object) -> Kind | None:
    if name == "normal":
        return "normal"
    if name == "uniform":
        return "uniform"
    if name == "laplace":
        return "laplace"
    return None


def _numbers(value: object, size: int) -> FloatArray | None:
    """Return a parameter as one positive number per column, or None."""
    try:
        numbers = np.broadcast_to(np.asarray(value, dtype=np.float64), (size,))
    except (TypeError, ValueError):
        return None
    usable = np.isfinite(numbers).all() and (numbers >= 0).all() and (numbers > 0).any()
    return np.array(numbers) if usable else None
