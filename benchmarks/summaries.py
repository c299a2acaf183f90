"""The passes of a fit against numpy.cov: exact sums of integers cost no more than sums of doubles."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from measure import Claim, Section, fastest

from sfumato.core import fast
from sfumato.core.passes import fill
from sfumato.core.stream import RowHasher
from sfumato.core.summaries import Moments, Survey
from sfumato.frames.frame import read_frame
from sfumato.perturb.intervals.counts import IntervalCounts


def measure(quick: bool) -> Section:
    n_rows, rounds = (100_000, 3) if quick else (1_000_000, 7)
    table = np.random.default_rng(0).normal(size=(n_rows, 20)) * 3.0 + 100.0
    frame, low, high = read_frame(table), table.min(axis=0), table.max(axis=0)
    hasher = RowHasher(bytes(32), frame.names)
    fast.load()
    passes = {
        "mean and covariance, exact (Moments)": lambda: fill(Moments(low, high), [frame])[0].covariance(),  # noqa: PLW0108
        "mean and variance, exact": lambda: fill(Moments(low, high, cross=False), [frame])[0].variance(),  # noqa: PLW0108
        "survey: rows, ranges, fingerprint": lambda: fill(Survey(hasher, 20), [frame]),
        "counts of 100,000 intervals a column": lambda: fill(IntervalCounts(low, high, 100_000), [frame]),
    }
    cases = {"numpy.cov": lambda: np.cov(table.T)}
    for name, run in passes.items():
        for kind, context in (("numpy", fast.turned_off), ("fast", nullcontext)):

            def inside(run=run, context=context) -> object:  # noqa: ANN001
                with context():
                    return run()

            inside()
            cases[f"{kind} {name}"] = inside
    took = fastest(cases, rounds)
    base = took["numpy.cov"]
    section = Section(
        "Summaries",
        f"One pass over {n_rows:,} rows x 20 columns, one thread, against `numpy.cov(X.T)`. The moments "
        "need the columns' ranges, which the survey has found before; its pass is a line of its own.",
        ["pass", "against numpy.cov", "with [fast]"],
        [[name, took[f"numpy {name}"] / base, took[f"fast {name}"] / base] for name in passes],
    )
    name = "mean and covariance, exact (Moments)"
    section.claims = [
        Claim("exact mean and covariance against numpy.cov", took[f"numpy {name}"] / base, 1.0),
        Claim("exact mean and covariance against numpy.cov, [fast]", took[f"fast {name}"] / base, 1.0),
    ]
    return section
