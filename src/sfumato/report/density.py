"""Where the rows of a table lie, before and after, in shades; cells with few rows are empty."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.report.chart import DIM, LINE, drawing, text

_SIZE, _TOP, _GAP = 300.0, 26.0, 40.0
# shade -> colour of the page's style, with the light one for pictures that stand alone
_SHADES = {
    1: "var(--d1,#dbe7f3)",
    2: "var(--d2,#b3cfe8)",
    3: "var(--d3,#7fb0da)",
    4: "var(--d4,#4a8dc7)",
    5: "var(--d5,#2368a8)",
    6: "var(--d6,#0d4377)",
}


def density_chart(panels: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return pictures side by side.

    Parameters
    ----------
    panels : sequence of (title, rows of digits)
        A digit for each cell: 0 stays empty, 1 to 6 darker.

    Examples
    --------
    >>> density_chart([("before", ["01", "60"])]).count("<path")
    2
    """
    parts = []
    for number, (title, rows) in enumerate(panels):
        left = number * (_SIZE + _GAP) + 1
        step = _SIZE / len(rows)
        parts.append(text(left, _TOP - 9, title, bold=True))
        for shade, colour in _SHADES.items():
            cells = "".join(_runs(rows, str(shade), left, step))
            if cells:
                parts.append(f'<path d="{cells}" fill="{colour}"/>')
        parts.append(
            f'<rect x="{left:.1f}" y="{_TOP:.1f}" width="{_SIZE:g}" height="{_SIZE:g}" fill="none" stroke="{LINE}"/>'
        )
    bottom = _TOP + _SIZE
    parts.append(text(1, bottom + 20, "few rows", colour=DIM))
    parts += [
        f'<rect x="{58 + 22 * i:g}" y="{bottom + 9:g}" width="22" height="13" fill="{colour}"/>'
        for i, colour in enumerate(_SHADES.values())
    ]
    parts.append(text(196, bottom + 20, "many rows; empty: fewer than five", colour=DIM))
    about = (
        "Each picture shows where the rows lie along the two main directions of the original; darker means more rows."
    )
    width = len(panels) * (_SIZE + _GAP) - _GAP + 2
    return drawing(width, bottom + 30, " and ".join(title for title, _ in panels), about, "".join(parts))


def _runs(rows: Sequence[str], shade: str, left: float, step: float) -> list[str]:
    """Return the cells of one shade; neighbours in a row are one shape."""
    out = []
    for i, row in enumerate(rows):
        j = 0
        while j < len(row):
            if row[j] == shade:
                end = j
                while end < len(row) and row[end] == shade:
                    end += 1
                x, y = left + j * step, _TOP + i * step
                out.append(f"M{x:.1f} {y:.1f}h{(end - j) * step:.1f}v{step:.1f}h{-(end - j) * step:.1f}z")
                j = end
            else:
                j += 1
    return out
