"""The tables and figures of the chaotic-distortion paper, judged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato._arrays import Floats
from sfumato.papers.printed_values import CHAOTIC
from sfumato.papers.result import Bar, Cell, Figure, Panel, Row, Series, Table, judge, points
from sfumato.perturb import ChaoticNoise

FAMILIES = ("census", "housing", "tarragona", "wages")
_CORRELATION = {"census": 0.35, "housing": 0.85, "tarragona": 0.95, "wages": 0.55}


@dataclass(frozen=True)
class ChaoticMeasured:
    """The paper's summaries; arrays run over the numbers of clusters."""

    cid: dict[str, Floats]
    dunn: dict[str, Floats]
    f: dict[str, float]
    p: dict[str, float]
    t: Floats
    correlation: dict[str, float]


def _cid_cell(printed: float | None, ours: float) -> Cell:
    if printed is None:
        return judge(None, ours, bar=Bar(1.0), note="the printed number cannot be read in the text we have")
    return judge(printed, ours, bar=Bar.factor(printed, 2.5), near=Bar.factor(printed, 2.0))


def _summary(measured: ChaoticMeasured, clusters: tuple[int, ...]) -> tuple[Table, Table]:
    columns = tuple(f"k={k}" for k in clusters)
    cid = [
        Row(name, tuple(_cid_cell(p, float(o)) for p, o in zip(CHAOTIC["CID"][name], measured.cid[name], strict=True)))
        for name in FAMILIES
    ]
    dunn = [
        Row(
            name,
            tuple(
                judge(p, float(o), bar=Bar.around(float(p or 0.0), share=0.25))
                for p, o in zip(CHAOTIC["DI"][name], measured.dunn[name], strict=True)
            ),
        )
        for name in FAMILIES
    ]
    return (
        Table("Table 2, CID", "Comprehensive index PPD / ILD", "", columns, tuple(cid), "all within a factor of 2.5"),
        Table("Table 2, DI", "Dunn's index", "", columns, tuple(dunn), "within 25 %"),
    )


def _claims(measured: ChaoticMeasured) -> Table:
    cells = [c for name in FAMILIES for c in zip(CHAOTIC["CID"][name], measured.cid[name], strict=True)]
    readable = [(printed, float(ours)) for printed, ours in cells if printed is not None]
    near = sum(Bar.factor(printed, 2.0).holds(ours) for printed, ours in readable)
    least = len(readable) - 2
    four, five = (float(measured.cid["census"][i]) for i in (2, 3))
    rows = [
        Row("CID within a factor of 2, of the numbers that can be read", (judge(len(readable), near, bar=Bar(least)),)),
        Row("census: CID at k = 5 over CID at k = 4", (judge(8.68 / 6.18, five / four, bar=Bar(1.0)),)),
    ]
    for name in FAMILIES:
        printed = CHAOTIC["correlation"][name][0]
        rows.append(
            Row(
                f"{name}: correlation of CID and DI",
                (judge(printed, measured.correlation[name], bar=Bar(_CORRELATION[name])),),
            )
        )
    bar = f"at least {least} of {len(readable)} CID; above 1; correlations at least .35, .85, .95, .55"
    return Table("Claims", "What the tables together must show", "", ("value",), tuple(rows), bar)


def chaotic_tables(measured: ChaoticMeasured, clusters: tuple[int, ...], degrees: tuple[int, int]) -> tuple[Table, ...]:
    """Return tables 2 to 4 and the claims.

    Parameters
    ----------
    degrees : (int, int)
        Degrees of freedom of the F tests.
    """
    anova = [
        Row(
            "F",
            tuple(judge(CHAOTIC["ANOVA F"][n][0], measured.f[n], near=Bar(0.3, 1.75)) for n in FAMILIES),
        ),
        Row(
            "p",
            tuple(judge(CHAOTIC["ANOVA p"][n][0], measured.p[n], bar=Bar(0.01, 1.0)) for n in FAMILIES),
        ),
    ]
    printed = [float(v or 0.0) for v in CHAOTIC["paired t"]["all"]]
    paired = Row("T", tuple(judge(p, float(t), bar=Bar(3.7, 4.15)) for p, t in zip(printed, measured.t, strict=True)))
    return (
        *_summary(measured, clusters),
        Table(
            "Table 3", f"ANOVA on the order of the rows, df {degrees}", "", FAMILIES, tuple(anova), "p above .01"
        ),
        Table(
            "Table 4", "Paired t-test, PPD against ILD over all 44 tables", "", tuple(f"k={k}" for k in clusters),
            (paired,), "3.7 to 4.15",
        ),
        _claims(measured),
    )  # fmt: skip


def chaotic_figures(
    measured: ChaoticMeasured, clusters: tuple[int, ...], tables: dict[str, Floats]
) -> tuple[Figure, ...]:
    """Return figure 1 (CID against DI) and points before and after.

    Parameters
    ----------
    tables : {family: array of shape (n, d)}
    """
    panels = []
    for name in FAMILIES:
        cid, dunn = measured.cid[name], measured.dunn[name]
        # As in the paper, Dunn's index is scaled up to be compared.
        scaled = dunn * float(cid.max() / dunn.max())
        series = (
            points("CID", [*zip(clusters, cid.tolist(), strict=True)], mark="line"),
            points("DI, scaled", [*zip(clusters, scaled.tolist(), strict=True)], mark="line"),
        )
        panels.append(Panel(name, "clusters", "CID", series))
    return (
        Figure("Figure 1", "CID against DI", tuple(panels), "DI is scaled to the largest CID of its family."),
        _before_and_after(tables),
    )


def _before_and_after(tables: dict[str, Floats]) -> Figure:
    # Synthetic stand-ins keep the figure free of original rows: each column's values in a random order of their own.
    panels = []
    for name, (first, second) in {"census": (1, 3), "wages": (6, 5)}.items():
        table = tables[name]
        rng = np.random.default_rng(11)
        mixed = np.column_stack([rng.permutation(table[:, first]), rng.permutation(table[:, second])])[:300]
        released = ChaoticNoise(source="orbit", insecure_seed=1).fit_transform(mixed)
        series: tuple[Series, ...] = (
            points("before", mixed.tolist()),
            points("after", released.tolist(), mark="cross"),
        )
        panels.append(Panel(name, f"column {first + 1}", f"column {second + 1}", series))
    return Figure(
        "Figure A",
        "Points before and after",
        tuple(panels),
        "Columns shuffled by themselves: no row is an original one.",
    )
