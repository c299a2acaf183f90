"""Names beside marks: points that fall together share one mark, and no name covers a mark or another name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_LETTER, _LINE = 6.1, 13.0  # size of a letter and of a line, in units of the drawing
_SHOWN = 3
_NEAR = 9.0  # spots within it share a mark
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Spot:
    """A mark on a chart: where, which grade, and the names of what stands there."""

    x: float
    y: float
    grade: str
    names: tuple[str, ...]
    strong: bool = False

    @property
    def words(self) -> str:
        """The names as text; many are cut short, the table beside the chart lists all."""
        named = [name for name in self.names if name]
        shown = ", ".join(named[:_SHOWN])
        return shown + (f" +{len(named) - _SHOWN}" if len(named) > _SHOWN else "")


@dataclass(frozen=True)
class Named:
    """A spot and the place of its name; `far` asks for a line between them."""

    spot: Spot
    x: float
    y: float
    anchor: str
    far: bool


def merge_near(spots: Sequence[Spot]) -> list[Spot]:
    """Let spots of one grade that nearly cover one another share a mark.

    Examples
    --------
    >>> [spot.words for spot in merge_near([Spot(0, 0, "F", ("a",)), Spot(1, 1, "F", ("b",)), Spot(0, 0, "A", ("c",))])]
    ['a, b', 'c']
    """
    out: list[Spot] = []
    for spot in spots:
        for i, other in enumerate(out):
            if other.grade == spot.grade and max(abs(other.x - spot.x), abs(other.y - spot.y)) < _NEAR:
                out[i] = Spot(other.x, other.y, spot.grade, other.names + spot.names, other.strong or spot.strong)
                break
        else:
            out.append(spot)
    return out


def place_names(spots: Sequence[Spot], room: Box, radius: float) -> list[Named]:
    """Find a place for every name: beside its mark if there is room, otherwise further away with a line.

    Parameters
    ----------
    room : (left, top, right, bottom)
        Names stay inside.
    radius : float
        Size of a mark.
    """
    taken: list[Box] = [(spot.x - radius, spot.y - radius, spot.x + radius, spot.y + radius) for spot in spots]
    out = []
    for spot in sorted(spots, key=lambda one: (one.y, one.x)):
        options = [(step, side) for step in range(8) for side in ("right", "left", "above", "below")]
        places = [_place(spot, step, side, radius) for step, side in options]
        best = min(places, key=lambda place: (_covered(_box(spot, place), taken, room), places.index(place)))
        taken.append(_box(spot, best))
        out.append(best)
    return out


def _place(spot: Spot, step: int, side: str, radius: float) -> Named:
    reach = radius + 4 + 14 * step
    if side in {"above", "below"}:
        down = reach + 6 if side == "below" else -reach
        return Named(spot, spot.x, spot.y + down + (4 if side == "below" else 0), "middle", far=step > 0)
    lift = 14 * step if spot.y > 60 else -14 * step
    across = reach if side == "right" else -reach
    return Named(spot, spot.x + across, spot.y + 4 - lift, "start" if side == "right" else "end", far=step > 0)


def _box(spot: Spot, place: Named) -> Box:
    width = _LETTER * len(spot.words)
    left = {"start": place.x, "middle": place.x - width / 2, "end": place.x - width}[place.anchor]
    return (left, place.y - _LINE + 3, left + width, place.y + 3)


def _covered(box: Box, taken: Sequence[Box], room: Box) -> float:
    """Return how much of a box lies outside the room or over what stands there already."""
    area = (box[2] - box[0]) * (box[3] - box[1])
    inside = _overlap(box, room)
    return 3.0 * (area - inside) + sum(_overlap(box, other) for other in taken)


def _overlap(a: Box, b: Box) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
