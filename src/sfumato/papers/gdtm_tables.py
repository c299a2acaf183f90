"""The six tables of the GDTM paper, judged."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean, median

from sfumato.papers.printed_values import GDTM_MISCLASSIFICATION, GDTM_SECURITY
from sfumato.papers.result import Bar, Cell, Row, Table, judge

# What Var(x - y) / Var(x) must be, in per cent, whatever the data.
CLOSED_FORM = {"TDP": (0.0, 0.0), "SDP": (0.49, 1.21), "HDP": (0.0, 0.64)}
_ROTATION = (
    "a rotation by 356.71 degrees gives two privacy levels whose product is sin^4 of the angle, 0.108 in per cent "
    "squared, whatever the data; the printed pair multiplies to 0.545"
)
_MISPRINT = "the paper's own TDP row and table 2 add up to 5.46: a misprint"
_CRUMBS = (
    "rows with noise lie between the clusters as crumbs of their own and join one of their neighbours as a whole; "
    "the paper does not give the parameters of its Chameleon"
)
_NAMES = {0: ("Table 1", "Table 2"), 5: ("Table 3", "Table 4"), 10: ("Table 5", "Table 6")}


@dataclass(frozen=True)
class Security:
    """Var(x - y) / Var(x) in per cent, (age, salary), and that of a translation with the same noise."""

    value: tuple[float, float]
    translated: tuple[float, float]


@dataclass(frozen=True)
class Measured:
    """What the experiments gave, in per cent.

    Attributes
    ----------
    rates : {(rho, clusterer, method, k): misclassification of each run}
    security : {(rho, method, k): Security}
    """

    rates: dict[tuple[int, str, str, int], list[float]]
    security: dict[tuple[int, str, int], Security]


def _near(printed: float) -> Bar:
    return Bar.around(printed, share=0.5, absolute=0.1)


def _rate_cell(measured: Measured, rho: int, clusterer: str, method: str, k: int) -> Cell:
    printed = GDTM_MISCLASSIFICATION[rho, clusterer][method][k - 2]
    runs = measured.rates[rho, clusterer, method, k]
    ours = mean(runs)
    if method == "ADP":
        if clusterer == "k-means":
            return judge(printed, ours, bar=Bar(10.0, 45.0), near=_near(printed))
        return judge(printed, ours, bar=Bar(5.0), near=_near(printed))
    if rho == 0:
        return judge(printed, ours, bar=Bar(0.0, 0.2 if clusterer == "k-means" else 0.5), near=_near(printed))
    if clusterer == "Chameleon":
        # Rows without noise must keep their cluster: no more rows change than got noise.
        ours = median(runs)
        return judge(printed, ours, bar=Bar(0.0, float(rho)), near=_near(printed), unreachable=_CRUMBS)
    if rho == 5:
        return judge(printed, ours, bar=Bar(0.8, 2.8), near=_near(printed))
    return judge(printed, median(runs), bar=Bar(1.7, 5.5), near=_near(printed))


def _rate_table(measured: Measured, rho: int, clusters: tuple[int, ...]) -> Table:
    rows = [
        Row(f"{clusterer}, {method}", tuple(_rate_cell(measured, rho, clusterer, method, k) for k in clusters))
        for clusterer in ("k-means", "Chameleon")
        for method in GDTM_MISCLASSIFICATION[rho, clusterer]
        if (rho, clusterer, method, clusters[0]) in measured.rates
    ]
    bars = {
        0: "k-means at most 0.2, Chameleon at most 0.5; ADP 10 to 45 with k-means, 5 or more with Chameleon",
        5: "k-means 0.8 to 2.8 (mean); Chameleon no more than the 5 % of rows with noise (median)",
        10: "k-means 1.7 to 5.5 (median); Chameleon no more than the 10 % of rows with noise (median)",
    }
    title = "Misclassification" + (f" with privacy enhance rho = {rho} %" if rho else "")
    means = [mean(runs) for (r, c, _, _), runs in measured.rates.items() if (r, c) == (rho, "k-means")]
    notes = (f"k-means, means of the runs: {min(means):.2f} to {max(means):.2f}.",) if rho == 10 else ()
    return Table(_NAMES[rho][0], title, "%", tuple(f"k={k}" for k in clusters), tuple(rows), bars[rho], notes)


def _security_cell(measured: Measured, rho: int, method: str, k: int, column: int) -> Cell:
    printed = GDTM_SECURITY[rho][method][k - 2][column]
    found = measured.security[rho, method, k]
    ours = found.value[column]
    if rho == 0:
        if method == "RDP":
            # Both levels are bound by their product; see the claims below.
            reason = _ROTATION if k == 3 else ""
            return judge(printed, ours, near=Bar.around(printed, share=0.15, absolute=0.02), unreachable=reason)
        exact = CLOSED_FORM[method][column]
        return judge(printed, ours, bar=Bar.around(exact, absolute=0.01))
    share = 0.20 if rho == 5 else 0.12
    near = Bar.around(printed, share=share)
    if method == "TDP":
        return judge(printed, ours, bar=near)
    expected = measured.security[0, method, k].value[column] + found.translated[column]
    reason = (
        _MISPRINT if (rho, method, k, column) == (10, "SDP", 3, 0) else _ROTATION if (method, k) == ("RDP", 3) else ""
    )
    return judge(
        printed, ours, bar=Bar.around(expected, absolute=0.1 if rho == 5 else 0.2), near=near, unreachable=reason
    )


def _security_table(measured: Measured, rho: int, clusters: tuple[int, ...], methods: tuple[str, ...]) -> Table:
    columns = tuple(f"k={k} {name}" for k in clusters for name in ("age", "salary"))
    rows = [
        Row(method, tuple(_security_cell(measured, rho, method, k, column) for k in clusters for column in (0, 1)))
        for method in methods
    ]
    if rho == 0:
        bar = "within 0.01 of the closed form; for RDP the product of both levels"
    else:
        bar = (
            f"TDP within {20 if rho == 5 else 12} % of the print; the others: own privacy without noise plus that of "
            f"TDP with the same noise, within {0.1 if rho == 5 else 0.2}"
        )
    title = "Privacy, Var(x - y) / Var(x)" + (f", with rho = {rho} %" if rho else "")
    return Table(_NAMES[rho][1], title, "%", columns, tuple(rows), bar)


def _claims(measured: Measured, clusters: tuple[int, ...]) -> Table:
    product = Row(
        "RDP: age times salary of table 2",
        tuple(
            judge(
                GDTM_SECURITY[0]["RDP"][k - 2][0] * GDTM_SECURITY[0]["RDP"][k - 2][1],
                measured.security[0, "RDP", k].value[0] * measured.security[0, "RDP", k].value[1],
                bar=Bar(0.10, 0.12),
                near=Bar.around(GDTM_SECURITY[0]["RDP"][k - 2][0] * GDTM_SECURITY[0]["RDP"][k - 2][1], share=0.15),
                unreachable=_ROTATION if k == 3 else "",
            )
            for k in clusters
        ),
    )
    rows = [product]
    for clusterer in ("k-means", "Chameleon"):
        cells = []
        for k in clusters:
            printed = {m: v[k - 2] for m, v in GDTM_MISCLASSIFICATION[0, clusterer].items()}
            worst = max(mean(measured.rates[0, clusterer, m, k]) for m in ("TDP", "SDP", "RDP", "HDP"))
            noisy = mean(measured.rates[0, clusterer, "ADP", k])
            worst_printed = max(v for m, v in printed.items() if m != "ADP")
            # No misclassified row at all counts as one in 20 runs of 6,000 rows.
            ratio = noisy / max(worst, 100.0 / (6000 * 20))
            cells.append(judge(printed["ADP"] / worst_printed if worst_printed else None, ratio, bar=Bar(50.0)))
        rows.append(Row(f"{clusterer}: ADP over the worst of the four", tuple(cells)))
    bar = "product 0.10 to 0.12; ADP at least 50 times as bad"
    return Table(
        "Claims", "What the tables together must show", "", tuple(f"k={k}" for k in clusters), tuple(rows), bar
    )


def gdtm_tables(measured: Measured, clusters: tuple[int, ...], methods: tuple[str, ...]) -> tuple[Table, ...]:
    """Return tables 1 to 6 and the claims."""
    tables = []
    for rho in (0, 5, 10):
        tables.append(_rate_table(measured, rho, clusters))
        tables.append(_security_table(measured, rho, clusters, methods))
    return (*tables, _claims(measured, clusters))
