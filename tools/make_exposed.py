"""Measure what becomes of the exposed few, and write docs/exposed.md.

    SFUMATO_DATA=folder python -m tools.make_exposed --jobs 16

Without SFUMATO_DATA the two real tables are left out; --quick makes few shadows of few tables, to try the tool itself.
--keep FILE writes every line there as soon as it is measured, and takes those that stand there: what takes hours may be
interrupted, and measured in parts on several machines. --lines-only leaves the history and the page to another run.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from tools.exposed import measure  # noqa: E402
from tools.exposed.page import page  # noqa: E402
from tools.exposed.tables import MADE, REAL  # noqa: E402
from tools.made_from import stamped  # noqa: E402

PAGE = Path(__file__).resolve().parent.parent / "docs" / "exposed.md"
METHODS = ("mix", "exchange")


class Line(NamedTuple):
    """A line of the page: its section, its first cells, rows of its table, and what measures the other cells."""

    section: str
    first: list[str]
    rows: int
    work: measure.Measured

    @property
    def name(self) -> str:
        """What tells it from all others."""
        return " ".join([self.section, *self.first, str(self.rows)])


def lines(sizes: Sequence[int], one_draw: int, *, quick: bool) -> list[Line]:
    """Return everything that is measured, the longest first."""
    every: list[Line] = []
    count, usual = (8, 400) if quick else (64, 1_300)
    names, real = (MADE[:1], {}) if quick else (MADE, REAL)
    shadowed = [(name, rows) for rows in sizes for name in names]
    for method in METHODS:
        for name, rows in [*shadowed, *((name, rows) for name, rows in real.items() if rows < measure.ONE_DRAW)]:
            work = measure.shadows(method, name, rows, count, one_draw)
            every.append(Line("membership", [name, method], rows, work))
        for name in names:
            every.append(Line("planted", [name, method], usual, measure.planted(method, name, usual)))
            every.append(Line("difference", [name, method], usual, measure.differencing(method, name, usual)))
        for name, rows in [*((name, usual) for name in names), *real.items()]:
            work = measure.company(method, name, rows, (1,) if quick else (1, 2, 3))
            every.append(Line("company", [name, method], rows, work))
    return sorted(every, key=lambda line: -line.rows)


def run(every: Sequence[Line], jobs: int, keep: Path | None = None) -> dict[str, list[list[str]]]:
    """Return the finished lines of every section; all releases of all of them share the processors."""
    found: dict[str, list[list[str]]] = {}
    known = _kept(keep)
    for section, kept in known.values():
        found.setdefault(section, []).append(kept)
    # other processes start afresh: the libraries' threads do not survive a copy
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting: list[tuple[Line, list[Future[Any]]]] = [
            (line, [pool.submit(measure.made, asked) for asked in next(line.work)])
            for line in every
            if line.name not in known
        ]
        for line, asked in waiting:
            cells: list[str] = []
            try:
                line.work.send([one.result() for one in asked])
            except StopIteration as done:
                cells = [*line.first, *done.value]
            found.setdefault(line.section, []).append(cells)
            print(line.section, *cells, flush=True)
            if keep is not None:
                with keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([line.name, line.section, cells]) + "\n")
    return {section: sorted(rows) for section, rows in found.items()}


def _kept(keep: Path | None) -> dict[str, tuple[str, list[str]]]:
    """Return the lines that have been measured, by their names."""
    if keep is None or not keep.exists():
        return {}
    lines = [json.loads(line) for line in keep.read_text(encoding="utf-8").splitlines()]
    return {name: (section, cells) for name, section, cells in lines}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rows", default="700,1300,4000", help="sizes of the tables in which members are looked for")
    parser.add_argument("--one-draw", type=int, default=measure.ONE_DRAW, help="rows from which shadows have one draw")
    parser.add_argument("--keep", type=Path, help="a file of lines that have been measured")
    parser.add_argument("--lines-only", action="store_true")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    began = time.monotonic()
    sizes = (400,) if given.quick else [int(rows) for rows in given.rows.split(",")]
    found = run(lines(sizes, given.one_draw, quick=given.quick), given.jobs, given.keep)
    if not given.lines_only:
        _write(found, given.one_draw, quick=given.quick)
    print(f"{time.monotonic() - began:.0f} s with {given.jobs} jobs")


def _write(found: dict[str, list[list[str]]], one_draw: int, *, quick: bool) -> None:
    from tools.exposed import history  # reads files, which a machine that only releases need not

    found["overlaps"] = history.overlaps()
    found["history"] = [history.history_of_many(10_000 if quick else 1_000_000)]
    text = stamped(page(found, 8 if quick else 64, one_draw))
    if quick:
        print(text)
    else:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
