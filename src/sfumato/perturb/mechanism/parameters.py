"""Parameters as data: what a method can be told, in one form for checks, command line, studio and docs.

Secret numbers of a column (offsets, factors, angles, permutations) that are not told are drawn once by the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.cluster.by_name import check_name
from sfumato.core.secret import Secret
from sfumato.core.stream import Streams
from sfumato.core.variates import permutation, uniform
from sfumato.exceptions import ParameterError
from sfumato.exceptions import nearest_name as nearest_name  # noqa: PLC0414  # `tuning` takes it from here


def draw_uniforms(streams: Streams, purpose: str, column: str, count: int) -> list[float]:
    """Return uniform numbers in (0, 1) that belong to a column as a whole."""
    return [float(u) for u in uniform(streams.scalars(purpose, column, count))]


def draw_permutation(streams: Streams, purpose: str, size: int) -> list[int]:
    """Return a random order of 0..size-1."""
    return [int(i) for i in permutation(streams.scalars(purpose, "", size))]


def is_number(value: Any) -> bool:
    """Tell whether a value is a finite real number, and not a truth value."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return bool(np.isfinite(float(value)))
    except OverflowError:
        return False


def revealed(value: Any) -> Any:
    """Return a parameter's value, out of its `Secret` if it is in one."""
    return value.reveal() if isinstance(value, Secret) else value


def per_column(value: Any, names: Sequence[str], *, owner: str, parameter: str) -> NDArray[np.float64]:
    """Return one number for each column, from one number or a sequence.

    Parameters
    ----------
    names : sequence of str
        The columns.
    owner, parameter : str
        For the message.

    Examples
    --------
    >>> per_column(2.0, ["a", "b"], owner="Scaling", parameter="factors").tolist()
    [2.0, 2.0]
    """
    numbers = np.asarray(revealed(value), dtype=np.float64)
    if numbers.ndim == 0:
        return np.full(len(names), float(numbers))
    if numbers.shape != (len(names),):
        raise ParameterError(
            f"{owner}: {parameter} has {numbers.size} value(s) for {len(names)} column(s)",
            hint=f"give one number, or one for each of: {', '.join(names)}",
        )
    return numbers


@dataclass(frozen=True)
class Span:
    """Where a number is worth trying, narrower than what is allowed: the ends of a slider, the space of a search.

    Attributes
    ----------
    low, high : float
    log : bool
        Whether steps multiply (0.1, 0.2, 0.4) instead of adding up.
    """

    low: float
    high: float
    log: bool = False

    def at(self, share: float) -> float:
        """Return the value at a share of the way from low to high.

        Examples
        --------
        >>> Span(0.1, 10.0, log=True).at(0.5), Span(0, 10).at(0.25)
        (1.0, 2.5)
        """
        if self.log:
            return float(self.low * (self.high / self.low) ** share)
        return self.low + (self.high - self.low) * share


@dataclass(frozen=True)
class Options:
    """Choices worth trying; those known to be broken are left out."""

    values: tuple[Any, ...]

    def at(self, share: float) -> Any:
        """Return the option at a share from 0 to 1.

        Examples
        --------
        >>> Options(("a", "b")).at(0.7)
        'b'
        """
        return self.values[min(int(share * len(self.values)), len(self.values) - 1)]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a method.

    Attributes
    ----------
    name : str
    kind : str
        "number", "integer", "choice", "flag", "numbers" (one, or one for each column), "number or integer"
        (a share, or a count), "pairs", "operations", "distributions", "perturber", "clusterings", "detail", "scalings",
        "decimals", "bounds", "kinds", "held", "together", "relations".
    default : object
    help : str
        One line in plain words.
    low, high : float, optional
        Allowed range, ends included unless `open_low` or `open_high`.
    choices : tuple of str
    optional : bool
        Whether None is allowed (drawn by the key, or worked out from the table).
    secret : bool
        Whether its value undoes the release; such values are never shown.
    search : Span or Options, optional
        Values worth trying, for `tune` and for sliders; None leaves the parameter at its default.
    quick : object, optional
        The value for a first look, where the default would take long.
    slider : Span, optional
        Values that a slider shows, of a parameter that is somebody's decision and never searched.
    """

    name: str
    kind: str
    default: Any
    help: str
    low: float | None = None
    high: float | None = None
    open_low: bool = False
    open_high: bool = False
    choices: tuple[str, ...] = ()
    optional: bool = False
    secret: bool = False
    search: Span | Options | None = None
    quick: Any = None
    slider: Span | None = None

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        if self.kind == "choice":
            text = "one of " + ", ".join(repr(choice) for choice in self.choices)
        elif self.kind == "flag":
            text = "True or False"
        elif self.kind in {"number", "integer", "numbers", "number or integer"}:
            nouns = {
                "number": "a number",
                "integer": "an integer",
                "numbers": "a number, or one for each column",
                "number or integer": "a share between 0 and 1, or an integer",
            }
            text = nouns[self.kind] + self._range()
        else:
            text = {
                "pairs": "a sequence of pairs of columns",
                "operations": "one ('add', e), ('mult', e), ('rotate', angle, other column) or None for each column",
                "distributions": "one ('normal', mean, sd) or ('uniform', low, high) for each column",
                "perturber": "a perturber of sfumato",
                "clusterings": "'ladder', or some of it, numbers of k-means clusters, names ('ward 5'), fitted ones",
                "scalings": "some of 'std', 'range' and 'raw'",
                "detail": "'coarse', 'medium', 'fine', or limits by name: atoms, rows, residual, loss, people",
                "decimals": "an integer, or one for each column by name",
                "bounds": "(low, high) for each column by name, or one for all",
                "kinds": "a kind for each column by name",
                "held": "some numbers for each column by name",
                "together": "groups of columns",
                "relations": "relations between columns, as text",
            }[self.kind]
        return text + (", or None" if self.optional else "")

    def _range(self) -> str:
        low = "" if self.low is None else f" {'above' if self.open_low else 'from'} {self.low:g}"
        high = "" if self.high is None else f" {'below' if self.open_high else 'to'} {self.high:g}"
        return low + high


def check_parameter(parameter: Parameter, value: Any, *, owner: str) -> None:
    """Raise a clear error unless a value is allowed.

    Parameters
    ----------
    owner : str
        Name of the class, for the message.

    Examples
    --------
    >>> beta = Parameter("beta", "number", 5, "how fine the references are", low=0, open_low=True)
    >>> check_parameter(beta, -1, owner="IndependentNoise")
    Traceback (most recent call last):
    ...
    sfumato.exceptions.ParameterError: IndependentNoise: beta must be a number above 0, got -1
    """
    value = value.reveal() if isinstance(value, Secret) else value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if value is None and parameter.optional:
        return
    if not _fits(parameter, value):
        # a secret's own value never enters a message
        got = type(value).__name__ if parameter.secret or not isinstance(value, str | Real) else repr(value)
        hint = None
        if parameter.kind == "choice" and isinstance(value, str):
            hint = nearest_name(value, parameter.choices)
        raise ParameterError(f"{owner}: {parameter.name} must be {parameter.allowed}, got {got}", hint=hint)
    if parameter.kind == "clusterings":
        for one in () if isinstance(value, str) else value:
            check_name(one)


def check_release_name(name: Any, *, owner: str) -> None:
    """Raise if the name of a release is no readable text."""
    if not isinstance(name, str):
        raise ParameterError(f"{owner}: release must be a name (str), got {type(name).__name__}")
    if any("\ud800" <= letter <= "\udfff" for letter in name):
        raise ParameterError(f"{owner}: release must be readable text")


def _fits(parameter: Parameter, value: Any) -> bool:
    kind = parameter.kind
    if kind == "choice":
        return isinstance(value, str) and value in parameter.choices
    if kind == "flag":
        return isinstance(value, bool | np.bool_)
    if kind == "number":
        return _number_fits(parameter, value)
    if kind == "integer":
        return _is_integer(value) and _number_fits(parameter, value)
    if kind == "numbers":
        if isinstance(value, Real):
            return _number_fits(parameter, value)
        return _is_sequence(value) and all(_number_fits(parameter, item) for item in value)
    if kind == "number or integer":
        if _is_integer(value):
            return int(value) >= 1
        return isinstance(value, Real) and 0.0 < float(value) < 1.0
    if kind == "perturber":
        return hasattr(value, "fit_batches") and hasattr(value, "transform") and not isinstance(value, type)
    if kind == "clusterings":
        return value == "ladder" if isinstance(value, str) else _is_sequence(value) and len(value) > 0
    if kind == "scalings":
        return _is_sequence(value) and all(one in parameter.choices for one in value)
    if kind == "detail":
        return isinstance(value, str | Mapping)  # which are allowed says perturb/guard/joined.py
    if kind == "decimals":
        places = value.values() if isinstance(value, Mapping) else [value]
        return all(_is_integer(number) and 0 <= int(number) <= 15 for number in places)
    if kind == "bounds":
        pairs = value.values() if isinstance(value, Mapping) else [value]  # one pair is for all columns
        return all(_is_sequence(pair) and len(pair) == 2 for pair in pairs)
    if kind == "kinds":
        return isinstance(value, Mapping) and all(isinstance(one, str) for one in value.values())
    if kind == "held":
        return isinstance(value, Mapping) and all(_is_sequence(numbers) for numbers in value.values())
    if kind == "relations":
        return _is_sequence(value) and all(isinstance(one, str) for one in value)
    return _is_sequence(value)  # the method itself knows what must stand inside


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)


def _number_fits(parameter: Parameter, value: Any) -> bool:
    if not is_number(value):
        return False
    number = float(value)
    if parameter.low is not None and (number < parameter.low or (parameter.open_low and number == parameter.low)):
        return False
    return parameter.high is None or not (number > parameter.high or (parameter.open_high and number == parameter.high))
