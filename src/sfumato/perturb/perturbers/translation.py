"""Translation (TDP of the GDTM paper): one secret offset for each column."""

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
from sfumato.perturb.mechanism.invertible import Invertible
from sfumato.perturb.mechanism.parameters import draw_uniforms, per_column


@dataclass(frozen=True, repr=False)
class _Fitted(Hidden):
    offsets: Floats


class Translation(Invertible):
    """Add a secret offset to each column: x + e.

    The paper's TDP. Distances between rows stay exactly, so every clustering does; so does everything an
    attacker needs: one known record gives all offsets away. Its variance-based security is 0 by definition.

    Parameters
    ----------
    offsets : number or sequence of numbers, optional
        What is added to each column. None draws them by the key: between half and one and a half ranges of
        the column, up or down, whole numbers for integer columns.
    key, release, insecure_seed, columns
        See `Perturber`.

    Examples
    --------
    Figure 2 of the paper: three years less, 5,000 more.

    >>> import numpy as np
    >>> table = np.array([[29.0, 48000.0], [38.0, 72000.0]])
    >>> Translation(offsets=[-3, 5000]).fit_transform(table).tolist()
    [[26.0, 53000.0], [35.0, 77000.0]]
    """

    method_id: ClassVar[str] = "tdp"

    def __init__(
        self,
        offsets: float | Sequence[float] | None = None,
        *,
        key: Key | None = None,
        release: str = "r0",
        insecure_seed: int | None = None,
        columns: Sequence[str | int] | None = None,
    ) -> None:
        self.offsets = offsets
        self.key = key
        self.release = release
        self.insecure_seed = insecure_seed
        self.columns = columns

    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        yield from ()  # the survey says enough: no rounds
        if self.offsets is not None:
            return _Fitted(per_column(self.offsets, facts.names, owner="Translation", parameter="offsets"))
        offsets = [draw_offset(streams, facts, column) for column in range(facts.n_columns)]
        return _Fitted(np.array(offsets))

    def _kernel(self, fitted: _Fitted, tile: Floats, rows: Rows, streams: Streams) -> Floats:
        tile += fitted.offsets[:, None]
        return tile

    def _inverse(self, fitted: _Fitted, tile: Floats) -> Floats:
        tile -= fitted.offsets[:, None]
        return tile


def draw_offset(streams: Streams, facts: Facts, column: int) -> float:
    """Return an offset between half and one and a half ranges of a column, up or down.

    It is a whole number for integer columns, so that they are undone exactly, and never so small that the column's
    type cannot show it.
    """
    low, high, kind = float(facts.low[column]), float(facts.high[column]), facts.kinds[column]
    size, side = draw_uniforms(streams, "offset", facts.names[column], 2)
    offset = (0.5 + size) * (high - low if high > low else 1.0)
    largest = max(abs(low), abs(high))
    spacing = float(np.spacing(np.float32(largest) if kind == "float32" else largest))
    offset = max(offset, 4.0 * spacing, 1.0 if kind == "integer" else 0.0)
    if kind == "integer":
        offset = float(np.rint(offset))
    return offset if side < 0.5 else -offset
