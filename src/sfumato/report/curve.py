"""How much an attacker recovers with how many known records, with intervals and the break point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p

from sfumato.report.chart import DIM, INK, MARK, Axis, drawing, frame, percent, text


@dataclass(frozen=True)
class Known:
    """So many records known, so large a share of the others recovered."""

    known: int
    share: float
    low: float
    high: float


def curve_chart(points: Sequence[Known], *, breaks_at: int | None) -> str:
    """Return the curve.

    Parameters
    ----------
    points : sequence of Known
        By number of known records, at least one.
    breaks_at : int, optional
        Where more than half is recovered beyond guessing.

    Examples
    --------
    >>> "<polyline" in curve_chart([Known(1, 0.1, 0.0, 0.2), Known(14, 1.0, 0.9, 1.0)], breaks_at=14)
    True
    """
    most = max(point.known for point in points)
    ticks = [tick for tick in (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 20000, 100000) if tick < most]
    x = Axis("records the attacker knows", (*ticks, most), 70, 610, log1p, "{:,.0f}".format)
    y = Axis("records of others recovered (less is better)", (0.0, 0.25, 0.5, 0.75, 1.0), 248, 48, show=percent)
    tidy = ticks if not ticks or x.place(most) - x.place(ticks[-1]) > 26 else ticks[:-1]
    x = Axis(x.title, (*tidy, most), x.start, x.end, x.scale, x.show)
    there = [(x.place(point.known), y.place(point.share)) for point in points]
    parts = [frame(x, y)]
    whiskers = "".join(f"M{x.place(p.known):.1f} {y.place(p.low):.1f}V{y.place(p.high):.1f}" for p in points)
    parts.append(f'<path d="{whiskers}" stroke="{DIM}" stroke-width="5" stroke-opacity="0.35"/>')
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in there)
    parts.append(f'<polyline points="{line}" fill="none" stroke="{MARK}" stroke-width="2"/>')
    parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" fill="{MARK}"/>' for a, b in there]
    if breaks_at is not None:
        at = x.place(breaks_at)
        parts.append(f'<path d="M{at:.1f} {y.end:.1f}V{y.start:.1f}" stroke="{INK}" stroke-dasharray="5 3"/>')
        side, anchor = (-6.0, "end") if at > 400 else (6.0, "start")
        parts.append(text(at + side, y.end + 13, f"breaks at {breaks_at:,}", anchor=anchor))
    about = "; ".join(f"{point.known:,} known: {percent(round(point.share, 3))}" for point in points)
    return drawing(640, 304, "Records known, share of the others recovered", about, "".join(parts))
