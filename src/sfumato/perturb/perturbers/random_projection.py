"""Random projection (Liu, Kargupta and Ryan): fewer, secret directions instead of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.keys import Key
from sfumato.core.passes import Facts, Rounds
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.tile_maps import multiply_columns
from sfumato.core.variates import normal
from sfumato.exceptions import ParameterError
from sfumato.perturb.mechanism.base import Perturber


@dataclass(frozen=True, repr=False)
class _Fitted(Hidden):
    matrix: Floats


class RandomProjection(Perturber):
    """Project the rows onto secret random directions; the released columns are `rp0`, `rp1`, ...

    Entries of the matrix are normal, divided by the root of the number of directions, so that squared
    distances are kept on average. The released columns no longer mean what the original ones did.

    Parameters
    ----------
    n_components : int, optional
        Number of directions, fewer than the columns. None takes half of them, rounded up.
    key, release, insecure_seed, columns
        See `Perturber`.

    Examples
    --------
    >>> import numpy as np
    >>> projection = RandomProjection(2, insecure_seed=1).fit(np.eye(4))
    >>> projection.get_feature_names_out().tolist()
    ['rp0', 'rp1']
    """

    method_id: ClassVar[str] = "rp"
    min_columns: ClassVar[int] = 2

    def __init__(
        self,
        n_components: int | None = None,
        *,
        key: Key | None = None,
        release: str = "r0",
        insecure_seed: int | None = None,
        columns: Sequence[str | int] | None = None,
    ) -> None:
        self.n_components = n_components
        self.key = key
        self.release = release
        self.insecure_seed = insecure_seed
        self.columns = columns

    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        yield from ()  # the survey says enough: no rounds
        count = self._count(facts.n_columns)
        if count >= facts.n_columns:
            raise ParameterError(
                f"RandomProjection: n_components={count} of {facts.n_columns} columns hides nothing",
                hint=f"choose at most {facts.n_columns - 1}",
            )
        columns = [normal(streams.scalars("direction", name, count)) for name in facts.names]
        return _Fitted(np.ascontiguousarray(np.array(columns).T) * (1.0 / sqrt(count)))

    def _kernel(self, fitted: _Fitted, tile: Floats, rows: Rows, streams: Streams) -> Floats:
        return multiply_columns(fitted.matrix, tile)

    def _count(self, n_columns: int) -> int:
        return int(self.n_components) if self.n_components is not None else -(-n_columns // 2)

    def _names_out(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f"rp{i}" for i in range(self._count(len(names))))
