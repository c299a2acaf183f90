"""How the cost grows with the rows: exponents between two sizes, and exact MDAV against its blocks."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from math import log

import numpy as np
from measure import Claim, Section, fastest

from sfumato.cluster import Chameleon
from sfumato.perturb import IntervalResampling, Microaggregation, NestedClustering

# name -> (what runs, columns, small, large, whether its exponent is promised)
CASES: dict[str, tuple[Callable[[np.ndarray], object], int, int, int, bool]] = {
    "NestedClustering (ANC)": (
        lambda x: NestedClustering(insecure_seed=0).fit_transform(x), 2, 100_000, 4_000_000, True,
    ),
    "Microaggregation, blocks": (
        lambda x: Microaggregation(insecure_seed=0).fit_transform(x), 5, 100_000, 4_000_000, True,
    ),
    "IntervalResampling": (
        lambda x: IntervalResampling(min_radius=0.1, insecure_seed=0).fit_transform(x), 5, 100_000, 4_000_000, False,
    ),
    "Microaggregation, exact MDAV": (
        lambda x: Microaggregation(algorithm="mdav", insecure_seed=0).fit_transform(x), 5, 5_000, 20_000, False,
    ),
    "Chameleon": (lambda x: Chameleon(n_clusters=6).fit(x), 2, 2_000, 16_000, False),
}  # fmt: skip
MDAV_ROWS = 50_000


def measure(quick: bool) -> Section:
    shrink = 20 if quick else 1
    rng = np.random.default_rng(0)
    section = Section(
        "Growth",
        "Processor time of `fit_transform` (Chameleon: `fit`) on normal data, small and large table in turn.",
        ["method", "columns", "rows", "seconds", "rows", "seconds", "exponent"],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (run, columns, small, large, promised) in CASES.items():
            few, many = max(small // shrink, 1_000), max(large // shrink, 4_000)
            table = rng.normal(size=(many, columns))
            pair: dict[str, Callable[[], object]] = {
                "few": lambda run=run, table=table, few=few: run(table[:few]),
                "many": lambda run=run, table=table: run(table),
            }
            pair["few"]()  # numba and caches
            took = fastest(pair, 1 if many > 2_000_000 else 2)
            exponent = log(took["many"] / took["few"]) / log(many / few)
            section.rows.append([name, columns, few, took["few"], many, took["many"], exponent])
            if promised and not quick:
                section.claims.append(Claim(f"{name}: exponent from {few:,} to {many:,} rows", exponent, 1.15, ""))
        rows = MDAV_ROWS // shrink
        table = rng.normal(size=(rows, 5))
        took = fastest(
            {
                "exact": lambda: Microaggregation(algorithm="mdav", insecure_seed=0).fit_transform(table),
                "blocks": lambda: Microaggregation(insecure_seed=0).fit_transform(table),
            },
            2,
            time.process_time,
        )
    gain = took["exact"] / took["blocks"]
    section.claims.append(
        Claim(
            f"microaggregation in blocks against exact MDAV, {rows:,} rows", gain, 20.0, "times faster", at_most=False
        )
    )
    return section
