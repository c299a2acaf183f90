"""Projection onto the largest principal components, back in the original columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.keys import Key
from sfumato.core.linear import eigen_symmetric
from sfumato.core.passes import Facts, Rounds, ask
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.summaries import Moments
from sfumato.core.tile_maps import multiply_columns
from sfumato.exceptions import ParameterError, UnchangedCellsWarning
from sfumato.perturb.mechanism.base import Perturber
from sfumato.perturb.mechanism.checks import warn_caller


@dataclass(frozen=True, repr=False)
class _Fitted(Hidden):
    mean: Floats
    directions: Floats


class PCAProjection(Perturber):
    """Keep the largest principal components of the centred table, and drop the rest.

    A baseline of the 1-d clustering paper, which keeps 99 % of the variance. There is no randomness in it: what
    is dropped is what little varies, so large columns come out almost as they are.

    Parameters
    ----------
    n_components : float between 0 and 1, or int
        Share of the variance to keep, or number of components. Default: 0.99.
    key, release, insecure_seed, columns
        See `Perturber`.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[0.0, 1.0], [10.0, -1.0], [20.0, 1.0], [30.0, -1.0]])
    >>> released = PCAProjection(n_components=1).fit_transform(table)
    >>> bool(np.abs(released[:, 0] - table[:, 0]).max() < 0.1)
    True
    """

    method_id: ClassVar[str] = "pca"

    def __init__(
        self,
        n_components: float = 0.99,
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
        moments = yield from ask(Moments(facts.low, facts.high))
        values, vectors = eigen_symmetric(moments.covariance())
        count = component_count(self.n_components, values)
        if count == facts.n_columns:
            warn_caller(
                f"all {count} components are kept: the release is the original table. Lower n_components.",
                UnchangedCellsWarning,
            )
        return _Fitted(moments.mean(), np.ascontiguousarray(vectors[:, :count].T))

    def _kernel(self, fitted: _Fitted, tile: Floats, rows: Rows, streams: Streams) -> Floats:
        tile -= fitted.mean[:, None]
        scores = multiply_columns(fitted.directions, tile)
        out = multiply_columns(np.ascontiguousarray(fitted.directions.T), scores)
        out += fitted.mean[:, None]
        return out


def component_count(wanted: float, eigenvalues: Floats) -> int:
    """Return how many components to keep.

    Parameters
    ----------
    eigenvalues : array of shape (d,), largest first

    Examples
    --------
    >>> component_count(0.9, np.array([8.0, 1.5, 0.5]))
    2
    """
    if isinstance(wanted, Integral):
        if int(wanted) > len(eigenvalues):
            raise ParameterError(f"PCAProjection: n_components={wanted} of {len(eigenvalues)} column(s)")
        return int(wanted)
    kept = np.cumsum(np.maximum(eigenvalues, 0.0))
    if kept[-1] <= 0.0:
        return 1
    return int(np.argmax(kept >= float(wanted) * kept[-1])) + 1
