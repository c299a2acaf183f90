"""One kind of work of `cores.py`, in a process of its own: python cores_work.py WORK ROWS COUNT,COUNT... ROUNDS.

Every figure is a line of JSON as soon as there is one: who stops the process has what it found until then.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from cores import COPY, LIMIT, ROW_METHODS
from kernels import CASES
from measure import copy, copy_and_stream
from mixing import table as clusters
from where import watched

import sfumato as sf
from sfumato.core import fast, passes, tiles

_CLUSTERS = (2, 3, 4, 5)
_LENGTHS, _USUAL = (1, 2, 4, 8, 16), tiles._BUSY  # noqa: SLF001  # tiles in a piece
_STEPS = 12  # of a job that tells how far it is: the longest are said
Job = Callable[[int], Any]


def tell(**figures: Any) -> None:
    """Print one line."""
    print(json.dumps(figures), flush=True)


def row_methods(rows: int, counts: list[int], rounds: int) -> None:
    """Time methods that perturb rows one by one, a copy, and the limit, with all numbers of threads."""
    table = np.random.default_rng(0).normal(size=(rows, 20))
    jobs: dict[str, Job] = {COPY: lambda n: copy(table, n), LIMIT: lambda n: copy_and_stream(table, n)}
    for name in ROW_METHODS:
        jobs[name] = lambda n, name=name: CASES[name]().fit_transform(table, threads=n)
    for name, job in jobs.items():
        first = job(counts[-1])  # what is compiled at the first use is compiled now
        best = dict.fromkeys(counts, float("inf"))
        other, found = 0, None
        for _ in range(rounds):
            for n in counts:
                found = None  # what it held is given back before the clock starts
                start = time.perf_counter()
                found = job(n)
                best[n] = min(best[n], time.perf_counter() - start)
                other += first is not None and not np.array_equal(found, first)
        for n in counts:
            tell(work=name, threads=n, seconds=best[n], digest="" if not other else f"{other} differ")
        seen = watched(lambda job=job: job(counts[-1]))
        tell(lines=seen.lines(name, counts[-1]))
    # whether pieces have a good length here
    for name in ROW_METHODS[:3]:
        spent: dict[int | str, float] = {}
        for tiles._BUSY in _LENGTHS:  # noqa: SLF001
            start = time.perf_counter()
            jobs[name](counts[-1])
            spent[tiles._BUSY] = time.perf_counter() - start  # noqa: SLF001
        tiles._BUSY = _USUAL  # noqa: SLF001
        passes.FEW_THREADS, few = counts[-1], passes.FEW_THREADS
        start = time.perf_counter()
        jobs[name](counts[-1])
        spent["passes over tiles"] = time.perf_counter() - start
        passes.FEW_THREADS = few
        told = ", ".join(f"{length}: {seconds:.3f} s" for length, seconds in spent.items())
        tell(lines=[f"{name}, {counts[-1]} threads, by tiles in a piece: {told}"])


class Steps:
    """How long the steps of a job take that says how far it is."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, str]] = []

    def __call__(self, what: str, _: float) -> None:
        self._seen.append((time.perf_counter(), what))

    def lines(self) -> list[str]:
        """Say the longest, in their order, and begin anew."""
        seen, self._seen = [*self._seen, (time.perf_counter(), "")], []
        took = [(after - before, what) for (before, what), (after, _) in pairwise(seen)]
        least = sorted((seconds for seconds, _ in took), reverse=True)[:_STEPS][-1:]
        return [f"    {seconds:6.2f} s from: {what}" for seconds, what in took if [seconds] >= least]


steps = Steps()


def mix(rows: int) -> Job:
    """Return the mixing of a table."""
    table = clusters(rows, 20)
    sf.perturb.AtomMixing(insecure_seed=1).fit_transform(table[:50_000])
    return lambda n: sf.perturb.AtomMixing(insecure_seed=1).fit_transform(table, threads=n)


def audit(rows: int) -> Job:
    """Return the audit of a table and a release with noise."""
    table, few = clusters(rows, 20), clusters(1_000, 20)
    noisy = sf.perturb.IndependentNoise(insecure_seed=1)
    sf.audit(few, noisy.fit_transform(few), threads=1)
    released = noisy.fit_transform(table)
    return lambda n: sf.audit(table, released, threads=n, progress=steps)


def compare(rows: int) -> Job:
    """Return the comparison of all methods on a table."""
    table = clusters(rows, 8).round(3)
    return lambda n: sf.compare(table, clusters=_CLUSTERS, threads=n, progress=steps)


def tune(rows: int) -> Job:
    """Return the search for a method for a table."""
    table = clusters(rows, 8).round(3)
    return lambda n: sf.tune(table, 0.05, clusters=_CLUSTERS, candidates=16, threads=n, progress=steps)


WORKS = {"mix": mix, "audit": audit, "compare": compare, "tune": tune}


def main() -> None:
    warnings.simplefilter("ignore")
    work, rows, counts = sys.argv[1], int(sys.argv[2]), [int(n) for n in sys.argv[3].split(",")]
    fast.load()
    if work == "rows":
        row_methods(rows, counts, int(sys.argv[4]))
        return
    job = WORKS[work](rows)
    for n in counts:
        found: list[Any] = []
        seen = watched(lambda n=n, found=found: found.append(job(n)))
        told = found[0] if isinstance(found[0], np.ndarray) else found[0].to_json().encode()
        digest = hashlib.blake2b(told, digest_size=8).hexdigest()
        tell(work=f"{work}, {rows:,} rows", threads=n, seconds=seen.seconds, digest=digest, busy=seen.busy)
        tell(lines=[*seen.lines(f"{work}, {rows:,} rows", n), *steps.lines()])


if __name__ == "__main__":
    main()
