"""What all charts share: axes, numbers as text, and shapes that follow the page's colours, light or dark.

Charts are plain SVG text. The same data give the same bytes: no ids, no clock, coordinates with one decimal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from math import sqrt

INK, DIM, LINE, PAPER, MARK = (
    "var(--ink,#1c2430)",
    "var(--dim,#556070)",
    "var(--line,#d5dbe3)",
    "var(--paper,#fff)",
    "var(--mark,#0b5cad)",
)
MARGIN = 12.0  # between the axes and what stands at 0


def identity(value: float) -> float:
    """Return the value itself: a linear axis."""
    return value


def square_root(value: float) -> float:
    """Return the square root, 0 below 0: an axis that shows one per cent and fifty on the same paper."""
    return sqrt(max(0.0, value))


@dataclass(frozen=True)
class Axis:
    """One axis of a chart.

    Attributes
    ----------
    title : str
        With unit and direction.
    ticks : sequence of float
        Values that are written; the first and last are the ends of the axis.
    start, end : float
        Where the first and the last tick stand, in units of the drawing.
    scale : callable
    show : callable
        A tick as text.
    """

    title: str
    ticks: Sequence[float]
    start: float
    end: float
    scale: Callable[[float], float] = identity
    show: Callable[[float], str] = "{:g}".format

    def place(self, value: float) -> float:
        """Return where a value stands; values beyond the ends stand at the ends.

        Examples
        --------
        >>> Axis("share", (0.0, 1.0), 10, 110).place(0.25)
        35.0
        """
        low, high = self.scale(self.ticks[0]), self.scale(self.ticks[-1])
        share = (self.scale(value) - low) / (high - low)
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)


def percent(value: float) -> str:
    """Return a share as a short percentage.

    Examples
    --------
    >>> percent(0.05), percent(0.005), percent(1)
    ('5 %', '0.5 %', '100 %')
    """
    return f"{100 * value:g} %"


def text(x: float, y: float, words: str, *, anchor: str = "start", colour: str = INK, bold: bool = False) -> str:
    """Return words at a place."""
    weight = ' font-weight="700"' if bold else ""
    turned = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}"{turned}{weight}>{escape(words)}</text>'


def frame(x: Axis, y: Axis) -> str:
    """Return the two axes of a chart: grid, ticks and titles."""
    left, right = min(x.start, x.end) - MARGIN, max(x.start, x.end)
    top, bottom = min(y.start, y.end), max(y.start, y.end) + MARGIN
    grid = "".join(f"M{x.place(tick):.1f} {top:.1f}V{bottom:.1f}" for tick in x.ticks)
    grid += "".join(f"M{left:.1f} {y.place(tick):.1f}H{right:.1f}" for tick in y.ticks)
    parts = [f'<path d="{grid}" fill="none" stroke="{LINE}" stroke-width="0.7"/>']
    parts.append(f'<path d="M{left:.1f} {top:.1f}V{bottom:.1f}H{right:.1f}" fill="none" stroke="{DIM}"/>')
    parts += [text(x.place(tick), bottom + 15, x.show(tick), anchor="middle", colour=DIM) for tick in x.ticks]
    parts += [text(left - 6, y.place(tick) + 4, y.show(tick), anchor="end", colour=DIM) for tick in y.ticks]
    parts.append(text((left + right) / 2, bottom + 33, x.title, anchor="middle"))
    parts.append(text(left, top - 16, y.title, bold=True))
    return "".join(parts)


def drawing(width: float, height: float, title: str, description: str, body: str) -> str:
    """Return a drawing with its words for people who do not see it.

    Parameters
    ----------
    body : str
        SVG elements.
    """
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" font-family="system-ui,sans-serif" font-size="12">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{body}</svg>"
    )


def stand_alone(svg: str) -> str:
    """Return a drawing as a file of its own, on white paper.

    Parameters
    ----------
    svg : str
        What `drawing` returned, for a page.

    Examples
    --------
    >>> stand_alone(drawing(10, 10, "a", "b", "")).startswith('<svg xmlns="http://www.w3.org/2000/svg" viewBox=')
    True
    """
    named = svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return named.replace("</desc>", '</desc><rect width="100%" height="100%" fill="#fff"/>', 1) + "\n"
