"""A method as plain values, and its rounds replayed elsewhere: how another process reaches the same fitted state.

What a round wants may hold functions that belong to this process. They need not travel: a method's rounds depend on
its parameters, the facts of the table, its subkey and the filled summaries so far, and on nothing else. Whoever has
these runs the rounds again, is sent the summaries instead of reading the table, and stands where we stand.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.passes import Facts, Fitting
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden, Secret
from sfumato.core.stream import Streams
from sfumato.core.summaries import Summary
from sfumato.core.travel import filled_summary
from sfumato.exceptions import ParameterError, SfumatoWarning
from sfumato.perturb.catalogue import method
from sfumato.perturb.mechanism.base import Perturber
from sfumato.perturb.mechanism.invertible import Invertible


def recipe_of(perturber: Perturber) -> dict[str, Any]:
    """Return a method and its parameters as plain values, secret ones included.

    Examples
    --------
    >>> from sfumato.perturb import AdditiveNoise
    >>> recipe_of(AdditiveNoise(scale=0.2))
    {'method': 'adp', 'parameters': {'scale': 0.2, 'distribution': 'normal', 'relative': True}}
    """
    parameters = {}
    for parameter in perturber.catalogue_row().parameters:
        value = getattr(perturber, parameter.name)
        value = value.reveal() if isinstance(value, Secret) else value
        if isinstance(value, Perturber):
            value = recipe_of(value)
        elif not _is_plain(value):
            raise ParameterError(
                f"{type(perturber).__name__}: {parameter.name} holds objects of this process, which cannot travel",
                hint="give plain numbers (numbers of clusters instead of fitted clusterers), or release locally",
            )
        parameters[parameter.name] = value
    return {"method": perturber.method_id, "parameters": parameters}


def perturber_of(recipe: dict[str, Any]) -> Perturber:
    """Return the perturber of a recipe; it has no key, and needs none.

    Parameters
    ----------
    recipe : dict
        See `recipe_of`.
    """
    row = method(recipe["method"])
    values = {
        name: perturber_of(value) if isinstance(value, dict) and set(value) == {"method", "parameters"} else value
        for name, value in recipe["parameters"].items()
    }
    made: Perturber = row.load()(**values)
    return made


class Replay(Hidden):
    """The rounds of a method, run again with summaries that are filled already.

    Parameters
    ----------
    gaps : mapping from columns to float, optional
        What stands for a missing cell; see `KeyedMethod.gaps`.
    finding : bool
        Whether they are the rounds that find whom to hold back.
    """

    def __init__(
        self,
        perturber: Perturber,
        facts: Facts,
        streams: Streams,
        gaps: Mapping[str, float] | None = None,
        *,
        finding: bool = False,
    ) -> None:
        self._perturber, self._streams = perturber, streams
        perturber._gaps = dict(gaps or {})
        perturber._keeps = False  # many processes beside one another: memory counts more than time
        self.done = 0
        with _untold():
            rounds = perturber._exposed_rounds(facts, streams) if finding else perturber._rounds(facts, streams)
            assert rounds is not None
            self._fitting = Fitting(rounds)

    def advance(self, learnt: Sequence[Any]) -> None:
        """Send summaries: `learnt[i]` is what the one of round i has learnt; rounds already done are skipped."""
        for one in learnt[self.done :]:
            with _untold():
                self._fitting.send(filled_summary(self.wanted, one))
            self.done += 1

    @property
    def wanted(self) -> Summary:
        """The summary that the next round wants, empty."""
        assert self._fitting.wanted is not None, "the rounds are over"
        return self._fitting.wanted

    @property
    def fitted(self) -> Any:
        """The fitted state, when the rounds are over."""
        assert self._fitting.wanted is None, "the rounds are not over"
        return self._fitting.fitted

    def kernel(self, tile: Floats, rows: Rows) -> Floats:
        """Return the released tile."""
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused when it is finished
            return self._perturber._kernel(self.fitted, tile, rows, self._streams)

    @property
    def inverse(self) -> Callable[[Floats], Floats] | None:
        """The map back from a released tile, of methods that can be undone."""
        perturber = self._perturber
        return (lambda tile: perturber._inverse(self.fitted, tile)) if isinstance(perturber, Invertible) else None


@contextmanager
def _untold() -> Iterator[None]:
    """Leave out warnings: they were shown where the summaries were filled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SfumatoWarning)
        yield


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_plain(one) for one in value.values())
    if isinstance(value, list | tuple):
        return all(_is_plain(one) for one in value)
    return value is None or isinstance(value, bool | int | float | str | np.generic | np.ndarray)
