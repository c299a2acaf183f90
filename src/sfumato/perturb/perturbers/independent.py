"""Independent noise (INA of Wang, Zheng and Liao): as much noise as a row's place in its cluster bears."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.keys import Key
from sfumato.core.passes import Facts, Rounds, ask
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.summaries import Moments, Sample
from sfumato.core.variates import add_noise, normal
from sfumato.exceptions import DataError
from sfumato.perturb.groups.nearest_two import two_nearest
from sfumato.perturb.groups.references import direct_classification
from sfumato.perturb.mechanism.base import Perturber

_INSIDE = 1.0 - 1e-12  # rounding of the released value must not carry it over the boundary


@dataclass(frozen=True, repr=False)
class _Fitted(Hidden):
    names: tuple[str, ...]
    units: Floats
    widths: Floats
    references: Floats


class IndependentNoise(Perturber):
    """Add noise of half the difference between the distances to the two nearest reference points.

    Rows in the middle of a cluster bear much noise, rows at its edge little. References are the running means
    of a leader clustering of a keyed sample. The paper's proof that a row keeps its nearest reference needs
    noise *vectors* no longer than half the difference; its own noise, independent for each column (`box`),
    breaks that for about 1 % of the rows in two dimensions and more in higher ones. `ball` draws uniformly
    from the ball instead and never breaks it, at three quarters of the variance in two dimensions. (That is before
    rounding: integer and float32 columns are rounded afterwards, which can still carry a row at a boundary across.)

    Parameters
    ----------
    beta : number
        The diagonal of the sample divided by the radius of a reference's cell; more is finer and adds less noise.
        Default: 5.
    sample_size : int
        Rows in the sample. Default: 200.
    alpha : "range" or "std"
        Unit of each column. The paper leaves it open; without one (all 1) unequal columns misclassify most rows.
        Default: "range".
    noise : "box" or "ball"
        The law of the noise. Default: "box".
    key, release, insecure_seed, columns
        See `Perturber`.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.repeat([[0.0, 0.0], [10.0, 10.0]], 50, axis=0) + np.arange(100.0)[:, None] / 100
    >>> noise = IndependentNoise(insecure_seed=1).fit_transform(table) - table
    >>> bool(np.abs(noise).max() > 1.0)
    True
    """

    method_id: ClassVar[str] = "ina"
    noise_by_row: ClassVar[bool] = True

    def __init__(
        self,
        beta: float = 5,
        sample_size: int = 200,
        alpha: str = "range",
        noise: str = "box",
        *,
        key: Key | None = None,
        release: str = "r0",
        insecure_seed: int | None = None,
        columns: Sequence[str | int] | None = None,
    ) -> None:
        self.beta = beta
        self.sample_size = sample_size
        self.alpha = alpha
        self.noise = noise
        self.key = key
        self.release = release
        self.insecure_seed = insecure_seed
        self.columns = columns

    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        widths = facts.high - facts.low
        if self.alpha == "std":
            moments = yield from ask(Moments(facts.low, facts.high, cross=False))
            widths = moments.deviation()
        units = np.where(widths > 0, widths, 1.0)
        sample = yield from ask(Sample(int(self.sample_size), streams.subkey("sample"), facts.n_rows))
        references = direct_classification(sample.values() / units, float(self.beta))
        if len(references) < 2:
            raise DataError(
                "IndependentNoise: the sample gives a single reference point, and the noise needs two",
                hint=f"raise beta (now {self.beta:g}) or sample_size (now {self.sample_size})",
            )
        return _Fitted(facts.names, units, widths, references)

    def _kernel(self, fitted: _Fitted, tile: Floats, rows: Rows, streams: Streams) -> Floats:
        nearest, second = two_nearest(tile / fitted.units[:, None], fitted.references)
        size = (second - nearest) * 0.5
        if self.noise == "box":
            for values, name, width in zip(tile, fitted.names, fitted.widths, strict=True):
                add_noise(values, streams.words("noise", name, rows), "uniform", size, float(width))
            return tile
        for values, unit_noise, width in zip(tile, self._unit_ball(fitted, rows, streams), fitted.widths, strict=True):
            unit_noise *= size
            unit_noise *= width
            values += unit_noise
        return tile

    def _unit_ball(self, fitted: _Fitted, rows: Rows, streams: Streams) -> Floats:
        # a point on the sphere in two more dimensions, those two left out, is uniform in the ball
        noise = np.array([normal(streams.words("noise", name, rows)) for name in fitted.names])
        length = np.zeros(len(rows))
        for extra in ("first", "second"):
            other = normal(streams.words(f"{extra} extra dimension", "", rows))
            length += other * other
        for values in noise:
            length += values * values
        np.sqrt(length, out=length)
        noise *= _INSIDE
        noise /= length
        return noise
