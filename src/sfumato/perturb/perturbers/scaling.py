"""Scaling (SDP of the GDTM paper): one secret factor for each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.keys import Key
from sfumato.core.passes import Facts, Rounds
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.exceptions import ParameterError
from sfumato.perturb.mechanism.invertible import Invertible
from sfumato.perturb.mechanism.parameters import draw_uniforms, per_column


@dataclass(frozen=True, repr=False)
class _Fitted(Hidden):
    factors: Floats


class Scaling(Invertible):
    """Multiply each column by a secret factor: x * e.

    The paper's SDP. Its security Var(x - y)/Var(x) is (1 - e)^2 whatever the data. One known record gives all
    factors away, and on whole numbers none is needed: the steps of the released grid are the factors.

    Parameters
    ----------
    factors : number or sequence of numbers, optional
        What each column is multiplied by, not 0. None draws them by the key, between 1.1 and 2 or the
        reciprocals of these.
    key, release, insecure_seed, columns
        See `Perturber`.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[100.0, 48000.0], [50.0, 72000.0]])
    >>> Scaling(factors=[0.94, 1.035]).fit_transform(table).round(6).tolist()
    [[94.0, 49680.0], [47.0, 74520.0]]
    """

    method_id: ClassVar[str] = "sdp"

    def __init__(
        self,
        factors: float | Sequence[float] | None = None,
        *,
        key: Key | None = None,
        release: str = "r0",
        insecure_seed: int | None = None,
        columns: Sequence[str | int] | None = None,
    ) -> None:
        self.factors = factors
        self.key = key
        self.release = release
        self.insecure_seed = insecure_seed
        self.columns = columns

    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        yield from ()  # the survey says enough: no rounds
        if self.factors is None:
            return _Fitted(np.array([draw_factor(streams, name) for name in facts.names]))
        factors = per_column(self.factors, facts.names, owner="Scaling", parameter="factors")
        if (factors == 0.0).any():
            raise ParameterError(
                "Scaling: a factor of 0 would erase its column",
                hint="drop the column instead, or choose another factor",
            )
        return _Fitted(factors)

    def _kernel(self, fitted: _Fitted, tile: Floats, rows: Rows, streams: Streams) -> Floats:
        tile *= fitted.factors[:, None]
        return tile

    def _inverse(self, fitted: _Fitted, tile: Floats) -> Floats:
        tile /= fitted.factors[:, None]
        return tile


def draw_factor(streams: Streams, column: str) -> float:
    """Return a factor between 1.1 and 2, or the reciprocal of one."""
    size, side = draw_uniforms(streams, "factor", column, 2)
    factor = 1.1 + 0.9 * size
    return factor if side < 0.5 else 1.0 / factor
