"""Multiplicative noise (MDP of the GDTM paper): every cell times noise around 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato._arrays import Floats
from sfumato.core.keys import Key
from sfumato.core.passes import Facts, Rounds
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.variates import UNIT_FACTORS, multiply_noise
from sfumato.perturb.mechanism.base import Perturber
from sfumato.perturb.mechanism.parameters import per_column


@dataclass(frozen=True, repr=False)
class _Fitted(Hidden):
    names: tuple[str, ...]
    scales: Floats


class MultiplicativeNoise(Perturber):
    """Multiply every cell by independent noise of mean 1.

    The paper's MDP. Zeros stay zeros, and small values get small noise: look at the audit before using it on
    columns with many of them.

    Parameters
    ----------
    scale : number or sequence of numbers
        Standard deviation of the factor, for all columns or for each. Default: 0.1.
    distribution : "normal", "uniform" or "laplace"
        The law of the noise around 1. Default: "normal".
    key, release, insecure_seed, columns
        See `Perturber`.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.full((10000, 1), 200.0) + np.arange(10000.0)[:, None] / 1e4
    >>> released = MultiplicativeNoise(scale=0.1, insecure_seed=1).fit_transform(table)
    >>> round(float((released / table).std()), 2)
    0.1
    """

    method_id: ClassVar[str] = "mdp"
    noise_by_row: ClassVar[bool] = True

    def __init__(
        self,
        scale: float | Sequence[float] = 0.1,
        distribution: str = "normal",
        *,
        key: Key | None = None,
        release: str = "r0",
        insecure_seed: int | None = None,
        columns: Sequence[str | int] | None = None,
    ) -> None:
        self.scale = scale
        self.distribution = distribution
        self.key = key
        self.release = release
        self.insecure_seed = insecure_seed
        self.columns = columns

    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        yield from ()  # the survey says enough: no rounds
        return _Fitted(facts.names, per_column(self.scale, facts.names, owner="MultiplicativeNoise", parameter="scale"))

    def _kernel(self, fitted: _Fitted, tile: Floats, rows: Rows, streams: Streams) -> Floats:
        unit = UNIT_FACTORS[self.distribution]
        for values, name, scale in zip(tile, fitted.names, fitted.scales, strict=True):
            multiply_noise(values, streams.words("factor", name, rows), self.distribution, unit, scale)
        return tile
