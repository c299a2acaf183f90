# ruff: noqa: E501 - the lines of the page are as long as its tables
"""Writes docs/frontier.md and its chart from the measured figures."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from sfumato.perturb.catalogue import methods
from sfumato.report.chart import stand_alone
from tools.frontier.chart import frontier_chart
from tools.frontier.ladder_page import ladder_parts
from tools.frontier.tables import TABLES
from tools.frontier.tuned import LEAST_EXCESS, PAPERS
from tools.made_from import stamped

__all__ = ["render"]


def render(results: Path, docs: Path) -> None:
    """Write the page and the chart from what has been measured."""
    measured = {
        name: json.loads((results / f"{name}.json").read_text())
        for name in TABLES
        if (results / f"{name}.json").exists()
    }
    if not measured:
        return
    parts = [
        _HEAD,
        *ladder_parts(measured),
        _MIXED,
        _mixing_table(measured, exact=False),
        _EXACT,
        _mixing_table(measured, exact=True),
    ]
    parts += [_RESCALED, _rescaled_table(measured), _OTHERS, _methods_table(measured), _RATIO, _ratio_table(measured)]
    (docs / "frontier.md").write_text(stamped("\n".join(parts) + "\n"))
    (docs / "img" / "frontier.svg").write_text(stand_alone(frontier_chart(measured)))
    print("frontier: wrote docs/frontier.md and docs/img/frontier.svg")


def _keys(records: dict[str, Any], *, exact: bool) -> list[dict[str, Any]]:
    start = "mix exact key " if exact else "mix key "
    return [record for label, record in sorted(records.items()) if label.startswith(start)]


def _percent(value: float | None, places: int = 1) -> str:
    return "-" if value is None else f"{100 * value:.{places}f}"


def _values(records: list[dict[str, Any]], name: str) -> list[float]:
    return [record[name] for record in records if record.get(name) is not None]


def _mean(records: list[dict[str, Any]], name: str) -> float | None:
    found = _values(records, name)
    return float(np.mean(found)) if found else None


def _most(records: list[dict[str, Any]], name: str) -> float | None:
    found = _values(records, name)
    return max(found) if found else None


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _mixing_table(measured: dict[str, Any], *, exact: bool) -> str:
    head = [
        "table",
        "keys",
        "shared starts, worst k: mean / worst key",
        "the same, rounded",
        "free starts: excess, mean over k",
        "the same, rounded",
        "excess at stable k",
        "linked, mean (chance)",
        "linked, worst key (allowed)",
        "residual security",
        "rows as they were",
        "rows not repaired",
    ]
    lines = [_line(head), _line(["---"] * len(head))]
    for name, records in measured.items():
        rows = _keys(records, exact=exact)
        if not rows:
            continue
        allowed = [1.3 * row["chance"] + 0.005 for row in rows]
        worst = max(range(len(rows)), key=lambda i: rows[i]["linkage"] - allowed[i])
        lines.append(
            _line(
                [
                    name,
                    str(len(rows)),
                    f"{_percent(_mean(rows, 'shared'), 2)} / {_percent(_most(rows, 'shared'), 2)}",
                    f"{_percent(_mean(rows, 'shared rounded'), 2)} / {_percent(_most(rows, 'shared rounded'), 2)}",
                    _percent(_mean(rows, "excess"), 2),
                    _percent(_mean(rows, "excess rounded"), 2),
                    _percent(_mean(rows, "excess stable"), 2),
                    f"{_percent(_mean(rows, 'linkage'))} ({_percent(_mean(rows, 'chance'))})",
                    f"{_percent(rows[worst]['linkage'])} ({_percent(allowed[worst])})",
                    "-" if _mean(rows, "residual") is None else f"{_mean(rows, 'residual'):.2f}",
                    f"{int(sum(_values(rows, 'unlisted')))} unlisted"
                    + (f", {_mean(rows, 'listed'):.0f} listed" if exact else ""),
                    f"{_mean(rows, 'unrepaired'):.1f}",
                ]
            )
        )
    return "\n".join(lines)


def _rescaled_table(measured: dict[str, Any]) -> str:
    head = [
        "table",
        "keys",
        "owner's scaling",
        "miner's z-score",
        "miner's min-max",
        "k = 9..12, not named",
        "Ward on a sample",
    ]
    lines = [_line(head), _line(["---"] * len(head))]
    for name, records in measured.items():
        rows = [row for row in _keys(records, exact=False) if "excess z" in row]
        if rows:
            figures = ("excess", "excess z", "excess min-max", "excess others", "ward")
            lines.append(_line([name, str(len(rows)), *(_percent(_mean(rows, figure), 2) for figure in figures)]))
    return "\n".join(lines)


def _method_rows(measured: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return label -> one record for each table."""
    labels: dict[str, list[dict[str, Any]]] = {}
    for records in measured.values():
        for label, record in records.items():
            if " key " not in label and not label.startswith("tuned ") and "reason" not in record:
                labels.setdefault(label, []).append(record)
        for exact, label in ((False, "**mix**"), (True, "**mix, exact centres**")):
            rows = _keys(records, exact=exact)
            if rows:
                names = {name for row in rows for name, value in row.items() if isinstance(value, int | float)}
                labels.setdefault(label, []).append({name: _mean(rows, name) for name in names})
    return labels


def _methods_table(measured: dict[str, Any]) -> str:
    head = [
        "method",
        "tables",
        "excess",
        "excess after z-score",
        "shared starts",
        "k = 9..12",
        "Ward",
        "residual security",
        "best linkage",
        "chance",
    ]
    lines = [_line(head), _line(["---"] * len(head))]
    rows = _method_rows(measured)
    for label in sorted(rows, key=lambda one: _mean(rows[one], "excess") or 0.0):
        some = rows[label]
        residual = _values(some, "residual")
        lines.append(
            _line(
                [
                    label,
                    str(len(some)),
                    *(
                        _percent(_mean(some, name))
                        for name in ("excess", "excess z", "shared", "excess others", "ward")
                    ),
                    f"{median(residual):.2f}" if residual else "-",
                    _percent(_mean(some, "linkage")),
                    _percent(_mean(some, "chance")),
                ]
            )
        )
    return "\n".join(lines)


def _ratio_table(measured: dict[str, Any]) -> str:
    papers = {row.id for row in methods() if row.paper.id in PAPERS}
    head = [
        "table",
        "mix: excess",
        "mix: residual security",
        "best of the papers at no more excess",
        "its residual security",
        "ratio",
    ]
    lines = [_line(head), _line(["---"] * len(head))]
    for name, records in measured.items():
        mine = _keys(records, exact=False)
        residual, excess = _mean(mine, "residual"), _mean(mine, "excess")
        if residual is None or excess is None:
            continue
        theirs_all = {
            label: record
            for label, record in records.items()
            if _method_of(label) in papers and record.get("excess") is not None
        }
        rivals = {
            label: record
            for label, record in theirs_all.items()
            if record.get("residual") is not None
            and record["excess"] <= max(excess, LEAST_EXCESS)
            and record.get("confirmed", True)
        }
        best = max(rivals, key=lambda label: rivals[label]["residual"]) if rivals else None
        theirs = rivals[best]["residual"] if best else None
        ratio = (
            "not measured"
            if not theirs_all
            else f"none of {len(theirs_all)} settings keeps so much"
            if theirs is None
            else "nothing is left of it"
            if theirs < 1e-6
            else f"{residual / theirs:.1f}"
        )
        lines.append(
            _line(
                [
                    name,
                    _percent(excess, 2),
                    f"{residual:.2f}",
                    best or "none",
                    "-" if theirs is None else f"{theirs:.3f}",
                    ratio,
                ]
            )
        )
    return "\n".join(lines)


def _method_of(label: str) -> str:
    words = label.replace(" (paper)", "").split(" ")
    return words[1] if words[0] == "tuned" else words[-1]


_HEAD = """# The frontier: what a release keeps, and what it hides

Made by `make frontier` from real runs; nothing here is typed by hand. Nine tables: census, housing, tarragona, wages, wine,
BCW with 9 columns, Musk, Shuttle, and Adult's numeric columns. First the default, which keeps the ladder, k = 2..20 (guard.md). Then, and
in the picture, releases that keep k-means for k = 2..8 in standard-deviation space, named as `clusterings=range(2, 9)`.

![excess misclassification against residual security and linkage](img/frontier.svg)

How to read it
- *Shared starts*: k-means on the release from the named centres; share of rows in another cluster, in %, less is better.
- *Free starts, excess*: a miner with starts of their own (20 a run, five seeds). Two
  such miners disagree on the original already, the floor; the excess is what the release adds, in % of rows, less is better.
  *Stable k*: those whose floor is below 1 %.
- *Linked*: people whose row the best of all linkage attacks finds, in %. The attacker holds their full records, the labels of
  all rows, the named centres and the true mean and covariance of every atom. *Chance* is atoms / rows, what labels alone give;
  *allowed* is 1.3 times that plus half a point.
- *Residual security*: the share of a column's variance that is left after the best attack (the release itself, the best affine
  inversion, the atom's mean), median column; more is better. A rotation has 0.
- *Rows as they were*: released rows that equal their originals and are not on the list of disclosed rows.
"""
_MIXED = """
## Atom mixing of k = 2..8
With every row (`exposed="publish"`).
"""
_EXACT = """
## Atom mixing of k = 2..8 with exact centres
"""
_RESCALED = """
## After the miner's own scaling, and clusterings that were not named
Excess of free starts in %, mean over k. The last three columns were measured for one or two of the keys. Ward: share of rows
in another cluster.
"""
_OTHERS = """
## All methods
Defaults, and each paper's own parameters where they fit the table; mean over the tables (residual security: median). Methods
that rotate or rescale are measured in the owner's scaling, in which they do not keep the clusters even where distances stay.
"""
_RATIO = """
## Against the five papers at the same excess
The method of the papers that hides most among those that keep as much: defaults, the papers' parameters, and eight values of
every parameter that a search would try, over its whole range. What loses half a per cent of the rows counts as keeping as much.
Of tables of more than 8,000 rows a sample of so many screens the settings first: those that lose more than mix on it are out.
"""
