"""Audit pairs of tables that have nothing in common but their population, and write how many do not get an A.

`--jobs 16` audits as many pairs at a time, each in a process of its own; the page is the same. PAIRS in the environment
is how many of each population (20), ONLY a part of the name of those that are asked for.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl

import sfumato as sf
from sfumato.datasets import demo_table

ROOT = Path(__file__).resolve().parent.parent
PAIRS = int(os.environ.get("PAIRS", "20"))
MOST = 1_500  # rows of a half
CELLS = 60_000  # of a half: wide tables have fewer rows
Table = np.ndarray | pl.DataFrame


def made() -> dict[str, Callable[[np.random.Generator], Table]]:
    """Return populations that fooled audits: each draws two tables at once, one above the other."""

    def correlated(draw: np.random.Generator, n: int, d: int) -> np.ndarray:
        return np.asarray(draw.normal(size=(n, d)) @ (draw.normal(size=(d, d)) / np.sqrt(d) + np.eye(d)))

    return {
        "normal, 1,000 x 5": lambda draw: correlated(draw, 2_000, 5),
        "discrete, 1,000 x 4": lambda draw: draw.integers(0, 5, size=(2_000, 4)).astype(float),
        "tied, 1,000 x 6": lambda draw: np.round(np.exp(correlated(draw, 2_000, 6)) * 2) / 2,
        "mostly one value, 1,000 x 4": lambda draw: np.where(
            draw.random((2_000, 4)) < 0.9, 0.0, draw.random((2_000, 4))
        ),
        "kinds of people, 1,000 x 6": _kinds,
        "tiny, 30 x 4": lambda draw: correlated(draw, 60, 4),
        "tiny and discrete, 30 x 3": lambda draw: draw.integers(0, 4, size=(60, 3)).astype(float),
        "wide, 300 x 100": lambda draw: correlated(draw, 600, 100),
        "heavy tails, 1,000 x 5": lambda draw: draw.standard_t(1.2, size=(2_000, 5)),
        "categories, 1,000 x 6": lambda draw: pl.DataFrame(
            {f"c{j}": [f"v{code}" for code in draw.integers(0, 3 + j, 2_000)] for j in range(6)}
        ),
        "of every kind, 1,000 x 7": lambda draw: _mixed(draw, 2_000),
        "of every kind and tiny, 30 x 7": lambda draw: _mixed(draw, 60),
        "halves of the demo table, texts and gaps": lambda _: demo_table(mixed=True),
    }


def _mixed(draw: np.random.Generator, n: int) -> pl.DataFrame:
    """Return texts, counts, amounts and gaps that hang together by kinds of people."""
    kind = draw.integers(0, 5, n)
    score = np.round(draw.normal(size=n) + kind, 2)
    return pl.DataFrame(
        {
            "town": [f"t{code % 17}" for code in 3 * kind + draw.integers(0, 6, n)],
            "job": [f"j{code % 6}" for code in kind + draw.integers(0, 3, n)],
            "sex": draw.choice(["f", "m"], n).tolist(),
            "age": np.round(40 + 5 * kind + 8 * draw.normal(size=n)),
            "income": np.round(np.exp(0.5 * draw.normal(size=n) + 0.2 * kind) * 1_000, 1),
            "children": draw.poisson(1.5, n),
            "score": pl.Series(score).set(pl.Series(draw.random(n) < 0.1), None),
        }
    )


def _kinds(draw: np.random.Generator) -> Table:
    kind = draw.integers(0, 300, 2_000)
    shapes = draw.integers(0, 9, size=(300, 6)).astype(float)
    return np.where(draw.random((2_000, 6)) < 0.2, draw.integers(0, 9, size=(2_000, 6)), shapes[kind])


def real(folder: Path) -> Iterator[tuple[str, Table]]:
    """Yield the numbers of every table of a folder, and all columns of those that have texts."""
    for path in sorted(folder.glob("*.csv*")):
        table, name = pl.read_csv(path, infer_schema_length=None), path.name.split(".")[0]
        yield name, table.select(pl.selectors.numeric()).drop_nulls().to_numpy().astype(float)
        if table.select(pl.selectors.string()).width:
            yield f"{name}, texts and all", table


def halves(table: Table, draw: np.random.Generator) -> tuple[Table, Table]:
    """Return two disjoint halves, of at most so many rows each."""
    order = draw.permutation(len(table))
    half = rows_of_half(table)
    if isinstance(table, pl.DataFrame):
        return table[order[:half].tolist()], table[order[half : 2 * half].tolist()]
    return table[order[:half]], table[order[half : 2 * half]]


def rows_of_half(table: Table) -> int:
    """Return how many rows of a table each half has."""
    return int(min(len(table) // 2, MOST, CELLS // table.shape[1]))


@cache
def populations() -> dict[str, Callable[[np.random.Generator], Table]]:
    """Return every population by its name: made ones, and tables of the folder."""
    every: dict[str, Callable[[np.random.Generator], Table]] = dict(made())
    for name, table in real(Path(os.environ["SFUMATO_DATA"])):
        every[f"halves of {name}, {rows_of_half(table):,} x {table.shape[1]}"] = lambda _, table=table: table
    return every


def grade(pair: tuple[int, int]) -> str:
    """Return the grade of one pair: the number of its population, and its own."""
    warnings.simplefilter("ignore")
    number, which = pair
    name, draws = list(populations().items())[number]
    draw = np.random.default_rng([number, which, 19])
    report = sf.audit(*halves(draws(draw), draw), utility=False, seed=which)
    if report.grade != "A":
        print(name, which, report.grade, report.verdict, flush=True)
    return report.grade


def main(jobs: int) -> str:
    """Return the table of false alarms."""
    wanted = os.environ.get("ONLY", "")
    names = {number: name for number, name in enumerate(populations()) if wanted in name}
    pairs = [(number, which) for number in names for which in range(PAIRS)]
    if jobs > 1:
        with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:  # polars has threads: no fork
            grades = dict(zip(pairs, pool.map(grade, pairs), strict=True))
    else:
        grades = {pair: grade(pair) for pair in pairs}
    lines = ["| population | pairs | below A | grades below |", "|---|---|---|---|"]
    for number, name in names.items():
        below = [got for which in range(PAIRS) if (got := grades[number, which]) != "A"]
        lines.append(f"| {name} | {PAIRS} | {len(below)} | {', '.join(below) or '-'} |")
    alarms = sum(got != "A" for got in grades.values())
    lines.append(f"| **all** | {len(grades)} | {alarms} | |")
    print("\n".join(lines), flush=True)
    return "\n".join(lines)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if "SFUMATO_DATA" not in os.environ:
        sys.exit("set SFUMATO_DATA to the folder with the papers' data sets")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1, help="pairs that are audited at a time (1)")
    parser.add_argument("--dry", action="store_true", help="write no page")
    chosen = parser.parse_args()
    page = ROOT / "docs" / "attacks.md"
    pattern = re.compile(r"(<!-- false-alarms -->\n).*?(<!-- /false-alarms -->)", flags=re.DOTALL)
    found = main(chosen.jobs)
    if not chosen.dry:
        page.write_text(
            pattern.sub(lambda m: m[1] + found + "\n" + m[2], page.read_text(encoding="utf-8")), encoding="utf-8"
        )
        print("wrote docs/attacks.md")
