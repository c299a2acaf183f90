"""Chaotic distortion (Li, Xu, Chu and Wang): noise with the law of the logistic map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.keys import Key
from sfumato.core.passes import Facts, Rounds
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.variates import AtOnce, add_noise, noise_at_once
from sfumato.perturb.mechanism.base import Perturber
from sfumato.perturb.mechanism.parameters import draw_uniforms


@dataclass(frozen=True, repr=False)
class _Fitted(Hidden):
    names: tuple[str, ...]
    widths: Floats


class ChaoticNoise(Perturber):
    """Add amplitude * L * (max - min) to each column, L with the law of the logistic map minus 1/2.

    The paper runs the map l' = 4 l (1 - l) down the rows of each column. That orbit is no secret: one known
    cell, or none on data with few decimals, gives away a whole column. The default draws the same law,
    L = sin^2(pi u / 2) - 1/2, from the keyed stream instead: the same distribution, not predictable.

    Parameters
    ----------
    amplitude : number
        Share of the column's range; the paper's is 0.1. Default: 0.1.
    source : "keyed" or "orbit"
        "orbit" is the paper's reading and is **broken**; it works on whole tables in memory only. Default: "keyed".
    key, release, insecure_seed, columns
        See `Perturber`.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.arange(1001.0)[:, None]
    >>> noise = ChaoticNoise(insecure_seed=1).fit_transform(table) - table
    >>> bool((np.abs(noise) <= 50).all()), bool((np.abs(noise) > 45).mean() > 0.2)
    (True, True)
    """

    method_id: ClassVar[str] = "chaotic"
    noise_by_row: ClassVar[bool] = True

    def __init__(
        self,
        amplitude: float = 0.1,
        source: str = "keyed",
        *,
        key: Key | None = None,
        release: str = "r0",
        insecure_seed: int | None = None,
        columns: Sequence[str | int] | None = None,
    ) -> None:
        self.amplitude = amplitude
        self.source = source
        self.key = key
        self.release = release
        self.insecure_seed = insecure_seed
        self.columns = columns

    @property
    def tier(self) -> str:
        """Say "table" for the orbit, which runs through all rows; "row" otherwise."""
        return "table" if self.source == "orbit" else "row"

    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        yield from ()  # the survey says enough: no rounds
        return _Fitted(facts.names, (facts.high - facts.low) * float(self.amplitude))

    def _kernel(self, fitted: _Fitted, tile: Floats, rows: Rows, streams: Streams) -> Floats:
        if self.source == "orbit":
            starts = np.array([draw_start(streams, name) for name in fitted.names])
            noise = logistic_orbits(starts, tile.shape[1])
            noise -= 0.5
            noise *= fitted.widths[:, None]
            tile += noise
            return tile
        for values, name, width in zip(tile, fitted.names, fitted.widths, strict=True):
            add_noise(values, streams.words("noise", name, rows), "arcsine", width)
        return tile

    def _at_once(self, fitted: _Fitted, fast: Any, streams: Streams) -> AtOnce | None:
        if self.source == "orbit":
            return None
        return noise_at_once(fast, streams.round_keys(fast, "noise", fitted.names), "arcsine", fitted.widths)


def draw_start(streams: Streams, column: str) -> float:
    """Return a start of the orbit, away from 0, 1/4, 1/2, 3/4 and 1, whose orbits stand still."""
    for start in draw_uniforms(streams, "orbit", column, 16):
        if min(abs(start - bad) for bad in (0.0, 0.25, 0.5, 0.75, 1.0)) > 1e-3:
            return start
    return 0.1234567  # sixteen misses in a row: about one chance in 10^33


def logistic_orbits(starts: Floats, length: int) -> Floats:
    """Return orbits of l' = 4 l (1 - l), one row for each start.

    Parameters
    ----------
    starts : array of shape (d,)

    Returns
    -------
    array of shape (d, length)

    Examples
    --------
    >>> logistic_orbits(np.array([0.2]), 3).round(4).tolist()
    [[0.2, 0.64, 0.9216]]
    """
    out = np.empty((length, len(starts)))
    state = np.array(starts, dtype=np.float64)
    for row in out:
        row[...] = state
        state = 4.0 * state * (1.0 - state)
    return np.ascontiguousarray(out.T)
