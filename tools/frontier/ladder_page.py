# ruff: noqa: E501 - the lines of the page are as long as its tables
"""The ladder on the page of the frontier: which miner keeps what, in sentences and tables that are made from figures."""

from __future__ import annotations

from typing import Any

import numpy as np

from tools.frontier.ladder import LADDER_METHODS
from tools.frontier.likely import STARTS_ON_RELEASES, TRIES
from tools.frontier.others import OTHER_CLUSTERERS

__all__ = ["ladder_parts"]

_KEPT = 0.03  # excess with which a clustering counts as kept
_UNSTABLE = 0.1  # floor above which a clusterer finds nothing that lasts
_RANGES = ("not named", "with std", "alone")

# what a miner does -> the figure of a record
_MINERS = {
    "k-means, k = 2..20, the owner's scaling": "excess",
    "k-means after the miner's own z-score": "excess z",
    "k-means by the original's ranges, not named": "owner's range, not named",
    "k-means by the original's ranges, named beside std (`other_scalings`)": "owner's range, with std",
    'k-means by the original\'s ranges, named instead of std (`scaling="range"`)': "owner's range, alone",
    "k-means by the release's own ranges, named instead of std": "own range, alone",
}


def ladder_parts(measured: dict[str, Any]) -> list[str]:
    """Return the sections of the page; nothing where the ladder was not measured."""
    records = {
        (name, method): [record for label, record in done.items() if label.startswith(f"ladder {method} key ")]
        for name, done in measured.items()
        for method in LADDER_METHODS
    }
    records = {place: rows for place, rows in records.items() if rows}
    if not records:
        return []
    return [_head(records), _plainly(records), _in_words(records), _TABLE, _table(records), _OTHERS, _others(records)]


def _mean(rows: list[dict[str, Any]], figure: str) -> float:
    return float(np.mean([row[figure] for row in rows]))


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _head(records: dict[Any, list[dict[str, Any]]]) -> str:
    every = [row for rows in records.values() for row in rows]
    keys = sorted({len(rows) for rows in records.values()})
    most = max(row["rows"] for row in every)
    starts = " or ".join(map(str, sorted({row["starts"] for row in every})))
    return f"""
## The default: the ladder
Measured with {" or ".join(map(str, keys))} keys, on at most {most:,} rows of a table. A miner takes the best of {TRIES} starts of k-means, and what two
of them find is expected to differ by the floor: {starts} single starts on the original, and {STARTS_ON_RELEASES} on a release, tell the chances of every
optimum. Rows that are held back are left out on both sides. Excess is signed: a
release may agree with the original better than a re-run does.

### Which miner keeps what
Mean over the tables, in % of the rows, and on how many of them at most {100 * _KEPT:g} points are lost. Other clusterers count on tables where their
floor (seeds, and noise of one per cent) is below {100 * _UNSTABLE:g} %, and where they find two clusters or more.
"""


def _plainly(records: dict[Any, list[dict[str, Any]]]) -> str:
    head = ["miner", *(f"{method}: excess (kept on)" for method in LADDER_METHODS)]
    lines = [_line(head), _line(["---"] * len(head))]
    lines += [_line([words, *(_kept(values[method]) for method in LADDER_METHODS)]) for words, values in _lost(records)]
    return "\n".join(lines)


def _lost(records: dict[Any, list[dict[str, Any]]]) -> list[tuple[str, dict[str, list[float]]]]:
    """Return what each miner loses, for both methods: one figure for each table that counts."""
    found: list[tuple[str, dict[str, list[float]]]] = [
        (words, {method: [_mean(rows, figure) for rows in _of(records, method)] for method in LADDER_METHODS})
        for words, figure in _MINERS.items()
    ]
    for name in OTHER_CLUSTERERS:
        stable = {
            method: [
                own
                for own in ([row[name] for row in rows] for rows in _of(records, method))
                if own[0]["clusters"] > 1 and _mean(own, "floor") < _UNSTABLE
            ]
            for method in LADDER_METHODS
        }
        found += [
            (f"{name}, {named}", {method: [_mean(own, named) for own in rows] for method, rows in stable.items()})
            for named in ("not named", "named")
        ]
    return found


def _in_words(records: dict[Any, list[dict[str, Any]]]) -> str:
    """Return which miner keeps what, in sentences."""
    lines = [""]
    for method in LADDER_METHODS:
        means = {words: float(np.mean(values[method])) for words, values in _lost(records) if values[method]}
        kept = [words for words, mean in means.items() if mean <= _KEPT]
        lost = [f"{words} ({_percent(mean)})" for words, mean in means.items() if mean > _KEPT]
        lines.append(f"- **{method}** keeps, on the mean: {'; '.join(kept) or 'nothing'}.")
        lines.append(f"  It does not keep: {'; '.join(lost) or 'nothing of these is lost'}.")
    return "\n".join(lines)


def _of(records: dict[Any, list[dict[str, Any]]], method: str) -> list[list[dict[str, Any]]]:
    return [rows for (_, own), rows in records.items() if own == method]


def _kept(values: list[float]) -> str:
    if not values:
        return "-"
    return f"{_percent(float(np.mean(values)))} ({sum(value <= _KEPT for value in values)} of {len(values)})"


_TABLE = """
### Every table
*Linked*: people whose nearest released row is their own. *Worst k*: the number of clusters that loses most with any key, and how many of all numbers
and keys lose more than 6 points. *Own z-score*: after the miner's own scaling / in the owner's, with the same four numbers of clusters. Ranges: k-means by the original's
ranges / by those of the release, when they are not named, named beside standard deviations, and named instead.
"""


def _table(records: dict[Any, list[dict[str, Any]]]) -> str:
    head = ["table", "method", "rows", "held back", "atoms, %", "residual", "linked", "excess, mean over k", "worst k"]
    head += ["own z-score", *(f"ranges, {how}" for how in _RANGES)]
    lines = [_line(head), _line(["---"] * len(head))]
    for (name, method), rows in records.items():
        worst = max(rows, key=lambda row: row["worst"])
        cells = [
            name,
            method,
            f"{rows[0]['rows']:,}",
            f"{_mean(rows, 'held back'):.0f}",
            _percent(_mean(rows, "atoms")),
        ]
        cells += [f"{_mean(rows, 'residual'):.2f}", *(_percent(_mean(rows, one)) for one in ("linked", "excess"))]
        lost, every = (sum(row[one] for row in rows) for one in ("lost k", "every k"))
        cells.append(f"{_percent(worst['worst'])} (k = {worst['worst k']}); {lost} of {every}")
        cells.append(f"{_percent(_mean(rows, 'excess z'))} / {_percent(_mean(rows, 'excess std'))}")
        cells += [
            " / ".join(_percent(_mean(rows, f"{whose} range, {how}")) for whose in ("owner's", "own"))
            for how in _RANGES
        ]
        lines.append(_line(cells))
    return "\n".join(lines)


_OTHERS = """
### Other clusterers
Rows in another cluster beyond the floor, in %: not named / named beside the ladder; in brackets the floor and the number of clusters.
The floor is how much two people disagree who run it on the original, with seeds of their own and noise of one per cent. Where it is high
the clusterer finds nothing on the original that lasts.
"""


def _others(records: dict[Any, list[dict[str, Any]]]) -> str:
    head = ["table", "method", *OTHER_CLUSTERERS]
    lines = [_line(head), _line(["---"] * len(head))]
    for (name, method), rows in records.items():
        cells = [name, method]
        for clusterer in OTHER_CLUSTERERS:
            own = [row[clusterer] for row in rows]
            before, after = (_percent(_mean(own, one)) for one in ("not named", "named"))
            cells.append(f"{before} / {after} ({_percent(_mean(own, 'floor'))}; {own[0]['clusters']})")
        lines.append(_line(cells))
    return "\n".join(lines)
