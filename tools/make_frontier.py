"""Measure every method on every table and write docs/frontier.md: `make frontier` (needs SFUMATO_DATA, about an hour).

Results are kept in benchmarks/frontier/, one by one, so an interrupted run goes on where it stopped; --fresh measures
anew (with --quick or --what ladder: the ladder), --tables and --what narrow it, --quick measures the ladder only, with
few keys, --jobs says how many processes share the ladder, --render only writes the page.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # measurements run side by side, each on one core
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from sfumato.core.keys import Key  # noqa: E402
from sfumato.tuning.settings import catalogue_settings, make_perturber  # noqa: E402
from tools.frontier.ladder import LADDER_METHODS, PARTS, ladder_part  # noqa: E402
from tools.frontier.measure import (  # noqa: E402
    measure_as_tuned,
    measure_excess,
    measure_mixing,
    measure_setting,
    measure_tuned,
)
from tools.frontier.miner import Miner  # noqa: E402
from tools.frontier.render import render  # noqa: E402
from tools.frontier.tables import TABLES, Table, read_table  # noqa: E402
from tools.frontier.tuned import LEAST_EXCESS, MIX_AS_TUNED, tuned_settings  # noqa: E402

RESULTS = ROOT / "benchmarks" / "frontier"
LARGE = {"musk", "shuttle", "adult"}
WIDE = {"musk"}  # of so many columns that the ladder is measured on request only
QUICK_KEYS, QUICK_KEYS_OF_LARGE = 8, 3
TUNED_ROWS = 8_000  # of eighty settings for each table those are measured on all rows that do well on so many


def ladder_tasks(names: list[str], keys: int, *, quick: bool) -> Iterator[tuple[str, str, int, str]]:
    """Yield what is to be measured of the ladder and is missing, the longest first: table, method, key, part."""
    for name in sorted(names, key=lambda one: one not in LARGE):
        done = read_results(name)
        few = QUICK_KEYS_OF_LARGE if name in LARGE else QUICK_KEYS
        for part in PARTS:
            for key in range(min(keys, few) if quick else keys):
                for method in LADDER_METHODS:
                    if not _is_measured(done.get(f"ladder {method} key {key}", {}), part):
                        yield name, method, key, part


def _is_measured(record: dict[str, Any], part: str) -> bool:
    figure = {"k-means": "excess"}.get(part, part)
    return (f"own range, {part.removeprefix('ranges ')}" if part.startswith("ranges ") else figure) in record


def one_part(task: tuple[str, str, int, str]) -> dict[str, Any]:
    """Measure one part of the ladder."""
    name, method, key, part = task
    return ladder_part(read_table(name), method, key, part)


def measure_ladders(names: list[str], keys: int, jobs: int, *, quick: bool) -> None:
    """Measure all that is missing of the ladder, in several processes; what they find does not depend on how many."""
    tasks = list(ladder_tasks(names, keys, quick=quick))
    with ProcessPoolExecutor(jobs) as pool:
        begun = {pool.submit(one_part, task): task for task in tasks}
        for count, future in enumerate(as_completed(begun), start=1):
            name, method, key, part = begun[future]
            label, done = f"ladder {method} key {key}", read_results(name)
            done[label] = done.get(label, {}) | future.result()
            write_results(name, done)
            print(f"{count} of {len(tasks)}: {name} {label}: {part}", flush=True)


def read_results(name: str) -> dict[str, Any]:
    """Return what has been measured of a table."""
    target = RESULTS / f"{name}.json"
    done: dict[str, Any] = json.loads(target.read_text()) if target.exists() else {}
    return done


def write_results(name: str, done: dict[str, Any]) -> None:
    """Keep what has been measured of a table."""
    (RESULTS / f"{name}.json").write_text(json.dumps(done, indent=1, sort_keys=True) + "\n")


def measure_table(name: str, keys: int, what: str) -> None:
    """Measure all that is missing for one table, besides the ladder."""
    done = read_results(name)

    def keep(label: str, record: dict[str, Any]) -> None:
        done[label] = record
        write_results(name, done)
        print(name, label, {k: round(v, 4) if isinstance(v, float) else v for k, v in record.items()}, flush=True)

    table = read_table(name)
    miner = Miner(table.values, seeds=5)
    for key in range(keys if what in {"all", "mix"} else 0):
        for exact in (False, True):
            label = f"mix{' exact' if exact else ''} key {key}"
            if label not in done:
                keep(label, measure_mixing(table, miner, key, exact=exact, deep=key < (1 if name in LARGE else 2)))
    for setting in catalogue_settings() if what in {"all", "methods"} else []:
        if setting.method == "mix" or setting.label in done:
            continue
        try:
            perturber = make_perturber(setting, Key.from_insecure_seed(0))
            keep(setting.label, measure_setting(table, miner, perturber, dict(setting.public)))
        except Exception as error:  # noqa: BLE001 - a method that does not fit a table is a line of the table
            keep(setting.label, {"reason": str(error).splitlines()[0][:160]})
    if what not in {"all", "tuned"}:
        return
    measure_papers(table, done, keep)


def measure_papers(table: Table, done: dict[str, Any], keep: Callable[[str, dict[str, Any]], None]) -> None:
    """Measure the papers' methods over the range of their parameters, and look for the best that keeps as much as mix.

    On large tables a sample of the rows screens the settings; those that pass are measured on all rows, the one that
    hides most first, until one of them keeps as much.
    """
    mine = [record["excess"] for label, record in done.items() if label.startswith("mix key ")]
    limit = screen = max(sum(mine) / len(mine), LEAST_EXCESS)
    sampled = len(table.values) > TUNED_ROWS
    miner = Miner(table.values, seeds=5, most_rows=TUNED_ROWS)
    if sampled and MIX_AS_TUNED not in done:
        keep(MIX_AS_TUNED, measure_as_tuned(table, miner))
    if sampled:
        screen = max(limit, done[MIX_AS_TUNED]["excess"])
    settings = dict(tuned_settings())
    for label, setting in settings.items():
        known = done.get(label)
        if known is not None and ("residual" in known or known.get("excess", 1.0) > screen):
            continue
        try:
            perturber = make_perturber(setting, Key.from_insecure_seed(0))
            record = measure_tuned(table, miner, perturber, screen, dict(setting.public))
            keep(label, record | ({"confirmed": False} if sampled else {}))
        except Exception as error:  # noqa: BLE001 - a method that does not fit a table is a line of the table
            keep(label, {"reason": str(error).splitlines()[0][:160]})
    passed = [label for label in settings if sampled and "residual" in done[label]]
    everyone = Miner(table.values, seeds=5)
    for label in sorted(passed, key=lambda one: -done[one]["residual"]):
        if not done[label]["confirmed"]:
            perturber = make_perturber(settings[label], Key.from_insecure_seed(0))
            keep(label, done[label] | measure_excess(table, everyone, perturber) | {"confirmed": True})
        if done[label]["excess"] <= limit:
            break


def forget(results: Path, what: str) -> None:
    """Forget what was measured of a table: all of it, or the ladder."""
    if what == "ladder" and results.exists():
        done = json.loads(results.read_text())
        kept = {label: record for label, record in done.items() if not label.startswith("ladder ")}
        results.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    elif what == "all":
        results.unlink(missing_ok=True)


def main() -> None:
    """Measure, then render."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", help="some of them, with commas between; of the ladder all but the widest")
    parser.add_argument("--keys", type=int, default=10)
    parser.add_argument("--what", choices=("all", "ladder", "mix", "methods", "tuned"), default="all")
    parser.add_argument("--quick", action="store_true", help="the ladder only, with few keys")
    parser.add_argument("--jobs", type=int, default=1, help="processes that measure the ladder")
    parser.add_argument("--fresh", action="store_true", help="measure anew: all, or the ladder")
    parser.add_argument("--render", action="store_true", help="only write the page from what has been measured")
    options = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    what = "ladder" if options.quick else options.what
    names = options.tables.split(",") if options.tables else list(TABLES)
    if options.render:
        names = []
    for name in names if options.fresh else []:
        forget(RESULTS / f"{name}.json", what)
    if what in {"all", "ladder"}:
        of_ladder = [name for name in names if options.tables or name not in WIDE]
        measure_ladders(of_ladder, options.keys, options.jobs, quick=options.quick)
    for name in names if what != "ladder" else []:
        measure_table(name, options.keys, what)
    render(RESULTS, ROOT / "docs")


if __name__ == "__main__":
    main()
