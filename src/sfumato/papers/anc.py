"""Rajalakshmi and Anandha Mala: nested clustering on Adult, table 1."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sfumato._arrays import Integers
from sfumato.cluster import fuzzy_centres, nearest_centre
from sfumato.metrics import (
    anonymization_degree,
    davies_bouldin_index,
    equivalence_class_sizes,
    hiding_failure,
    misclassification_rate,
)
from sfumato.papers.data_files import read_dataset
from sfumato.papers.printed_values import ANC
from sfumato.papers.result import ANY, Bar, Cell, Figure, Panel, Reproduction, Row, Table, judge, points
from sfumato.papers.source import source
from sfumato.papers.work import Worker
from sfumato.perturb import Microaggregation, NestedClustering
from sfumato.perturb.perturbers.nested import nested_groups

_SMALL = (
    "among 1,000 rows the spread inside the groups comes on top of the moves by one unit, and the paper does not say "
    "how its groups are formed; from 5,000 rows on the moves decide"
)
_TIME = "0.2 microseconds for each row, clustering included, on a computer of 2012"
_SIZES = (1000, 5000, 10000, 20000, 30000)


def read_adult(folder: str | Path | None = None) -> Integers:
    """Return age and hours per week of the rows of Adult with a workclass.

    These are the complete rows in the paper's eight columns: 30,725, where the paper says 30,722.

    Parameters
    ----------
    folder : path, optional

    Returns
    -------
    array of shape (30725, 2)
    """
    table = read_dataset("adult.csv.gz", folder)
    present = np.array([text != "" for text in table["workclass"]])
    both: Integers = np.array([table["age"], table["hours-per-week"]], dtype=np.int64).T
    return np.asarray(both[present], dtype=np.int64)


@dataclass(frozen=True)
class _Found:
    """Measures on the first rows of Adult; the last four are not the paper's."""

    degree: float
    davies_bouldin: float
    misclassified: float
    unchanged: float
    milliseconds: float
    group_sizes: tuple[int, int]
    group_rule_unchanged: float
    group_rule_smallest: int
    microaggregated: float


def _run(rows: Integers) -> _Found:
    begin = time.process_time()
    released = NestedClustering(rule="paper", insecure_seed=1).fit_transform(rows)
    seconds = time.process_time() - begin
    grouped = NestedClustering(rule="group", insecure_seed=1).fit_transform(rows)
    table = rows.astype(np.float64)
    scaled = table / table.std(axis=0)
    parents = fuzzy_centres(scaled, 2).centres
    before, after = nearest_centre(scaled, parents), nearest_centre(released / table.std(axis=0), parents)
    groups = nested_groups(np.ascontiguousarray(scaled.T), before, 3)
    sizes = np.bincount(groups)
    return _Found(
        degree=anonymization_degree(rows, released),
        davies_bouldin=davies_bouldin_index(scaled, groups),
        misclassified=100.0 * misclassification_rate(before, after),
        unchanged=hiding_failure(rows, released),
        milliseconds=1000.0 * seconds,
        group_sizes=(int(sizes.min()), int(sizes.max())),
        group_rule_unchanged=hiding_failure(rows, grouped),
        group_rule_smallest=int(equivalence_class_sizes(grouped).min()),
        microaggregated=anonymization_degree(table, Microaggregation(3, insecure_seed=1).fit_transform(table)),
    )


def _paper_table(found: list[_Found]) -> Table:
    rows = []
    previous = np.inf
    for n, ours in zip(_SIZES, found, strict=True):
        degree, davies, _, _, milliseconds = ANC[n]
        near = Bar.around(degree, share=0.08)
        cells: tuple[Cell, ...] = (
            judge(degree, ours.degree, bar=near if n >= 5000 else Bar(0.0), near=near, unreachable=_SMALL),
            judge(davies, ours.davies_bouldin, bar=Bar(0.0, previous), near=Bar.around(davies, share=0.08)),
            judge(0.0, ours.misclassified, bar=Bar(0.0, 0.1)),
            judge(0.0, ours.unchanged, bar=Bar(0.0, 0.0)),
            judge(milliseconds, ours.milliseconds, near=Bar.factor(milliseconds, 2.0), unreachable=_TIME),
        )
        rows.append(Row(f"{n // 1000}K", cells))
        previous = ours.davies_bouldin
    return Table(
        "Table 1",
        "Nested clustering, the paper's rule, on the first rows of Adult",
        "",
        ("DA, %", "DB", "ME, %", "HF", "CC, ms"),
        tuple(rows),
        "DA within 8 % from 5K on; ME at most 0.1 % with fixed parents; HF 0; DB falls from row to row",
        ("DB: Davies-Bouldin index of the groups in the original table; no reading reaches the print.",),
    )


def _claims(found: list[_Found]) -> Table:
    def row(label: str, values: list[float], bar: Bar) -> Row:
        return Row(label, tuple(judge(None, value, bar=bar) for value in values))

    rows = (
        row("smallest group", [float(f.group_sizes[0]) for f in found], Bar(3.0, 5.0)),
        row("largest group", [float(f.group_sizes[1]) for f in found], Bar(3.0, 5.0)),
        row("group rule: HF", [f.group_rule_unchanged for f in found], Bar(0.0, 0.0)),
        row("group rule: k of the released columns", [float(f.group_rule_smallest) for f in found], Bar(3.0)),
        row("for comparison: DA of MDAV with groups of three, %", [f.microaggregated for f in found], ANY),
    )
    columns = tuple(f"{n // 1000}K" for n in _SIZES)
    return Table(
        "Claims", "Groups, and the rule that sfumato uses", "", columns, rows, "groups of 3 to 5; HF 0; k >= 3"
    )


def _figure(rows: Integers) -> Figure:
    # Each column shuffled by itself, so that no row of the figure is a person of the table.
    rng = np.random.default_rng(3)
    mixed = np.column_stack([rng.permutation(rows[:, 0]), rng.permutation(rows[:, 1])])[:900]
    released = NestedClustering(rule="paper", insecure_seed=1).fit_transform(mixed)
    series = (points("before", mixed.tolist()), points("after", released.tolist(), mark="cross"))
    note = "Columns shuffled by themselves: no row is an original one. In the manner of figures 4 and 5."
    return Figure("Figure A", "Rows before and after", (Panel("900 rows", "age", "hours per week", series),), note)


def reproduce(worker: Worker, *, quick: bool, folder: str | Path | None = None) -> Reproduction:
    """Return table 1.

    Parameters
    ----------
    quick : bool
        The same: it takes seconds.
    folder : path, optional
        Where the data are.
    """
    adult = read_adult(folder)
    found = worker.map(_run, [adult[:n] for n in _SIZES], "ANC: Adult, 1K to 30K rows")
    title, citation = source("anc")
    return Reproduction(
        paper="anc",
        title=title,
        citation=citation,
        quick=quick,
        protocol=(
            (
                f"Adult, age and hours per week as whole numbers, {len(adult):,} rows with a workclass (the paper says "
                "30,722; no choice of columns gives that), the first n of them."
            ),
            "Two parents by fuzzy c-means in units of standard deviations; groups of 3 to 5 along a Hilbert curve.",
            "ME: nearest of the two original parent centres, before and after.",
        ),
        tables=(_paper_table(found), _claims(found)),
        figures=(_figure(adult),),
    )
