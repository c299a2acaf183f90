"""Audit releases that undo themselves, and five variants of each, and write what they are graded.

`--jobs 16` audits as many at a time, each in a process of its own; the page is the same. TABLES in the environment says
which tables are released (skewed,counted), ONLY which releases, by parts of their names with | between them: lines of
others stay on the page.
"""

from __future__ import annotations

import argparse
import os
import re
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import sfumato as sf
from tests.auditing.broken import BROKEN, TABLES, VARIANTS
from tests.auditing.broken_bits import BROKEN_BITS, VARIANTS_BITS
from tests.auditing.broken_codes import BROKEN_CODES, VARIANTS_CODES
from tests.auditing.broken_rows import BROKEN_ROWS, VARIANTS_ROWS
from tests.auditing.broken_sums import BROKEN_SUMS, VARIANTS_SUMS

ROOT = Path(__file__).resolve().parent.parent
CHOSEN = os.environ.get("TABLES", ",".join(TABLES)).split(",")
ONLY = os.environ.get("ONLY", "").split("|")
EVERY = BROKEN | BROKEN_ROWS | BROKEN_BITS | BROKEN_CODES | BROKEN_SUMS
VARIANTS_OF_EVERY = VARIANTS | VARIANTS_ROWS | VARIANTS_BITS | VARIANTS_CODES | VARIANTS_SUMS


def share(report: sf.Audit) -> float:
    """Return the largest share of people that an attack recovers or links, or that stand in the release."""
    rates = [line.rate for line in report.attacks if line.rate is not None and (line.lift_low or 0.0) > 0.0]
    copied = 0.0 if report.copies is None else report.copies.found / report.copies.people
    return max([copied, *rates])


def audited(one: tuple[str, str, int]) -> tuple[str, float]:
    """Return grade and share of one release: its name, the table, and the number of the variant (0: itself)."""
    warnings.simplefilter("ignore")
    name, kind, number = one
    make = [EVERY[name][0], *VARIANTS_OF_EVERY[name]][number]
    table = TABLES[kind]()
    report = sf.audit(table, make(table, np.random.default_rng([number, 5])), utility=False)
    print(name, kind, number, report.grade, f"{share(report):.2f}", report.verdict[:110], flush=True)
    return report.grade, share(report)


def main(jobs: int, before: dict[str, str]) -> str:
    """Return the table of broken releases; lines of those that are not audited stay."""
    kinds = {
        name: [kind for kind in grades if kind in CHOSEN]
        for name, (_, grades) in EVERY.items()
        if any(part in name for part in ONLY)
    }
    tasks = [(name, kind, number) for name, some in kinds.items() for kind in some for number in range(6)]
    if jobs > 1:
        with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:  # polars has threads: no fork
            got = dict(zip(tasks, pool.map(audited, tasks), strict=True))
    else:
        got = {task: audited(task) for task in tasks}
    told = dict(before)
    for name, some in kinds.items():
        for kind in some:
            itself, *others = (f"{grade} {part:.0%}" for grade, part in (got[name, kind, k] for k in range(6)))
            told[f"| {name} | {kind} |"] = f" {itself.replace(' ', ' | ')} | {', '.join(others)} |"
    heads = [f"| {name} | {kind} |" for name in EVERY for kind in TABLES]
    lines = ["| release | table | grade | recovered or linked | variants |", "|---|---|---|---|---|"]
    return "\n".join([*lines, *(head + told[head] for head in heads if head in told)])


def on_the_page(text: str) -> dict[str, str]:
    """Return the lines of a table as they stand on the page: release and table, and the rest."""
    rows = [line.split(" | ", 2) for line in text.splitlines() if line.count(" | ") == 4]
    return {f"{first} | {second} |": f" {rest}" for first, second, rest in rows[1:]}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1, help="releases that are audited at a time (1)")
    page = ROOT / "docs" / "attacks.md"
    pattern = re.compile(r"(<!-- broken -->\n).*?(<!-- /broken -->)", flags=re.DOTALL)
    text = page.read_text(encoding="utf-8")
    stands = pattern.search(text)
    found = main(parser.parse_args().jobs, on_the_page(stands[0]) if stands else {})
    page.write_text(pattern.sub(lambda m: m[1] + found + "\n" + m[2], text), encoding="utf-8")
    print("wrote docs/attacks.md")
