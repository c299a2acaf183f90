"""Measure what becomes of the exposed few, and write docs/exposed.md.

    SFUMATO_DATA=folder python -m tools.make_exposed --jobs 16

Without SFUMATO_DATA the two real tables are left out; --quick makes few shadows of few tables, to try the tool itself.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from tools.exposed import history, measure  # noqa: E402
from tools.exposed.page import page  # noqa: E402
from tools.exposed.tables import MADE, REAL  # noqa: E402
from tools.made_from import stamped  # noqa: E402

PAGE = Path(__file__).resolve().parent.parent / "docs" / "exposed.md"
METHODS = ("mix", "exchange")

Line = tuple[str, list[str], Any]  # section, first cells, what measures the others


def lines(sizes: Sequence[int], one_draw: int, *, quick: bool) -> list[Line]:
    """Return everything that is measured, the longest first."""
    every: list[Line] = []
    count, usual = (8, 400) if quick else (64, 1_300)
    names, real = (MADE[:1], {}) if quick else (MADE, REAL)
    shadowed = [(name, rows) for rows in sizes for name in names]
    for method in METHODS:
        for name, rows in [*shadowed, *((name, rows) for name, rows in real.items() if rows < measure.ONE_DRAW)]:
            every.append(("membership", [name, method], measure.shadows(method, name, rows, count, one_draw)))
        for name in names:
            every.append(("planted", [name, method], measure.planted(method, name, usual)))
            every.append(("difference", [name, method], measure.differencing(method, name, usual)))
        for name, rows in [*((name, usual) for name in names), *real.items()]:
            every.append(("company", [name, method], measure.company(method, name, rows, (1,) if quick else (1, 2, 3))))
    return sorted(every, key=lambda line: -int(line[2].gi_frame.f_locals["rows"]))


def run(every: Sequence[Line], jobs: int) -> dict[str, list[list[str]]]:
    """Return the finished lines of every section; all releases of all of them share the processors."""
    found: dict[str, list[list[str]]] = {}
    # other processes start afresh: the libraries' threads do not survive a copy
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting: list[tuple[Line, list[Future[Any]]]] = [
            (line, [pool.submit(measure.made, asked) for asked in next(line[2])]) for line in every
        ]
        for (section, first, work), asked in waiting:
            cells: list[str] = []
            try:
                work.send([one.result() for one in asked])
            except StopIteration as done:
                cells = done.value
            found.setdefault(section, []).append([*first, *cells])
            print(section, *first, *cells, flush=True)
    return {section: sorted(rows) for section, rows in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rows", default="700,1300,4000", help="sizes of the tables in which members are looked for")
    parser.add_argument("--one-draw", type=int, default=measure.ONE_DRAW, help="rows from which shadows have one draw")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    began = time.monotonic()
    sizes = (400,) if given.quick else [int(rows) for rows in given.rows.split(",")]
    found = run(lines(sizes, given.one_draw, quick=given.quick), given.jobs)
    found["overlaps"] = history.overlaps()
    found["history"] = [history.history_of_many(10_000 if given.quick else 1_000_000)]
    text = stamped(page(found, 8 if given.quick else 64, given.one_draw))
    if given.quick:
        print(text)
    else:
        PAGE.write_text(text, encoding="utf-8")
    print(f"{time.monotonic() - began:.0f} s with {given.jobs} jobs")


if __name__ == "__main__":
    main()
