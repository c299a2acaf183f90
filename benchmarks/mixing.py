"""Atom mixing against the k-means fits that it names its clusterings by, and how its cost grows."""

from __future__ import annotations

import warnings
from math import log10

import numpy as np
from measure import Claim, Section, fastest
from sklearn.cluster import KMeans

from sfumato.perturb import AtomMixing

CLUSTERS = range(2, 9)


def table(rows: int, columns: int) -> np.ndarray:
    """Return six correlated clusters."""
    draw = np.random.default_rng(0)
    centres = 3.0 * draw.normal(size=(6, columns))
    return centres[draw.integers(0, 6, rows)] + draw.normal(size=(rows, columns)) @ (
        0.5 * draw.normal(size=(columns, columns))
    )


def measure(quick: bool) -> Section:
    warnings.simplefilter("ignore")
    small, large = (5_000, 50_000) if quick else (100_000, 1_000_000)
    rows = table(large, 20)

    def k_means(part: np.ndarray) -> None:
        for k in CLUSTERS:
            KMeans(k, n_init=1, random_state=0).fit(part)

    cases = {
        "mix, small": lambda: AtomMixing(CLUSTERS, insecure_seed=0).fit_transform(rows[:small]),
        "mix, large": lambda: AtomMixing(CLUSTERS, insecure_seed=0).fit_transform(rows),
        "mix on the ladder, large": lambda: AtomMixing(insecure_seed=0).fit_transform(rows),
        "k-means, large": lambda: k_means(rows),
    }
    best = fastest(cases, 1)
    ratio, exponent = best["mix, large"] / best["k-means, large"], log10(best["mix, large"] / best["mix, small"])
    return Section(
        "Atom mixing",
        "`AtomMixing` with k = 2..8 on 20 columns against scikit-learn's `KMeans` (one start each) for the same k on "
        f"the same {large:,} rows; the ladder (k = 2..20, the default) against that; exponent of its cost from "
        f"{small:,} to {large:,} rows.",
        ["what", "seconds"],
        [[name, seconds] for name, seconds in best.items()],
        [
            Claim(f"atom mixing of {large:,} x 20 against k-means for k = 2..8", ratio, 3.0),
            Claim("exponent of atom mixing's cost", exponent, 1.1, ""),
            Claim("the ladder against k = 2..8", best["mix on the ladder, large"] / best["mix, large"], 1.5),
        ],
    )
