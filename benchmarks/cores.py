"""One thread to all of them: how much faster every kind of work gets, and how far it is from what the machine can do.

The limit is measured in the same run on the same number of threads: a copy of the table, and the key stream of AES for
as many words, which every method with noise of its own needs. A ratio to it means the same on every machine. For work
of seconds it is printed, not kept, what the main thread did alone: that is what no further thread can shorten.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from kernels import CASES
from measure import Claim, Section, copy_and_stream, fastest
from mixing import table as clusters
from where import watched

import sfumato as sf
from sfumato.auditing.utility import comparisons
from sfumato.core import fast, tiles
from sfumato.core.sharing import processors

ROW_METHODS = ("AdditiveNoise, normal", "CorrelatedNoise", "IntervalResampling", "IndependentNoise, 200 references")
LIMIT = "copy and key stream"
_MANY = 8  # processors from which on the large tables are measured
_SLOWER = 1.05
_CLUSTERS = (2, 3, 4, 5)
Times = dict[int, float]
Job = Callable[[int], Any]


def counts() -> list[int]:
    """Return the numbers of threads to measure: 1, 2, 4, ... and all."""
    every = processors()
    return sorted({*(2**i for i in range(10) if 2**i <= every), every})


def measure(quick: bool) -> Section:
    warnings.simplefilter("ignore")
    fast.load()
    threads, many = counts(), processors() >= _MANY
    every = threads[-1]
    rows, mixed, audited, large, few = (
        (4_000_000, 1_000_000, 10_000, 1_000_000, 1_000) if many else (1_000_000, 100_000, 5_000, 0, 500)
    )
    if quick:
        rows, mixed, audited, large, few = 100_000, 5_000, 500, 0, 200
    took = row_methods(rows, threads, 1 if quick else 3)
    blobs = clusters(max(mixed, audited, large), 20)
    small = clusters(few, 8).round(3)
    noisy = sf.perturb.IndependentNoise(insecure_seed=1)
    slow: dict[str, tuple[Job, list[int]]] = {
        f"AtomMixing, {mixed:,} rows": (
            lambda n: sf.perturb.AtomMixing(insecure_seed=1).fit_transform(blobs[:mixed], threads=n),
            sorted({1, *([4] if many else []), every}),
        ),
        f"audit, {audited:,} rows": (_audit(blobs[:audited], noisy), [1, every]),
        f"compare, {few:,} rows": (lambda n: sf.compare(small, clusters=_CLUSTERS, threads=n), [1, every]),
        f"tune, {few:,} rows": (
            lambda n: sf.tune(small, 0.05, clusters=_CLUSTERS, candidates=16, threads=n),
            [1, every],
        ),
    }
    if large:  # a quarter of an hour on one thread: only on all
        slow[f"audit, {large:,} rows"] = (_audit(blobs[:large], noisy), [every])
    # what is compiled when it is first used is compiled now: the first run would pay for it
    sf.perturb.AtomMixing(insecure_seed=1).fit_transform(blobs[:50_000])
    _audit(small, noisy)(1)
    different = 0
    for name, (job, wanted) in slow.items():
        took[name], results = alone(name, job, wanted)
        different += len(results) > 1
    return section_of(took, threads, rows, different)


def row_methods(rows: int, threads: list[int], rounds: int) -> dict[str, Times]:
    """Return the times of methods that perturb rows one by one, and of the limit; say what they do on all threads."""
    table, every = np.random.default_rng(0).normal(size=(rows, 20)), threads[-1]
    jobs: dict[str, Job] = {LIMIT: lambda n: copy_and_stream(table, n)}
    for name in ROW_METHODS:
        jobs[name] = lambda n, name=name: CASES[name]().fit_transform(table, threads=n)
    took = measured(jobs, threads, rounds)
    for name in ROW_METHODS:
        said(watched(lambda name=name: jobs[name](every)).lines(name, every))
    before, sizes = tiles._BUSY, (4, 8, 16)  # noqa: SLF001
    for name in ROW_METHODS[:2]:  # whether pieces have a good length here
        spent = []
        for tiles._BUSY in sizes:  # noqa: SLF001
            spent.append(measured({name: jobs[name]}, [every], rounds)[name][every])
        told = ", ".join(f"{size}: {seconds:.3f} s" for size, seconds in zip(sizes, spent, strict=True))
        said([f"{name}, {every} threads, by tiles in a piece: {told}"])
    tiles._BUSY = before  # noqa: SLF001
    return took


def section_of(took: dict[str, Times], threads: list[int], rows: int, different: int) -> Section:
    """Return the table of all times, and what is promised of them."""
    every, limit = threads[-1], took[LIMIT]
    section = Section(
        "Cores",
        f"{rows:,} rows x 20 columns on {every} processors, by the clock on the wall: seconds on one thread, how "
        "many times faster more threads are, seconds on all, and all threads against the limit, which is a copy of the "
        "table and the key stream of as many words on as many threads.",
        ["work", "seconds", *(f"{n} threads" for n in threads[1:]), "seconds on all", "against the limit"],
    )
    for name, seconds in took.items():
        times = [seconds[1] / seconds[n] if n in seconds and 1 in seconds else None for n in threads[1:]]
        near = seconds[every] / limit[every] if name in (LIMIT, *ROW_METHODS) else None
        section.rows.append([name, seconds.get(1), *times, seconds[every], near])
    slower = max(
        took[name][b] / took[name][a]
        for name in ROW_METHODS
        for a, b in zip(threads, threads[1:] or threads, strict=False)
    )
    nearest = took["AdditiveNoise, normal"][every] / limit[every]
    section.claims = [
        Claim(f"row methods with more threads against fewer, up to {every}, the worst", slower, _SLOWER),
        Claim(f"additive noise on {every} threads against copy and key stream", nearest, 2.0),
        Claim("kinds of work that find something else on more threads", float(different), 0.0, "kinds"),
    ]
    return section


def measured(jobs: dict[str, Job], threads: list[int], rounds: int) -> dict[str, Times]:
    """Return the smallest time of every job for every number of threads."""
    cases = {f"{name}|{n}": (lambda job=job, n=n: job(n)) for name, job in jobs.items() for n in threads}
    took = fastest(cases, rounds, time.perf_counter)
    return {name: {n: took[f"{name}|{n}"] for n in threads} for name in jobs}


def alone(name: str, job: Job, threads: list[int]) -> tuple[Times, set[str]]:
    """Run a job of seconds once for each number of threads; say where it spent its time, and return what it found."""
    took: Times = {}
    found = set[str]()
    for n in threads:
        comparisons._known.clear()  # what an earlier run has found out must not help  # noqa: SLF001
        results: list[Any] = []
        where = watched(lambda n=n, results=results: results.append(job(n)))
        took[n] = where.seconds
        found.add(_digest(results[0]))
        said(where.lines(name, n))
    return took, found


def said(lines: list[str]) -> None:
    """Print what was seen at once: a run that is stopped has told something."""
    print("\n".join(lines), flush=True)


def _audit(table: np.ndarray, method: Any) -> Job:
    released = method.fit_transform(table)
    return lambda n: sf.audit(table, released, threads=n)


def _digest(result: Any) -> str:
    told = result if isinstance(result, np.ndarray) else result.to_json().encode()
    return hashlib.blake2b(told).hexdigest()
