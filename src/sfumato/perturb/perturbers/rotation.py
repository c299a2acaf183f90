"""Rotation (RDP of the GDTM paper): pairs of columns turned by secret angles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.keys import Key
from sfumato.core.passes import Facts, Rounds, ask
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.core.summaries import Moments
from sfumato.core.tile_maps import cos_sin_degrees, turn_columns
from sfumato.exceptions import ParameterError
from sfumato.perturb.mechanism.invertible import Invertible
from sfumato.perturb.mechanism.parameters import draw_permutation, draw_uniforms, revealed


@dataclass(frozen=True, repr=False)
class Turn(Hidden):
    """A clockwise rotation of two columns, in units of their own.

    Attributes
    ----------
    first, second : int
        Positions of the columns.
    cosine, sine : float
    ratio : float
        Unit of the first column divided by the unit of the second.
    """

    first: int
    second: int
    cosine: float
    sine: float
    ratio: float = 1.0

    @classmethod
    def of(cls, first: int, second: int, angle: float, ratio: float = 1.0) -> Turn:
        """Return the turn by an angle in degrees."""
        if not (0.0 < ratio < float("inf") and 1.0 / ratio < float("inf")):
            raise ParameterError(
                "the columns' units differ by more than a double can hold", hint="bring them to comparable units first"
            )
        return cls(first, second, *cos_sin_degrees(angle), ratio)

    def apply(self, tile: Floats) -> None:
        """Turn the two columns of a tile in place: x' = x cos + y sin, y' = -x sin + y cos."""
        self._turn(tile, self.sine)

    def undo(self, tile: Floats) -> None:
        """Turn them back."""
        self._turn(tile, -self.sine)

    def _turn(self, tile: Floats, sine: float) -> None:
        turn_columns(tile[self.first], tile[self.second], self.cosine, sine * self.ratio, sine / self.ratio)


class Rotation(Invertible):
    """Rotate pairs of columns by secret angles.

    The paper's RDP: x' = x cos t + y sin t, y' = -x sin t + y cos t (clockwise). Distances stay, and so does the
    weakness of everything linear: d + 1 known records undo it completely. Rotating dollars with years is
    meaningless in raw units (the paper's figure 4 silently works in thousands of dollars); `scale` rotates in
    units of the columns and undoes the scaling afterwards.

    Parameters
    ----------
    angles : number or sequence of numbers, optional
        Degrees, clockwise; one for all pairs or one for each. None draws them by the key, at least 20 degrees
        away from the axes.
    pairs : sequence of pairs of columns (names or positions), optional
        Which columns turn together; each column must occur, and may occur twice (pairs are applied in order).
        None pairs them by the key; with an odd number the last column turns with one that has turned already.
    scale : "range", "std" or None
        Unit in which the columns are rotated.
    key, release, insecure_seed, columns
        See `Perturber`.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[29.0, 48.0], [38.0, 72.0]])  # age, salary in thousands
    >>> Rotation(angles=13.7, pairs=[(0, 1)]).fit_transform(table).round(2).tolist()
    [[39.54, 39.77], [53.97, 60.95]]
    """

    method_id: ClassVar[str] = "rdp"
    min_columns: ClassVar[int] = 2

    def __init__(
        self,
        angles: float | Sequence[float] | None = None,
        pairs: Sequence[tuple[str | int, str | int]] | None = None,
        scale: str | None = None,
        *,
        key: Key | None = None,
        release: str = "r0",
        insecure_seed: int | None = None,
        columns: Sequence[str | int] | None = None,
    ) -> None:
        self.angles = angles
        self.pairs = pairs
        self.scale = scale
        self.key = key
        self.release = release
        self.insecure_seed = insecure_seed
        self.columns = columns

    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        if self.scale == "std":
            moments = yield from ask(Moments(facts.low, facts.high, cross=False))
            units = moments.deviation()
        elif self.scale == "range":
            units = facts.high - facts.low
        else:
            units = np.ones(facts.n_columns)
        units = np.where(units > 0, units, 1.0)
        pairs = choose_pairs(revealed(self.pairs), facts.names, streams)
        angles = choose_angles(revealed(self.angles), len(pairs), streams)
        return tuple(
            Turn.of(first, second, angle, float(units[first]) / float(units[second]))
            for (first, second), angle in zip(pairs, angles, strict=True)
        )

    def _kernel(self, fitted: tuple[Turn, ...], tile: Floats, rows: Rows, streams: Streams) -> Floats:
        for turn in fitted:
            turn.apply(tile)
        return tile

    def _inverse(self, fitted: tuple[Turn, ...], tile: Floats) -> Floats:
        for turn in reversed(fitted):
            turn.undo(tile)
        return tile


def choose_pairs(pairs: Any, names: tuple[str, ...], streams: Streams) -> list[tuple[int, int]]:
    """Return the positions of the columns that turn together, given or drawn."""
    if pairs is None:
        order = draw_permutation(streams, "pairs", len(names))
        drawn = [(order[i], order[i + 1]) for i in range(0, len(order) - 1, 2)]
        return drawn if len(order) % 2 == 0 else [*drawn, (order[-1], order[0])]
    chosen = []
    for pair in pairs:
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise ParameterError("Rotation: each of the pairs must be two columns")
        first, second = (column_position(column, names, owner="Rotation") for column in pair)
        if first == second:
            raise ParameterError(f"Rotation: column {names[first]!r} is paired with itself")
        chosen.append((first, second))
    left_out = sorted(set(range(len(names))) - {column for pair in chosen for column in pair})
    if left_out:
        raise ParameterError(
            f"Rotation: no pair holds {', '.join(names[i] for i in left_out)}; it would be released as it is",
            hint="add a pair with it (a column may turn twice), or leave it out with columns=[...]",
        )
    return chosen


def choose_angles(angles: Any, count: int, streams: Streams) -> list[float]:
    """Return one angle for each pair, given or drawn at least 20 degrees away from the axes."""
    if angles is None:
        sizes = draw_uniforms(streams, "angle", "", count)
        quarters = draw_uniforms(streams, "quarter", "", count)
        return [20.0 + 50.0 * size + 90.0 * int(4 * quarter) for size, quarter in zip(sizes, quarters, strict=True)]
    if np.ndim(angles) == 0:
        return [float(angles)] * count
    if len(angles) != count:
        raise ParameterError(
            f"Rotation: {len(angles)} angle(s) for {count} pair(s)", hint="give one angle, or one for each pair"
        )
    return [float(angle) for angle in angles]


def column_position(column: str | int, names: tuple[str, ...], *, owner: str) -> int:
    """Return the position of a column that is given by name or position."""
    if isinstance(column, str):
        if column in names:
            return names.index(column)
    elif isinstance(column, Integral) and not isinstance(column, bool) and 0 <= int(column) < len(names):
        return int(column)
    raise ParameterError(f"{owner}: no column {column!r}", hint=f"columns are: {', '.join(names)}")
