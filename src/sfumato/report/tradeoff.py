"""The trade-off chart: what a release hides, against what it costs. Up and to the left is better in both panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.report.chart import DIM, INK, PAPER, Axis, drawing, frame, percent, square_root, text
from sfumato.report.labels import Named, Spot, merge_near, place_names

# grade -> (fill, letter); told apart by the letter in the mark too, and by lightness on a grey print
GRADE_COLOURS = {
    "A": ("#0a6b4f", "#fff"),
    "B": ("#1f6fb2", "#fff"),
    "C": ("#f0c63c", "#1c2430"),
    "D": ("#e07b26", "#1c2430"),
    "F": ("#8f1d21", "#fff"),
}
_RADIUS = 8.0
_SHARES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
_SECURITIES = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0)


@dataclass(frozen=True)
class Point:
    """One release on the chart.

    Attributes
    ----------
    label : str
        Empty for a mark without a name.
    excess : float
        Rows in another cluster, beyond a re-run on the original; less is better.
    residual, linkage : float or None
        Residual security of the median column, and the best linkage; None keeps it off that panel.
    grade : str
    best : bool
        Whether no other release is better in everything; drawn with a ring.
    """

    label: str
    excess: float
    residual: float | None
    linkage: float | None
    grade: str
    best: bool = False


def tradeoff_chart(points: Sequence[Point], *, limit: float | None = None) -> str:
    """Return the chart as an SVG element.

    Parameters
    ----------
    limit : float, optional
        A limit on misclassification, drawn as a line.

    Examples
    --------
    >>> svg = tradeoff_chart([Point("ina", 0.02, 0.1, 0.4, "C")], limit=0.01)
    >>> svg.startswith("<svg"), "ina" in svg
    (True, True)
    """
    most = max([point.excess for point in points] + [limit or 0.0, 0.05])
    highest = max([0.5] + [point.residual for point in points if point.residual is not None])
    upwards = (
        Axis("residual security (more is better)", _ticks(highest, _SECURITIES), 338, 48, square_root),
        Axis("best linkage (less is better)", (1.0, 0.75, 0.5, 0.25, 0.0), 338, 48, show=percent),
    )
    panels = []
    for number, (which, y) in enumerate(zip(("residual", "linkage"), upwards, strict=True)):
        left = 70.0 + 480.0 * number
        x = Axis(
            "rows in another cluster (less is better)", _ticks(most, _SHARES), left, left + 390, square_root, percent
        )
        panels.append(_panel(points, which, x, y, limit))
    worded = "; ".join(
        f"{point.label}: grade {point.grade}, {percent(round(point.excess, 4))} in another cluster"
        for point in points
        if point.label
    )
    about = f"{len(points)} releases. Up and to the left is better. {worded}"
    return drawing(960, 392, "What is hidden, against what it costs", about, "".join(panels))


def _ticks(most: float, steps: Sequence[float]) -> list[float]:
    """Return the steps up to the first that is not below the largest value."""
    return [step for step in steps if step < most] + [next((step for step in steps if step >= most), steps[-1])]


def _panel(points: Sequence[Point], which: str, x: Axis, y: Axis, limit: float | None) -> str:
    spots = []
    for point in points:
        value = getattr(point, which)
        if value is not None:
            spots.append(Spot(x.place(point.excess), y.place(value), point.grade, (point.label,), point.best))
    parts = [frame(x, y), text(x.start - 6, y.end + 13, "better", colour=DIM)]
    if limit is not None:
        at = x.place(limit)
        parts.append(f'<path d="M{at:.1f} {y.end:.1f}V{y.start:.1f}" stroke="{INK}" stroke-dasharray="5 3"/>')
    room = (x.start - 8, y.end, x.end + 14, y.start + 10)
    names = place_names(merge_near(spots), room, _RADIUS)
    parts += [_line(one) for one in names if one.far and one.spot.words]
    parts += [_mark(one.spot) for one in names]
    parts += [_haloed(text(one.x, one.y, one.spot.words, anchor=one.anchor)) for one in names if one.spot.words]
    if limit is not None:
        parts.append(_haloed(text(x.place(limit) + 4, y.end + 13, f"limit {percent(limit)}")))
    return "".join(parts)


def _line(one: Named) -> str:
    return (
        f'<path d="M{one.spot.x:.1f} {one.spot.y:.1f}L{one.x:.1f} {one.y - 4:.1f}" stroke="{DIM}" stroke-width="0.7"/>'
    )


def _mark(spot: Spot) -> str:
    fill, letter = GRADE_COLOURS[spot.grade]
    ring = ""
    if spot.strong:
        ring = f'<circle cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="{_RADIUS + 3:g}" fill="none" stroke="{INK}"/>'
    circle = f'<circle cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="{_RADIUS:g}" fill="{fill}" stroke="{PAPER}"/>'
    return ring + circle + text(spot.x, spot.y + 4, spot.grade, anchor="middle", colour=letter, bold=True)


def _haloed(words: str) -> str:
    """Return text with a halo in the colour of the paper, readable over lines and marks."""
    return words.replace("<text ", f'<text paint-order="stroke" stroke="{PAPER}" stroke-width="3" ', 1)
