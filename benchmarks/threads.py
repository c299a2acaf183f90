"""Two threads against one: tiles are independent, and the work is done without the interpreter's lock."""

from __future__ import annotations

import os
import time

import numpy as np
from kernels import CASES
from measure import Claim, Section, fastest

from sfumato.core import fast

METHODS = ("AdditiveNoise, uniform", "AdditiveNoise, normal", "CorrelatedNoise", "IntervalResampling",
           "IndependentNoise, 200 references")  # fmt: skip


def measure(quick: bool) -> Section:
    n_rows, rounds = (200_000, 2) if quick else (1_000_000, 5)
    table = np.random.default_rng(0).normal(size=(n_rows, 20))
    fast.load()
    cases = {}
    for name in METHODS:
        for threads in (1, 2):

            def run(name: str = name, threads: int = threads) -> object:
                return CASES[name]().fit_transform(table, threads=threads)

            run()
            cases[f"{threads} {name}"] = run
    took = fastest(cases, rounds, time.perf_counter)
    gains = {name: took[f"1 {name}"] / took[f"2 {name}"] for name in METHODS}
    busy = os.getloadavg()[0]
    return Section(
        "Two threads",
        f"`fit_transform` of {n_rows:,} rows x 20 columns with one and with two threads, by the clock on the wall. The "
        f"machine's load average was {busy:.1f} at the end; above 2 the second thread had no processor of its own.",
        ["method", "one thread / two threads"],
        [[name, gain] for name, gain in gains.items()],
        [Claim("two threads against one (best method)", max(gains.values()), 1.6, at_most=False)],
    )
