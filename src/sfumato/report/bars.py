"""Pairs of bars: for each number of clusters what the release loses, beside what a second run loses anyway."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.report.chart import DIM, LINE, MARK, Axis, drawing, percent, text

_STEPS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Pair:
    """Two shares under one name."""

    name: str
    first: float
    second: float


def pairs_chart(pairs: Sequence[Pair], *, first: str, second: str, title: str) -> str:
    """Return pairs of bars with their values.

    Parameters
    ----------
    first, second : str
        What the two bars are.
    title : str
        With unit and direction.

    Examples
    --------
    >>> pairs_chart([Pair("2", 0.1, 0.0)], first="release", second="re-run", title="rows").count("<rect")
    4
    """
    most = max([pair.first for pair in pairs] + [pair.second for pair in pairs])
    top = next(step for step in _STEPS if step >= most or step == _STEPS[-1])
    y = Axis(title, (0.0, top / 2, top), 210, 62, show=percent)
    slot = 560 / len(pairs)
    wide = min(30.0, slot * 0.36)
    parts = [text(60, 20, title, bold=True)]
    parts.append(f'<rect x="60" y="30" width="12" height="12" fill="{MARK}"/>' + text(77, 40, first))
    apart = 60 + 24 + 6.6 * len(first) + 24
    parts.append(f'<rect x="{apart:.1f}" y="30" width="12" height="12" fill="{DIM}"/>' + text(apart + 17, 40, second))
    for tick in y.ticks:
        parts.append(f'<path d="M60 {y.place(tick):.1f}H624" stroke="{LINE}"/>')
        parts.append(text(54, y.place(tick) + 4, percent(tick), anchor="end", colour=DIM))
    for number, pair in enumerate(pairs):
        middle = 64 + slot * (number + 0.5)
        for value, x, colour in ((pair.first, middle - wide - 1, MARK), (pair.second, middle + 1, DIM)):
            height = 210 - y.place(value)
            parts.append(
                f'<rect x="{x:.1f}" y="{210 - height:.1f}" width="{wide:.1f}" height="{max(height, 1.0):.1f}" '
                f'fill="{colour}"/>'
            )
            parts.append(
                f'<text x="{x + wide / 2:.1f}" y="{206 - height:.1f}" font-size="10" text-anchor="middle" '
                f'fill="var(--ink,#1c2430)">{100 * value:.1f}</text>'
            )
        parts.append(text(middle, 227, pair.name, anchor="middle"))
    parts.append(text(344, 246, "number of clusters", anchor="middle"))
    about = "; ".join(f"{p.name}: {first} {100 * p.first:.1f} %, {second} {100 * p.second:.1f} %" for p in pairs)
    return drawing(640, 254, title, about, "".join(parts))
