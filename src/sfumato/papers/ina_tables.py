"""The three tables of the independent-noise paper, judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan
from statistics import mean, median

from sfumato.papers.printed_values import INA
from sfumato.papers.result import Bar, Cell, Row, Table, judge

_FEW = (
    "beta = 5 gives about ten references at most, whatever the sample: the noise cannot shrink to a quarter when it "
    "grows from 200 to 1,000 rows"
)


@dataclass(frozen=True)
class Release:
    """What one release gave, in per cent.

    Attributes
    ----------
    security : float
        mSec.
    kmeans, chameleon : float
        Misclassification; NaN where Chameleon was left out.
    constant : float
        Misclassification by k-means of uniform noise of one width for all rows, with the same Sec in each column.
    broken, broken_ball : float
        Rows that changed their nearest reference, with noise from the box and from the ball.
    references : int
    """

    security: float
    kmeans: float
    chameleon: float
    constant: float
    broken: float
    broken_ball: float
    references: int


_TOUCHING = (
    "the layouts were found for k-means: their clusters touch, and Chameleon draws its borders through the thin parts "
    "between them, where the noise moves them; the paper gives neither its points nor the parameters of its Chameleon"
)
Measured = dict[tuple[int, int], list[Release]]  # (sample, k) -> releases


def _security_cell(measured: Measured, sample: int, k: int) -> Cell:
    printed = INA["mSec"][sample][k - 2]
    ours = mean(release.security for release in measured[sample, k])
    reason = _FEW if sample == 1000 and k >= 4 else ""
    bar = Bar.factor(printed, 1.9) if k <= 3 else Bar(0.0)
    return judge(printed, ours, bar=bar, near=Bar.factor(printed, 1.9), unreachable=reason)


def _with_chameleon(measured: Measured, sample: int, k: int) -> list[float]:
    return [release.chameleon for release in measured[sample, k] if not isnan(release.chameleon)]


def _rate_cell(measured: Measured, clusterer: str, sample: int, k: int) -> Cell:
    printed = INA[clusterer][sample][k - 2]
    near = Bar.factor(printed, 1.9)
    if clusterer == "k-means":
        ours = mean(release.kmeans for release in measured[sample, k])
        return judge(printed, ours, bar=Bar(0.0, 2.5 if sample >= 100 else 5.0), near=near)
    ours = median(_with_chameleon(measured, sample, k))
    return judge(printed, ours, near=near, unreachable=_TOUCHING)


def _claims(measured: Measured, clusters: tuple[int, ...], samples: tuple[int, ...]) -> Table:
    def row(label: str, value: Callable[[list[Release]], float], bars: dict[int, Bar]) -> Row:
        cells = []
        for k in clusters:
            releases = [release for sample in samples for release in measured[sample, k]]
            cells.append(judge(None, value(releases), bar=bars.get(k, Bar())))
        return Row(label, tuple(cells))

    every = dict.fromkeys(clusters, Bar(0.02, 2.2))
    none = dict.fromkeys(clusters, Bar(0.0, 0.0))
    better = {k: Bar(0.0, 0.75) for k in clusters if k >= 3}
    rows = (
        row("rows that change their nearest reference, box, %", lambda r: mean(x.broken for x in r), every),
        row("rows that change their nearest reference, ball, %", lambda r: max(x.broken_ball for x in r), none),
        row(
            "misclassification over that of constant noise with the same Sec",
            lambda r: mean(x.kmeans for x in r) / mean(x.constant for x in r),
            better,
        ),
        row("references, smallest number", lambda r: float(min(x.references for x in r)), {}),
        row("references, largest number", lambda r: float(max(x.references for x in r)), {}),
    )
    bar = "box .02 to 2.2 %, ball 0; at most .75 times the misclassification of constant noise for k >= 3"
    return Table(
        "Claims", "The proof of section 5.2, and constant noise", "", tuple(f"k={k}" for k in clusters), rows, bar
    )


def ina_tables(measured: Measured, clusters: tuple[int, ...], samples: tuple[int, ...]) -> tuple[Table, ...]:
    """Return tables 1 to 3 and the claims.

    Parameters
    ----------
    measured : {(sample, k): releases}
    """
    columns = tuple(f"k={k}" for k in clusters)

    def rows(cell: Callable[[int, int], Cell], chosen: tuple[int, ...] = samples) -> tuple[Row, ...]:
        return tuple(Row(f"sample {sample}", tuple(cell(sample, k) for k in clusters)) for sample in chosen)

    with_chameleon = tuple(sample for sample in samples if _with_chameleon(measured, sample, clusters[0]))

    return (
        Table(
            "Table 1",
            "Smallest Sec of the columns",
            "%",
            columns,
            rows(lambda sample, k: _security_cell(measured, sample, k)),
            "k = 2 and 3 within a factor of 1.9",
        ),
        Table(
            "Table 2",
            "Misclassification with k-means",
            "%",
            columns,
            rows(lambda sample, k: _rate_cell(measured, "k-means", sample, k)),
            "at most 2.5 for samples of 100 and more (5 for 50)",
        ),
        Table(
            "Table 3",
            "Misclassification with Chameleon (median of the releases)",
            "%",
            columns,
            rows(lambda sample, k: _rate_cell(measured, "Chameleon", sample, k), with_chameleon),
            "none: the print is out of reach",
        ),
        _claims(measured, clusters, samples),
    )
