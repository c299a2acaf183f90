"""Numbers as text, the same in every output."""

from __future__ import annotations

from sfumato.papers.result import Cell

# One sign for each status, for places too narrow for a word.
MARKS = {"matched": "=", "trend": "~", "unreachable": "u", "missed": "!"}


def number_text(value: float | None, digits: int = 3) -> str:
    """Return a number with so many significant digits; nothing is a dash.

    Examples
    --------
    >>> number_text(0.01234), number_text(3.85e10), number_text(None), number_text(0.0), number_text(7645.5)
    ('0.0123', '3.85e+10', '-', '0', '7646')
    """
    if value is None:
        return "-"
    if abs(value) < 1e-12:
        return "0"
    if abs(value) >= 1e6 or abs(value) < 1e-4:
        return f"{value:.{digits - 1}e}"
    if abs(value) >= 10**digits:
        return f"{value:.0f}"
    return f"{float(f'{value:.{digits}g}'):.10g}"


def pair_text(cell: Cell, digits: int = 3) -> str:
    """Return "printed > ours" with the sign of the status.

    Examples
    --------
    >>> from sfumato.papers.result import judge
    >>> pair_text(judge(2.0, 2.5))
    '2 > 2.5 ='
    """
    printed = number_text(cell.printed, max(digits, 4))
    return f"{printed} > {number_text(cell.ours, digits)} {mark(cell)}"


def mark(cell: Cell) -> str:
    """Return the sign of a cell's status, a blank where nothing is judged."""
    return MARKS[cell.status] if cell.judged else " "


def ratio_text(cell: Cell) -> str:
    """Return ours over the paper's with two decimals, a dash where it says nothing."""
    if cell.ratio is None:
        return "-"
    return f"{cell.ratio:.2f}" if abs(cell.ratio) < 100 else f"{cell.ratio:.0f}"
