"""The dial as a picture: what is hidden and what is lost at each level of detail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.report.chart import INK, MARK, PAPER, Axis, drawing, frame, percent, square_root, text

_HEIGHTS = (300.0, 60.0)
_SHARES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.4, 1.0)
_SECURITIES = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Level:
    """One level of detail.

    Attributes
    ----------
    name : str
    residual : float
        Residual security of the median column; more is better.
    linkage : float or None
        People whose row is found; less is better.
    kept, not_kept : float
        Rows in another cluster beyond a re-run, for clusterings that the release keeps and for others.
    """

    name: str
    residual: float
    linkage: float | None
    kept: float
    not_kept: float


def dial_chart(levels: Sequence[Level]) -> str:
    """Return the chart as an SVG element.

    Examples
    --------
    >>> svg = dial_chart([Level("coarse", 0.3, 0.01, 0.04, 0.2), Level("fine", 0.1, 0.05, 0.01, 0.1)])
    >>> svg.startswith("<svg"), "coarse" in svg
    (True, True)
    """
    panels = (
        ("residual security (more is better)", _SECURITIES, "{:g}".format, ("residual",)),
        ("people found (less is better)", _SHARES, percent, ("linkage",)),
        ("rows in another cluster (less is better)", _SHARES, percent, ("kept", "not_kept")),
    )
    body = ""
    for number, (title, steps, show, lines) in enumerate(panels):
        left = 60.0 + 330.0 * number
        places = tuple(float(place) for place in range(max(len(levels), 2)))
        x = Axis("detail", places, left, left + 230, show=lambda at: levels[int(at)].name if at < len(levels) else "")
        values = [getattr(level, line) for line in lines for level in levels]
        most = max([value for value in values if value is not None] + [steps[2]])
        ticks = [step for step in steps if step < most]
        ticks.append(next((step for step in steps if step >= most), steps[-1]))
        y = Axis(title, ticks, *_HEIGHTS, square_root, show)
        body += frame(x, y)
        for line in lines:
            body += _line([(x.place(i), getattr(level, line)) for i, level in enumerate(levels)], y, line)
    worded = "; ".join(
        f"{one.name}: residual {one.residual:.2f}, {percent(round(one.kept, 4))} of the rows in another kept cluster, "
        f"{percent(round(one.not_kept, 4))} in another that is not kept"
        for one in levels
    )
    return drawing(1000, 356, "Detail against privacy", f"One release for each level of detail. {worded}", body)


def _line(spots: Sequence[tuple[float, float | None]], y: Axis, name: str) -> str:
    seen = [(at, y.place(value)) for at, value in spots if value is not None]
    if not seen:
        return ""
    dashes = ' stroke-dasharray="5 3"' if name == "not_kept" else ""
    way = "L".join(f"{at:.1f} {up:.1f}" for at, up in seen)
    colour = INK if name == "not_kept" else MARK
    out = f'<path d="M{way}" fill="none" stroke="{colour}" stroke-width="1.6"{dashes}/>'
    out += "".join(f'<circle cx="{at:.1f}" cy="{up:.1f}" r="4" fill="{colour}" stroke="{PAPER}"/>' for at, up in seen)
    if name in {"kept", "not_kept"}:
        at, up = seen[-1]
        out += text(at, up - 8, "kept" if name == "kept" else "not kept", anchor="end", colour=colour)
    return out
