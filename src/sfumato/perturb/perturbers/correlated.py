"""Noise with the covariance of the data (Huang, Du and Chen): a baseline of the 1-d clustering paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.keys import Key
from sfumato.core.linear import cholesky
from sfumato.core.passes import Facts, Rounds, ask
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.summaries import Moments
from sfumato.core.tile_maps import add_product
from sfumato.core.variates import AtOnce, normal, table_of
from sfumato.perturb.mechanism.base import Perturber


@dataclass(frozen=True, repr=False)
class _Fitted(Hidden):
    names: tuple[str, ...]
    factor: Floats


class CorrelatedNoise(Perturber):
    """Add normal noise that is correlated like the data itself.

    Noise with the data's own covariance cannot be filtered out by its spectrum. It costs the clusters dearly:
    at `scale=1` the expected squared error per cell is the mean variance of the columns.

    Parameters
    ----------
    scale : number
        Standard deviation of the noise in units of the data's own. Default: 1.0.
    key, release, insecure_seed, columns
        See `Perturber`.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(10000.0)
    >>> table = np.column_stack([x, 2 * x])
    >>> noise = CorrelatedNoise(insecure_seed=1).fit_transform(table) - table
    >>> float(np.corrcoef(noise.T)[0, 1]) > 0.999
    True
    """

    method_id: ClassVar[str] = "cov"
    noise_by_row: ClassVar[bool] = True

    def __init__(
        self,
        scale: float = 1.0,
        *,
        key: Key | None = None,
        release: str = "r0",
        insecure_seed: int | None = None,
        columns: Sequence[str | int] | None = None,
    ) -> None:
        self.scale = scale
        self.key = key
        self.release = release
        self.insecure_seed = insecure_seed
        self.columns = columns

    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        moments = yield from ask(Moments(facts.low, facts.high))
        factor = cholesky(moments.step_covariance()) * moments.units[:, None]
        return _Fitted(facts.names, factor * float(self.scale))

    def _kernel(self, fitted: _Fitted, tile: Floats, rows: Rows, streams: Streams) -> Floats:
        independent = np.empty_like(tile)
        for target, name in zip(independent, fitted.names, strict=True):
            normal(streams.words("noise", name, rows), target)
        add_product(fitted.factor, independent, tile)
        return tile

    def _at_once(self, fitted: _Fitted, fast: Any, streams: Streams) -> AtOnce:
        keys, table = streams.round_keys(fast, "noise", fitted.names), table_of("normal")
        return lambda rows, out, first, changed: bool(
            fast.add_correlated_to_rows(rows, out, keys, first, table, fitted.factor, changed)
        )
