"""A comparison as text, for terminals and logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.auditing.grading import GRADES
from sfumato.auditing.pages.text import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sfumato.tuning.comparison import Compared, Comparison


def by_merit(tried: Sequence[Compared]) -> list[Compared]:
    """Return settings on all columns first, then by grade, then by what the clusters lose, then by what is hidden."""
    return sorted(
        tried,
        key=lambda one: (
            one.numbers_only,
            GRADES.index(one.grade),
            one.excess_mean,
            -(one.residual or 0.0),
            one.label,
        ),
    )


def number(value: float | None) -> str:
    """Return a residual security as text.

    Examples
    --------
    >>> number(0.12345), number(None)
    ('0.123', '-')
    """
    return "-" if value is None else f"{value:.3f}"


def comparison_text(found: Comparison) -> str:
    """Return a comparison as text."""
    rows = f"{found.n_rows:,} rows"
    if found.rows_measured < found.n_rows:
        rows += f" ({found.rows_measured:,} measured)"
    lines = [f"{rows}, {len(found.columns)} columns; k-means with {_range(found.clusters)} clusters", ""]
    lines += lines_of(by_merit(found.tried))
    if found.left_out:
        lines += ["", "Not compared"] + [f"  {one.label:16} {one.reason}" for one in found.left_out]
    lines += [f"note: {note}" for note in (*found.notes, *late_notes(found.tried))]
    return "\n".join(lines) + "\n"


def late_notes(tried: Sequence[Compared]) -> list[str]:
    """Return which attacks ran out of time on which settings."""
    return [
        f"{one.label}: out of time, so the grade may be too good: {', '.join(one.timed_out)}"
        for one in tried
        if one.timed_out
    ]


def lines_of(tried: Sequence[Compared]) -> list[str]:
    """Return a table of settings, with what each figure means."""
    width = max(18, *(len(one.label) + 1 for one in tried)) if tried else 18
    head = (
        f"  {'':2}{'method':{width}}{'grade':>6} {'other cluster':>14} {'worst k':>9} {'shared':>9} "
        f"{'residual':>9} {'linked':>8}  settings"
    )
    under = f"  {'':2}{'':{width}}{'':>6} {'less: better':>14} {'less':>9} {'less':>9} {'more: better':>12} {'less':>5}"
    lines = [head, under.rstrip()]
    lines += [
        f"  {'*' if one.best else '':2}{one.label:{width}}{one.grade:>6} {percent(one.excess_mean):>14} "
        f"{percent(one.excess_worst):>9} {percent(one.shared_worst):>9} {number(one.residual):>9} "
        f"{percent(one.linkage):>8}  {one.settings}"
        for one in tried
    ]
    lines += [
        "",
        "  * no other setting is better in grade, residual security and clusters at once",
        "  other cluster: rows that k-means puts into another cluster, beyond a re-run on the original (mean over k)",
        "  worst k: the same for the worst number of clusters; shared: worst k when both start from the same centres",
        "  residual: residual security, what the best attack leaves hidden of the median column (0 open, 1 hidden)",
        "  linked: people whose row the best linkage finds, knowing their full record",
    ]
    return lines


def _range(clusters: Sequence[int]) -> str:
    whole = list(clusters) == list(range(clusters[0], clusters[-1] + 1)) if clusters else False
    return f"{clusters[0]} to {clusters[-1]}" if whole and len(clusters) > 1 else ", ".join(map(str, clusters))
