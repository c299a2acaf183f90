"""The benchmark suite: runs sections, keeps their numbers in results.json and writes docs/benchmarks.md from them.

python benchmarks/run.py                       everything (an hour or more)
python benchmarks/run.py --only kernels,files  some sections; the numbers of the others stay
make bench BENCH=kernels,files                 the same
python benchmarks/run.py --quick               small tables, to see that everything runs; writes nothing
python benchmarks/run.py --docs                only write docs/benchmarks.md again
python benchmarks/run.py --take cores=FILE     take what cores.py has written on another machine
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported: BLAS with one thread, like the kernels

import argparse
import importlib
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from measure import HERE, machine
from scaling import scaling_page

SECTIONS = (
    "kernels",
    "summaries",
    "threads",
    "cores",
    "startup",
    "growth",
    "mixing",
    "files",
    "memory",
    "large",
    "audits",
    "peers",
    "spark",
)
RESULTS = HERE / "results.json"
INTRODUCTION = (
    "Made by `make bench` (`benchmarks/run.py`), never by hand. Times are the smallest of several, cases in turn, and "
    "numbers are ratios inside one run wherever there is something to compare with. Processor time is used unless a "
    "section says otherwise, so that other work on the machine disturbs little."
)
PAGE = HERE.parent / "docs" / "benchmarks.md"
SCALING = HERE.parent / "docs" / "scaling.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="?", help="the same as --only")
    parser.add_argument("--only", help="sections, with commas between them: " + ", ".join(SECTIONS))
    parser.add_argument("--quick", action="store_true", help="small tables; writes nothing")
    parser.add_argument("--docs", action="store_true", help="only write the page again")
    parser.add_argument("--take", metavar="cores=FILE", help="take what was measured on another machine")
    parser.add_argument("--check", action="store_true", help="only say whether the page is what the results give")
    options = parser.parse_args()
    asked = options.only or options.sections
    chosen = asked.split(",") if asked else list(SECTIONS)
    unknown = sorted(set(chosen) - set(SECTIONS))
    if unknown:
        parser.error(f"no section {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    if options.check:
        pages = {PAGE: text(results), SCALING: scaling_page(results)}
        sys.exit(any(path.read_text(encoding="utf-8") != page for path, page in pages.items()))
    if options.take:
        _take(options.take.removeprefix("cores="), results)
        return
    described = machine()  # fails at once, not after an hour, where something is not installed
    for name in () if options.docs else chosen:
        section = importlib.import_module(name).measure(options.quick)
        measured = {"measured": datetime.now(UTC).strftime("%Y-%m-%d"), "load": round(os.getloadavg()[1], 1)}
        found = {**section.plain(), **measured, "machine": described}
        print("\n".join(section_lines(found)), flush=True)
        if not options.quick:
            results[name] = found
            _keep(results)
    if not options.quick:
        _write_pages(results)


def _take(file: str, results: dict[str, Any]) -> None:
    section, about = importlib.import_module("cores").taken(Path(file))
    results["cores"] = {**section.plain(), **{name: about[name] for name in ("measured", "load", "machine")}}
    _keep(results)
    _write_pages(results)


def _keep(results: dict[str, Any]) -> None:
    RESULTS.write_text(json.dumps({key: results[key] for key in SECTIONS if key in results}, indent=1) + "\n")


def _write_pages(results: dict[str, Any]) -> None:
    PAGE.write_text(text(results), encoding="utf-8")
    SCALING.write_text(scaling_page(results), encoding="utf-8")


def text(results: dict[str, Any]) -> str:
    """Return docs/benchmarks.md."""
    return "\n".join(page(results)) + "\n"


def page(results: dict[str, Any]) -> list[str]:
    """Return the lines of docs/benchmarks.md."""
    sections = [results[name] for name in SECTIONS if name in results]
    claims = [claim for section in sections for claim in section["claims"]]
    missed = [claim for claim in claims if not claim["met"]]
    return [
        "# Benchmarks",
        "",
        INTRODUCTION,
        "",
        *(f"- {what}: {text}" for what, text in sections[-1]["machine"].items()),
        "",
        f"## What is promised: {len(claims) - len(missed)} of {len(claims)} met",
        "",
        "| what | measured | target | met |",
        "|---|---:|---:|---|",
        *(
            f"| {claim['what']} | {number(claim['value'])} {claim['unit']} | "
            f"{'at most' if claim['at_most'] else 'at least'} {number(claim['target'])} | "
            f"{'yes' if claim['met'] else '**no**'} |"
            for claim in claims
        ),
        *(line for section in sections for line in ("", *section_lines(section))),
    ]


def section_lines(section: dict[str, Any]) -> list[str]:
    """Return a section as Markdown."""
    return [
        f"## {section['title']}",
        "",
        f"{section['note']} ({section['measured']}, load average {section['load']})",
        "",
        "| " + " | ".join(section["columns"]) + " |",
        "|---|" + "---:|" * (len(section["columns"]) - 1),
        *("| " + " | ".join(number(cell) for cell in row) + " |" for row in section["rows"]),
    ]


def number(value: Any) -> str:
    """Return a cell as text: three digits for ratios, whole numbers with commas."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


if __name__ == "__main__":
    main()
