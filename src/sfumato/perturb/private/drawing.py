"""Rows drawn from the mixture: a row's number decides its random words, and nothing of the table does."""

from __future__ import annotations

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.rows import Rows
from sfumato.core.stream import Streams
from sfumato.core.variates import normal, uniform
from sfumato.perturb.private.fitting import Mixture


def draw_rows(mixture: Mixture, rows: Rows, streams: Streams, columns: int) -> Floats:
    """Return released rows, of shape (columns, rows).

    Parameters
    ----------
    columns : int
        All columns.
    """
    rising = np.cumsum(mixture.weights)
    chosen = np.searchsorted(rising / rising[-1], uniform(streams.words("component", "", rows)), side="right")
    chosen = np.minimum(chosen, len(rising) - 1)
    d = mixture.centres.shape[1]
    values = mixture.centres[chosen].T.copy()
    for i in range(d):  # one after the other: a row is the same in a tile of any size
        values += mixture.factors[chosen, :, i].T * normal(streams.words("normal", str(i), rows))
    np.clip(values, mixture.low[:, None], mixture.high[:, None], out=values)
    out = np.empty((columns, len(rows)))
    out[list(mixture.numbers)] = values
    others = [place for place in range(columns) if place not in mixture.numbers]
    for i, (place, shares) in enumerate(zip(others, mixture.levels, strict=True)):
        level = uniform(streams.words("category", str(i), rows))
        out[place] = np.minimum((np.cumsum(shares, axis=1)[chosen] <= level[:, None]).sum(axis=1), shares.shape[1] - 1)
    return out
