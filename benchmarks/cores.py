"""One thread to all of them: how much faster every kind of work gets, and how far it is from what the machine can do.

The limit is measured in the same run on the same number of threads: a copy of the table, and the key stream of AES for
as many words, which every method with noise of its own needs. A ratio to it means the same on every machine. What the
main thread did alone is printed, not kept: that is what no further thread can shorten.

python benchmarks/cores.py FILE                    the figures into a file, a line each, the most important ones first
python benchmarks/cores.py FILE --seconds 500      so long in all; what is not done by then is left out
python benchmarks/cores.py FILE --quick            small tables, to see that everything runs
python benchmarks/cores.py FILE --only rows,mix    some kinds of work (rows, mix, compare, tune, audit)
python benchmarks/run.py --take cores=FILE         puts them into results.json and the pages

The first needs no more than the library with `[fast]`, so it runs on a machine without a network; without polars it
leaves out audits, compare and tune. Every kind of work has a process of its own and a limit of its own. Runs on one
thread come last, side by side, on a processor each.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, Timer
from typing import Any, NamedTuple, TextIO

from measure import HERE, Claim, Section, machine

from sfumato.core.system import processors

ROW_METHODS = ("AdditiveNoise, normal", "CorrelatedNoise", "IntervalResampling", "IndependentNoise, 200 references")
COPY, LIMIT = "copy", "copy and key stream"
_MANY = 8  # processors from which on the large tables are measured
_SLOWER = 1.05
_TOGETHER = 5  # runs on one thread at the same time, at most; half of the processors stay free
_LAST = 0.55  # share of the time that is kept for runs on one thread: without them nothing can be compared
_TABLES = {"audit", "compare", "tune"}  # what takes tables of every kind
Figures = dict[str, dict[int, float]]


class Part(NamedTuple):
    """Some work with some numbers of threads, and the seconds that it may take at most."""

    work: str
    rows: int
    counts: tuple[int, ...]
    seconds: float
    rounds: int = 1

    @property
    def told(self) -> str:
        """Say what it is."""
        return f"{self.work} of {self.rows:,} rows on {', '.join(map(str, self.counts))} threads"


def counts() -> tuple[int, ...]:
    """Return the numbers of threads to measure: 1, 2, 4, ... and all."""
    every = processors()
    return tuple(sorted({*(2**i for i in range(10) if 2**i <= every), every}))


def parts(quick: bool) -> tuple[list[Part], list[Part]]:
    """Return what is measured on all threads, the most important first, and what is measured on one."""
    many, every = processors() >= _MANY, (processors(),)
    rows, mixed, few, audited, large = (
        (4_000_000, 1_000_000, 1_000, 20_000, 1_000_000) if many else (1_000_000, 100_000, 500, 5_000, 0)
    )
    if quick:
        rows, mixed, few, audited, large = 100_000, 5_000, 200, 500, 1_000
    works, seconds = (("mix", mixed), ("audit", audited), ("compare", few), ("tune", few)), 75.0 if many else 600.0
    first = [Part("rows", rows, counts(), 2 * seconds, 1 if quick else 2)]
    first += [Part(work, n, every, seconds) for work, n in works]
    # the numbers between one and all come last on all threads: without them the promises can be judged, too
    first += [Part("mix", mixed, between, seconds) for between in [counts()[2:-1]] if between and not quick]
    if large:
        first.append(Part("audit", large, every, 1.5 * seconds))
        works += (("audit", large),)  # on one thread it may take longer than there is time: then the line is missing
    return first, [Part(work, n, (1,), 900.0) for work, n in works]


class Run:
    """Makes parts in processes of their own, and writes every figure down at once.

    Parameters
    ----------
    out : text file
    until : float
        When everything must be over, by the monotonic clock.
    """

    def __init__(self, out: TextIO, until: float) -> None:
        self._out, self._until, self._lock = out, until, Lock()

    def note(self, line: dict[str, Any]) -> None:
        """Write a line down."""
        with self._lock:
            if "lines" in line:
                print("\n".join(line["lines"]), flush=True)
            else:
                print(json.dumps(line), flush=True)
            self._out.write(json.dumps(line) + "\n")
            self._out.flush()

    def make(self, part: Part, kept: float = 0.0) -> None:
        """Run a part until it ends, or its time does; so many seconds are kept for others."""
        seconds = min(part.seconds, self._until - kept - time.monotonic())
        lost = {"left out": part.told, "work": f"{part.work}, {part.rows:,} rows", "counts": part.counts}
        if part.work in _TABLES and find_spec("polars") is None:
            self.note({**lost, "why": "polars is not installed"})
            return
        if seconds <= 0:
            self.note({**lost, "why": "no time was left"})
            return
        said = (part.work, part.rows, ",".join(map(str, part.counts)), part.rounds)
        command = [sys.executable, str(HERE / "cores_work.py"), *map(str, said)]
        # a group of its own: whoever works for it ends with it
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        stop = Timer(seconds, os.killpg, (child.pid, signal.SIGKILL))
        stop.start()
        assert child.stdout is not None
        for line in child.stdout:
            self.note(json.loads(line))
        if child.wait():
            ended = f"stopped after {seconds:.0f} s" if child.returncode < 0 else f"ended with {child.returncode}"
            self.note({**lost, "why": ended})
        stop.cancel()


def make(file: Path, seconds: float, quick: bool, only: set[str]) -> None:
    """Measure everything into a file."""
    first, last = ([part for part in some if not only or part.work in only] for some in parts(quick))
    with file.open("a", encoding="utf-8") as out:
        run = Run(out, time.monotonic() + seconds)
        day, load = datetime.now(UTC).strftime("%Y-%m-%d"), round(os.getloadavg()[1], 1)
        run.note({"processors": processors(), "machine": machine(), "measured": day, "load": load})
        for part in first:
            run.make(part, _LAST * seconds)
        with ThreadPoolExecutor(max(1, min(_TOGETHER, processors() // 2))) as pool:
            list(pool.map(run.make, last))


def measure(quick: bool) -> Section:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cores.jsonl"
        make(file, 3600.0, quick, set())
        return taken(file)[0]


def taken(file: Path) -> tuple[Section, dict[str, Any]]:
    """Return the table of what a file holds, and what it says of the machine and the day."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    about = [line for line in lines if "machine" in line][-1]
    took: Figures = {}
    digests: dict[str, set[str]] = {}
    for line in lines:
        if "seconds" in line:
            took.setdefault(line["work"], {})[line["threads"]] = line["seconds"]
            digests.setdefault(line["work"], set()).add(line["digest"])
    different = sum(len(found) > 1 or any("differ" in one for one in found) for found in digests.values())
    section = section_of(took, about["processors"], different)
    unfinished = {
        line["left out"]: line["why"]  # of several runs the last one counts
        for line in lines
        if "left out" in line and not set(line["counts"]) <= set(took.get(line["work"], ()))
    }
    if unfinished:
        section.note += f" Not finished: {'; '.join(f'{what} ({why})' for what, why in unfinished.items())}."
    return section, about


def section_of(took: Figures, every: int, different: int) -> Section:
    """Return the table of all times, and what is promised of them."""
    threads = sorted({1, every, *(n for seconds in took.values() for n in seconds)})
    section = Section(
        "Cores",
        f"20 columns (8 of compare and tune), {every} processors, by the clock on the wall: seconds on one thread, how "
        "many times faster more threads are, seconds on all, and all threads against a copy of the table on as many, "
        "and against the limit: a copy and the key stream of as many words. Row methods have 4,000,000 rows from 8 "
        "processors on, else 1,000,000. Long work ran on one thread beside up to three others, a processor each.",
        ["work", "seconds", *(f"{n} threads" for n in threads[1:]), "seconds on all", "against a copy", "the limit"],
    )
    near: dict[str, list[float | None]] = {}
    for name, seconds in took.items():
        times = [seconds[1] / seconds[n] if n in seconds and 1 in seconds else None for n in threads[1:]]
        near[name] = [
            seconds[every] / took[other][every]
            if name in (COPY, LIMIT, *ROW_METHODS) and every in seconds and every in took.get(other, {})
            else None
            for other in (COPY, LIMIT)
        ]
        section.rows.append([name, seconds.get(1), *times, seconds.get(every), *near[name]])
    section.claims = [*_row_claims(took, near), *_other_claims(took, every)]
    section.claims.append(
        Claim("kinds of work that find something else on more threads", float(different), 0.0, "kinds")
    )
    return section


def _row_claims(took: Figures, near: dict[str, list[float | None]]) -> list[Claim]:
    claims = []
    slower = [
        seconds[more] / seconds[fewer]
        for name, seconds in took.items()
        if name in ROW_METHODS
        for fewer, more in zip(sorted(seconds), sorted(seconds)[1:], strict=False)
    ]
    if slower:
        claims.append(Claim("row methods with more threads against fewer, the worst", max(slower), _SLOWER))
    for name in ROW_METHODS:
        against_copy, against_limit = near.get(name, [None, None])
        if against_copy is None or against_limit is None:
            continue
        seconds = took[name]
        every = max(seconds)
        if every < _MANY:
            claims.append(Claim(f"{name} on {every} threads against copy and key stream", against_limit, 1.5))
        elif against_copy <= 2.0:
            claims.append(Claim(f"{name} on {every} threads against a copy", against_copy, 2.0))
        else:
            claims.append(
                Claim(f"{name} on {every} threads against one", seconds[1] / seconds[every], 8.0, at_most=False)
            )
    return claims


def _other_claims(took: Figures, every: int) -> list[Claim]:
    wanted = {"mix": 8.0, "audit": 6.0, "compare": 8.0, "tune": 8.0} if every >= 16 else dict.fromkeys(
        ("mix", "audit", "compare", "tune"), 1.7 / 2 * min(every, 2)
    )  # fmt: skip
    return [
        Claim(f"{name} on {every} threads against one", seconds[1] / seconds[every], wanted[kind], at_most=False)
        for name, seconds in took.items()
        if (kind := name.partition(",")[0]) in wanted and {1, every} <= set(seconds) and every > 1
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="where the figures go, a line each; those of an earlier run stay")
    parser.add_argument("--seconds", type=float, default=3600.0, help="in all. Default: 3600")
    parser.add_argument("--quick", action="store_true", help="small tables")
    parser.add_argument("--only", default="", help="kinds of work, with commas between them")
    options = parser.parse_args()
    make(options.file, options.seconds, options.quick, {one for one in options.only.split(",") if one})
    section = taken(options.file)[0]
    for row in [section.columns, *section.rows]:
        print(
            " | ".join("" if cell is None else f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row)
        )
    for claim in section.claims:
        print(f"{'met   ' if claim.met else 'MISSED'} {claim.what}: {claim.value:.3g} (target {claim.target:g})")


if __name__ == "__main__":
    main()
