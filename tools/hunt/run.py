"""`make hunt`: go on hunting for so many seconds, print what was found, and write the record into docs/reliability.md.

Run as `python -m tools.hunt.run SECONDS [--write]`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "2")

from tools.hunt import faults, preloaded
from tools.hunt.children import in_child
from tools.hunt.page import write_page

RECORD = Path(__file__).parent / "record.json"
EXAMPLES = 20

Found = dict[str, Any]


def hunt(seconds: float, first_seed: int, tell: Callable[[str], None] = print) -> Found:
    """Hunt for some seconds, one kind of case after the other; return the counts and the findings.

    Parameters
    ----------
    first_seed : int
        Seeds count up from here; the same seed draws the same tables.
    """
    # everything is loaded before the first fork, and nothing is run here: libraries with threads must not be forked
    import sklearn.cluster  # noqa: F401

    import sfumato.cli.release
    import sfumato.pipeline.join
    import sfumato.pipeline.release
    import sfumato.pipeline.restore  # noqa: F401

    begun = time.monotonic()
    counts: dict[str, Counter[str]] = {}
    findings: list[str] = []
    with ExitStack() as around:
        told = Path(around.enter_context(tempfile.TemporaryDirectory())) / "told"
        kinds: dict[str, Iterator[Any]] = {
            "odd tables": _batches("hunt_tables", first_seed, told),
            "damaged files": _batches("hunt_damage", first_seed, told),
        }
        if faults.has_strace():
            kinds["system calls"] = _calls()
        else:
            tell("strace is not installed: no faults are injected into system calls")
        if preloaded.has_compiler():
            server = around.enter_context(preloaded.Preloaded())
            kinds["allocations"] = _preloaded(server, preloaded.MEMORY, first_seed)
            kinds["files of other threads"] = _preloaded(server, preloaded.FILES, first_seed)
        else:
            tell("no C compiler is installed: no allocations fail")
        while time.monotonic() - begun < seconds:
            for kind, cases in kinds.items():
                outcome, wrong = next(cases)
                counts.setdefault(kind, Counter()).update(outcome)
                for one in wrong:
                    findings.append(f"{kind}: {one}")
                    tell(findings[-1])
    return {
        "seconds": round(time.monotonic() - begun),
        "counts": {kind: dict(sorted(seen.items())) for kind, seen in counts.items()},
        "findings": findings,
        "python": platform.python_version(),
        "system": platform.system(),
    }


def _batches(case: str, first_seed: int, told: Path) -> Iterator[tuple[Counter[str], list[str]]]:
    from tools.hunt import cases

    work = getattr(cases, case)
    for number in itertools.count(first_seed):
        ended, result = in_child(lambda number=number: work(number, EXAMPLES), told)
        if ended == "done":
            yield Counter(result), []
        else:
            yield Counter({ended: 1}), [f"seed {number}: {ended}: {result}"]


def _calls() -> Iterator[tuple[Counter[str], list[str]]]:
    """Yield one injected fault or kill after the other; for three kinds of files, then from the beginning."""
    rounds = itertools.cycle([faults.cases("csv"), faults.cases("parquet"), faults.cases("arrow")])
    for kind, call, number, what in itertools.chain.from_iterable(map(_some, rounds)):
        ended, wrong = faults.run_case(kind, call, number, what)
        label = "kill -9" if what == "KILL" else "error"
        yield Counter({f"{label}, {ended}": 1}), [f"{kind}, {call} {number}, {what}: {one}" for one in wrong]
    while True:  # all calls have failed once
        yield Counter(), []


def _preloaded(server: Any, what: int, first_seed: int) -> Iterator[tuple[Counter[str], list[str]]]:
    """Yield one failing call after the other, four at a time: they are short."""
    cases = preloaded.cases(server, what, first_seed)
    while True:
        seen: Counter[str] = Counter()
        findings: list[str] = []
        for kind, number, error in itertools.islice(cases, 4):
            ended, wrong = preloaded.run_case(server, what, kind, number, error)
            seen[ended] += 1
            findings += [f"{kind}, call {number}, {os.strerror(error)}: {one}" for one in wrong]
        yield seen, findings


def _some(cases: Iterator[Any]) -> list[Any]:
    return list(itertools.islice(cases, 40))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="write the record and docs/reliability.md")
    options = parser.parse_args()
    found = hunt(options.seconds, options.seed)
    for kind, seen in found["counts"].items():
        print(f"{kind}: {', '.join(f'{what} {count:,}' for what, count in seen.items())}")
    print(f"{len(found['findings'])} finding(s) in {found['seconds']:,} seconds")
    if options.write:
        RECORD.write_text(json.dumps(found, indent=1) + "\n")
        write_page(found)
    sys.exit(1 if found["findings"] else 0)


if __name__ == "__main__":
    main()
