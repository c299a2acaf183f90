"""One thread to all of them: how much faster every kind of work gets, and how far it is from what the machine can do.

The limit is measured in the same run on the same number of threads: a copy of the table, and the key stream of AES for
as many words, which every method with noise of its own needs. A ratio to it means the same on every machine.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from kernels import CASES
from measure import Claim, Section, copy_and_stream, fastest
from mixing import table as clusters

from sfumato import audit
from sfumato.core import fast
from sfumato.core.sharing import processors
from sfumato.perturb import AtomMixing

ROW_METHODS = ("AdditiveNoise, normal", "CorrelatedNoise", "IntervalResampling", "IndependentNoise, 200 references")
LIMIT = "copy and key stream"
_MANY = 8  # processors from which on the large tables are measured
_SLOWER = 1.05


def counts() -> list[int]:
    """Return the numbers of threads to measure: 1, 2, 4, ... and all."""
    every = processors()
    return sorted({*(2**i for i in range(10) if 2**i <= every), every})


def measure(quick: bool) -> Section:
    warnings.simplefilter("ignore")
    fast.load()
    threads, many = counts(), processors() >= _MANY
    rows, mixed, audited = (4_000_000, 1_000_000, 50_000) if many else (1_000_000, 100_000, 5_000)
    if quick:
        rows, mixed, audited = 100_000, 5_000, 500
    table = np.random.default_rng(0).normal(size=(rows, 20))
    blobs = clusters(max(mixed, audited), 20)
    released = AtomMixing(insecure_seed=1).fit_transform(blobs[:audited])
    jobs: dict[str, Callable[[int], object]] = {LIMIT: lambda n: copy_and_stream(table, n)}
    for name in ROW_METHODS:
        jobs[name] = lambda n, name=name: CASES[name]().fit_transform(table, threads=n)
    took = measured(jobs, threads, 1 if quick else 3)
    slow: dict[str, Callable[[int], object]] = {
        f"AtomMixing, {mixed:,} rows": lambda n: AtomMixing(insecure_seed=1).fit_transform(blobs[:mixed], threads=n),
        f"audit, {audited:,} rows": lambda n: audit(blobs[:audited], released, method="mix", threads=n),
    }
    mixing, auditing = slow
    took |= measured({mixing: slow[mixing]}, threads, 1)
    took |= measured({auditing: slow[auditing]}, [1, *threads[-1:]], 1)  # minutes: only one thread and all
    limit = took[LIMIT]
    section = Section(
        "Cores",
        f"{rows:,} rows x 20 columns on {threads[-1]} processors, by the clock on the wall: seconds on one thread, how "
        "many times faster more threads are, and all threads against the limit, which is a copy of the table and the "
        "key stream of as many words on as many threads.",
        ["work", "seconds", *(f"{n} threads" for n in threads[1:]), "against the limit"],
    )
    for name, seconds in took.items():
        times = [seconds[1] / seconds[n] if n in seconds else None for n in threads[1:]]
        near = seconds[threads[-1]] / limit[threads[-1]] if name in (LIMIT, *ROW_METHODS) else None
        section.rows.append([name, seconds[1], *times, near])
    slower = max(
        took[name][b] / took[name][a]
        for name in ROW_METHODS
        for a, b in zip(threads, threads[1:] or threads, strict=False)
    )
    nearest = took["AdditiveNoise, normal"][threads[-1]] / limit[threads[-1]]
    section.claims = [
        Claim(f"row methods with more threads against fewer, up to {threads[-1]}, the worst", slower, _SLOWER),
        Claim(f"additive noise on {threads[-1]} threads against copy and key stream", nearest, 2.0),
    ]
    return section


def measured(jobs: dict[str, Callable[[int], object]], threads: list[int], rounds: int) -> dict[str, dict[int, float]]:
    """Return the smallest time of every job for every number of threads."""
    cases = {f"{name}|{n}": (lambda job=job, n=n: job(n)) for name, job in jobs.items() for n in threads}
    took = fastest(cases, rounds, time.perf_counter)
    return {name: {n: took[f"{name}|{n}"] for n in threads} for name in jobs}
