"""Measure every method on every table and write docs/frontier.md: `make frontier` (needs SFUMATO_DATA, about an hour).

Results are kept in benchmarks/frontier/, one by one, so an interrupted run goes on where it stopped; --fresh measures
anew, --tables and --what narrow it, --render only writes the page.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # measurements run side by side, each on one core
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.frontier.measure import (  # noqa: E402
    measure_as_tuned,
    measure_mixing,
    measure_setting,
    measure_standardised,
    measure_tuned,
)
from tools.frontier.miner import Miner  # noqa: E402
from tools.frontier.render import LEAST_EXCESS, MIX_AS_TUNED, render  # noqa: E402
from tools.frontier.tables import TABLES, read_table  # noqa: E402
from tools.frontier.tuned import tuned_settings  # noqa: E402

from sfumato.core.keys import Key  # noqa: E402
from sfumato.tuning.settings import catalogue_settings, make_perturber  # noqa: E402

RESULTS = ROOT / "benchmarks" / "frontier"
LARGE = {"musk", "shuttle", "adult"}
TUNED_ROWS = 8_000  # eighty settings a table: their excess is measured on so many rows, and that of mix beside it


def measure_table(name: str, keys: int, what: str) -> None:
    """Measure all that is missing for one table."""
    target = RESULTS / f"{name}.json"
    done: dict[str, Any] = json.loads(target.read_text()) if target.exists() else {}

    def keep(label: str, record: dict[str, Any]) -> None:
        done[label] = record
        target.write_text(json.dumps(done, indent=1, sort_keys=True) + "\n")
        print(name, label, {k: round(v, 4) if isinstance(v, float) else v for k, v in record.items()}, flush=True)

    table = read_table(name)
    miner = Miner(table.values, seeds=5)
    for key in range(keys if what in {"all", "mix"} else 0):
        for exact in (False, True):
            label = f"mix{' exact' if exact else ''} key {key}"
            if label not in done:
                keep(label, measure_mixing(table, miner, key, exact=exact, deep=key < (1 if name in LARGE else 2)))
            elif "excess z" not in done[label] and not exact:
                keep(label, done[label] | measure_standardised(table, miner, key))
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
    quick = Miner(table.values, seeds=5, most_rows=TUNED_ROWS)
    if MIX_AS_TUNED not in done:
        keep(MIX_AS_TUNED, measure_as_tuned(table, quick))
    for label, setting in tuned_settings():
        if label not in done:
            try:
                perturber = make_perturber(setting, Key.from_insecure_seed(0))
                most = max(done[MIX_AS_TUNED]["excess"], LEAST_EXCESS)
                keep(label, measure_tuned(table, quick, perturber, most, dict(setting.public)))
            except Exception as error:  # noqa: BLE001 - as above
                keep(label, {"reason": str(error).splitlines()[0][:160]})


def main() -> None:
    """Measure, then render."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--keys", type=int, default=10)
    parser.add_argument("--what", choices=("all", "mix", "methods", "tuned"), default="all")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--render", action="store_true", help="only write the page from what has been measured")
    options = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    for name in options.tables.split(",") if not options.render else []:
        if options.fresh:
            (RESULTS / f"{name}.json").unlink(missing_ok=True)
        measure_table(name, options.keys, options.what)
    render(RESULTS, ROOT / "docs")


if __name__ == "__main__":
    main()
