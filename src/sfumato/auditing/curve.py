"""How much is recovered with how many known records, and where a release breaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sfumato.attack.engine.result import Result
from sfumato.core.sharing import share

_ATTACKS = ("affine", "shaped-affine", "ransac", "ridge")


@dataclass(frozen=True)
class CurvePoint:
    """One point: so many known records, so large a share of the others recovered by the best attack.

    `lift_low` is the lower bound of the lift over guessing.
    """

    known: int
    recovered: float
    low: float
    high: float
    lift_low: float
    attack: str


@dataclass(frozen=True)
class Curve:
    """The curve and its break point.

    Attributes
    ----------
    points : tuple of CurvePoint
    breaks_at : int or None
        The smallest number of known records at which the lift over guessing is above one half.
    """

    points: tuple[CurvePoint, ...]
    breaks_at: int | None


def measure_curve(
    run: Callable[[str, tuple[int]], Result],
    n_rows: int,
    n_columns: int,
    *,
    known: Sequence[int] | None = None,
    done: Mapping[tuple[str, int], Result] | None = None,
) -> Curve:
    """Attack with growing numbers of known records.

    Parameters
    ----------
    run : callable
        (id of an attack, (number of known people,)) -> its result. The people are nested: the first 15 of 44 are the
        same 15.
    known : sequence of int, optional
        Numbers of records to try.
    done : mapping of (attack, number of records) to Result, optional
        Runs of the same referee that need not be made again.
    """
    done = done or {}
    if known is None:
        d = n_columns
        known = [1, 2, 3, (d + 1) // 2, d, d + 1, d + 2, 2 * d, 3 * d + 6, n_rows // 10]
    sizes = sorted({size for size in known if 1 <= size <= max(1, n_rows // 2)})
    points = []
    asked = [(attack, size) for size in sizes for attack in _ATTACKS]
    ran = dict(zip(asked, share(lambda one: done.get(one) or run(one[0], (one[1],)), asked), strict=True))
    for size in sizes:
        results = [ran[attack, size] for attack in _ATTACKS]
        scored = [result for result in results if result.rate is not None]
        if scored:
            best = max(scored, key=lambda result: result.lift or 0.0)
            assert best.rate is not None
            lift_low = max(0.0, best.lift_low or 0.0)
            points.append(CurvePoint(size, best.rate, best.low or 0.0, best.high or 1.0, lift_low, best.attack))
    breaks = next((point.known for point in points if point.lift_low > 0.5), None)
    return Curve(tuple(points), breaks)
