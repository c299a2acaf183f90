"""Audit releases that undo themselves, and five variants of each, and write what they are graded."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path

import numpy as np

import sfumato as sf
from tests.auditing.broken import BROKEN, TABLES, VARIANTS

ROOT = Path(__file__).resolve().parent.parent
CHOSEN = os.environ.get("TABLES", ",".join(TABLES)).split(",")


def share(report: sf.Audit) -> float:
    """Return the largest share of people that an attack recovers or links, or that stand in the release."""
    rates = [line.rate for line in report.attacks if line.rate is not None and (line.lift_low or 0.0) > 0.0]
    copied = 0.0 if report.copies is None else report.copies.found / report.copies.people
    return max([copied, *rates])


def main() -> str:
    """Return the table of broken releases."""
    lines = ["| release | table | grade | recovered or linked | variants |", "|---|---|---|---|---|"]
    for name, (make, grades) in BROKEN.items():
        for kind in (one for one in grades if one in CHOSEN):
            table = TABLES[kind]()
            got = []
            for number, one in enumerate([make, *VARIANTS[name]]):
                report = sf.audit(table, one(table, np.random.default_rng([number, 5])), utility=False)
                got.append((report.grade, share(report)))
                print(name, kind, number, report.grade, f"{got[-1][1]:.2f}", report.verdict[:110], flush=True)
            others = ", ".join(f"{grade} {part:.0%}" for grade, part in got[1:])
            lines.append(f"| {name} | {kind} | {got[0][0]} | {got[0][1]:.0%} | {others} |")
    return "\n".join(lines)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    page = ROOT / "docs" / "attacks.md"
    pattern = re.compile(r"(<!-- broken -->\n).*?(<!-- /broken -->)", flags=re.DOTALL)
    found = main()
    page.write_text(
        pattern.sub(lambda m: m[1] + found + "\n" + m[2], page.read_text(encoding="utf-8")), encoding="utf-8"
    )
    print("wrote docs/attacks.md")
