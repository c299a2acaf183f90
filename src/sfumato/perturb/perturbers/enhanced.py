"""Privacy enhance (section 5.4 of the GDTM paper): noise for a random share of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sfumato._arrays import Floats
from sfumato.core.keys import Key
from sfumato.core.passes import Facts, Rounds, ask
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.summaries import Moments
from sfumato.core.variates import bernoulli, normal, uniform
from sfumato.exceptions import ParameterError
from sfumato.perturb.mechanism.base import Perturber
from sfumato.perturb.mechanism.checks import check_columns
from sfumato.perturb.mechanism.parameters import is_number, revealed

Law = tuple[str, float, float]


@dataclass(frozen=True, repr=False)
class _Fitted(Hidden):
    inner: Any
    laws: tuple[Law, ...]
    names: tuple[str, ...]


class Enhanced(Perturber):
    """Add noise to a random share of the rows after another method.

    The paper's rho. Each row is chosen with probability `fraction`, by the key; chosen rows get noise in every
    column. The paper's own noise: age uniform between -12 and 18, salary normal with mean 15 and standard
    deviation 12 thousand (it prints a variance of 144,000). Someone who knows 3d + 6 records still undoes a
    rotation for the other rows.

    Parameters
    ----------
    perturber : perturber
        The method to enhance; its own key, release and columns are not used. Default: None.
    fraction : number between 0 and 1
        Share of the rows that get noise on top, from 0 to 1. Default: 0.05.
    distributions : sequence, optional
        For each column ("normal", mean, sd) or ("uniform", low, high), in the column's own unit. None takes normal
        noise of mean 0 and half a standard deviation of the original column.
    key, release, insecure_seed, columns
        See `Perturber`.

    Examples
    --------
    >>> import numpy as np
    >>> from sfumato.perturb import Translation
    >>> table = np.zeros((10000, 2)) + np.arange(10000.0)[:, None]
    >>> method = Enhanced(Translation(offsets=[1.0, 2.0]), fraction=0.1, insecure_seed=1)
    >>> moved = method.fit_transform(table) - table
    >>> float((moved[:, 0] == 1.0).mean().round(1))
    0.9
    """

    method_id: ClassVar[str] = "+rho"

    def __init__(
        self,
        perturber: Perturber | None = None,
        fraction: float = 0.05,
        distributions: Sequence[tuple[str, float, float]] | None = None,
        *,
        key: Key | None = None,
        release: str = "r0",
        insecure_seed: int | None = None,
        columns: Sequence[str | int] | None = None,
    ) -> None:
        self.perturber = perturber
        self.fraction = fraction
        self.distributions = distributions
        self.key = key
        self.release = release
        self.insecure_seed = insecure_seed
        self.columns = columns

    def _check_parameters(self) -> None:
        super()._check_parameters()
        assert self.perturber is not None
        if self.perturber.method_id == self.method_id:
            raise ParameterError("Enhanced: an enhanced method cannot be enhanced again", hint="raise its fraction")
        if self.perturber.meets:
            raise ParameterError(
                f"Enhanced: {type(self.perturber).__name__} lets rows exchange their values: noise has no place there",
                hint="leave [enhance] out, or enhance another method",
            )
        self.perturber._check_parameters()

    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        assert self.perturber is not None
        check_columns(facts, type(self.perturber).__name__, self.perturber.min_columns)
        inner = yield from self.perturber._rounds(facts, streams.child("inner"))
        names = self.perturber._names_out(facts.names) or facts.names
        if self.distributions is not None:
            return _Fitted(inner, check_laws(revealed(self.distributions), names), names)
        if names != facts.names:
            raise ParameterError(
                "Enhanced: the released columns are new ones, so their noise has no default",
                hint="give distributions=[...], one for each released column",
            )
        moments = yield from ask(Moments(facts.low, facts.high, cross=False))
        laws = tuple(("normal", 0.0, 0.5 * float(deviation)) for deviation in moments.deviation())
        return _Fitted(inner, laws, names)

    def _kernel(self, fitted: _Fitted, tile: Floats, rows: Rows, streams: Streams) -> Floats:
        assert self.perturber is not None
        out = self.perturber._kernel(fitted.inner, tile, rows, streams.child("inner"))
        chosen = bernoulli(streams.words("chosen", "", rows), float(self.fraction))
        for values, name, (kind, first, second) in zip(out, fitted.names, fitted.laws, strict=True):
            words = streams.words("enhance", name, rows)[chosen]
            if kind == "normal":
                values[chosen] += first + second * normal(words)
            else:
                values[chosen] += first + (second - first) * uniform(words)
        return out

    def _names_out(self, names: tuple[str, ...]) -> tuple[str, ...] | None:
        assert self.perturber is not None
        return self.perturber._names_out(names)


def check_laws(distributions: Any, names: tuple[str, ...]) -> tuple[Law, ...]:
    """Return the laws of the noise, one for each column, or raise."""
    if len(distributions) != len(names):
        raise ParameterError(
            f"Enhanced: {len(distributions)} distribution(s) for {len(names)} column(s)",
            hint=f"give one for each of: {', '.join(names)}",
        )
    laws: list[Law] = []
    for name, law in zip(names, distributions, strict=True):
        fits = isinstance(law, list | tuple) and len(law) == 3 and law[0] in ("normal", "uniform")
        fits = fits and all(is_number(number) for number in law[1:])
        if not fits or (law[0] == "normal" and law[2] < 0) or (law[0] == "uniform" and law[1] > law[2]):
            raise ParameterError(
                f"Enhanced: the distribution of column {name!r} is not ('normal', mean, sd) or ('uniform', low, high)"
            )
        laws.append((law[0], float(law[1]), float(law[2])))
    return tuple(laws)
