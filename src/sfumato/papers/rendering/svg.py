"""Figures as SVG: plain shapes, the same bytes for the same data."""

from __future__ import annotations

from html import escape
from math import floor, log10

from sfumato.papers.result import Figure, Panel, Series

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _GAP = 300, 240, 46, 34, 24, 14
_COLOURS = (
    "#1b6ca8",
    "#c4572d",
    "#3d8b4f",
    "#8a5aa8",
    "#b08a1e",
    "#4d4d4d",
    "#a83d62",
    "#2f8f8a",
    "#6b6b1f",
    "#999999",
)


def nice_ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Return round numbers between two ends.

    Parameters
    ----------
    count : int
        About how many.

    Examples
    --------
    >>> nice_ticks(0.0, 10.0)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    """
    if not high > low:
        return [low]
    raw = (high - low) / count
    power = 10.0 ** floor(log10(raw))
    step = min((m * power for m in (1.0, 2.0, 5.0, 10.0)), key=lambda s: abs(s - raw))
    first = floor(low / step)
    ticks = [
        float(f"{i * step:.12g}") for i in range(first, first + 4 * count) if low <= i * step <= high * (1 + 1e-12)
    ]
    return ticks or [low]


class _Axes:
    """Where values go in a panel."""

    def __init__(self, panel: Panel) -> None:
        xs = [x for series in panel.series for x in series.x]
        ys = [y for series in panel.series for y in series.y]
        self.x_ends, self.y_ends = (min(xs), max(xs)), (min(ys), max(ys))

    def x(self, value: float) -> str:
        low, high = self.x_ends
        share = (value - low) / (high - low) if high > low else 0.5
        return f"{_LEFT + 6 + share * (_WIDTH - _LEFT - 12):.1f}"

    def y(self, value: float) -> str:
        low, high = self.y_ends
        share = (value - low) / (high - low) if high > low else 0.5
        return f"{_HEIGHT - _BOTTOM - 6 - share * (_HEIGHT - _BOTTOM - _TOP - 12):.1f}"


def _marks(series: Series, axes: _Axes, colour: str) -> str:
    spots = [(axes.x(x), axes.y(y)) for x, y in zip(series.x, series.y, strict=True)]
    if series.mark == "line":
        line = " ".join(f"{x},{y}" for x, y in spots)
        dots = "".join(f'<circle cx="{x}" cy="{y}" r="2.5" fill="{colour}"/>' for x, y in spots)
        return f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>{dots}'
    if series.mark == "cross":
        path = "".join(f"M{x} {y}m-2 0h4m-2 -2v4" for x, y in spots)
        return f'<path d="{path}" stroke="{colour}" stroke-width="0.8" fill="none"/>'
    groups = series.group or (0,) * len(spots)
    by_group: dict[int, list[str]] = {}
    for (x, y), group in zip(spots, groups, strict=True):
        by_group.setdefault(group, []).append(f"M{x} {y}h0")
    palette = _COLOURS if series.group else (colour,)
    return "".join(
        f'<path d="{"".join(path)}" stroke="{palette[group % len(palette)]}" stroke-width="2.4" '
        'stroke-linecap="round"/>'
        for group, path in sorted(by_group.items())
    )


def _panel(panel: Panel, number: int) -> str:
    axes = _Axes(panel)
    parts = [
        f'<g transform="translate({number * (_WIDTH + _GAP)} 0)">',
        f'<text x="{_LEFT}" y="15" font-weight="bold">{escape(panel.title)}</text>',
        f'<path d="M{_LEFT} {_TOP}V{_HEIGHT - _BOTTOM}H{_WIDTH}" fill="none" stroke="#777"/>',
    ]
    parts += [
        f'<text x="{axes.x(tick)}" y="{_HEIGHT - _BOTTOM + 13}" text-anchor="middle">{tick:.6g}</text>'
        for tick in nice_ticks(*axes.x_ends)
    ]
    parts += [
        f'<text x="{_LEFT - 4}" y="{float(axes.y(tick)) + 3.5:.1f}" text-anchor="end">{tick:.6g}</text>'
        for tick in nice_ticks(*axes.y_ends)
    ]
    for index, series in enumerate(panel.series):
        colour = _COLOURS[index % len(_COLOURS)]
        parts.append(_marks(series, axes, colour))
        if len(panel.series) > 1:
            parts.append(
                f'<text x="{_WIDTH - 4}" y="{_TOP + 10 + 12 * index}" text-anchor="end" fill="{colour}">'
                f"{escape(series.label)}</text>"
            )
    parts += [
        f'<text x="{(_LEFT + _WIDTH) // 2}" y="{_HEIGHT - 5}" text-anchor="middle">{escape(panel.x_label)}</text>',
        (
            f'<text x="11" y="{_HEIGHT // 2}" text-anchor="middle" transform="rotate(-90 11 {_HEIGHT // 2})">'
            f"{escape(panel.y_label)}</text>"
        ),
        "</g>",
    ]
    return "".join(parts)


def figure_svg(figure: Figure) -> str:
    """Return a figure as an SVG element.

    Examples
    --------
    >>> from sfumato.papers.result import Figure, Panel, Series
    >>> svg = figure_svg(Figure("Figure 1", "t", (Panel("p", "x", "y", (Series("a", (0.0, 1.0), (0.0, 2.0)),)),)))
    >>> svg.startswith("<svg") and svg.endswith("</svg>")
    True
    """
    rows = [figure.panels[i : i + 3] for i in range(0, len(figure.panels), 3)]
    width = max(len(row) for row in rows) * (_WIDTH + _GAP)
    body = "".join(
        f'<g transform="translate(0 {i * (_HEIGHT + _GAP)})">{"".join(_panel(p, j) for j, p in enumerate(row))}</g>'
        for i, row in enumerate(rows)
    )
    height = len(rows) * (_HEIGHT + _GAP)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="10" role="img"><title>{escape(figure.title)}</title>{body}</svg>'
    )
