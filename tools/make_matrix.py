"""Write the matrix of methods x attacks into docs/attacks.md, from real runs.

    SFUMATO_DATA=folder python tools/make_matrix.py

Tables: Wine, Breast Cancer Wisconsin (nine scores), Census, and a synthetic table of whole numbers.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import polars as pl

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import sfumato as sf  # noqa: E402
from sfumato.attack import attacks  # noqa: E402
from tests.auditing.reference import SETTINGS, dense, perturber  # noqa: E402
from tools.made_from import stamped  # noqa: E402

SEED = 2


def tables(folder: Path) -> dict[str, np.ndarray]:
    bcw = pl.read_csv(folder / "breast_cancer_wisconsin.csv").drop_nulls().drop("class", "sample_code_number")
    return {
        "Wine": pl.read_csv(folder / "wine.csv").drop("class").to_numpy().astype(float),
        "BCW": bcw.to_numpy().astype(float),
        "Census": pl.read_csv(folder / "census.csv").to_numpy().astype(float),
        "integers": dense(),
    }


def cases() -> list[tuple[str, str, object]]:
    out: list[tuple[str, str, object]] = []
    for row in sf.methods():
        for settings in SETTINGS.get(row.id, [{}]):
            label = f"`{row.id}`" + "".join(f" {name}={value}" for name, value in settings.items())
            out.append((label, row.id, perturber(row, settings, SEED)))
    return out


def present(table: np.ndarray, made: object) -> np.ndarray:
    """Return the rows of a table that a method has released."""
    held_back = getattr(made, "held_back_rows", tuple)()
    return np.delete(table, list(held_back), axis=0)


def matrix(data: dict[str, np.ndarray]) -> str:
    names = list(data)
    rates: dict[str, dict[str, list[str]]] = {}
    grades: dict[str, list[str]] = {}
    asked = [row for row in attacks() if "kinds" not in row.needs]  # the tables are plain numbers
    ids = [row.id for row in asked]
    for label, method, made in cases():
        rates[label] = {name: [] for name in ids}
        grades[label] = []
        for name in names:
            released = made.fit_transform(data[name])  # type: ignore[attr-defined]
            original = present(data[name], made)
            # rows that are drawn anew are nobody's
            order = np.arange(len(original)) if len(released) == len(original) and method != "dp" else None
            report = sf.audit(original, released, method=made, order=order, utility=False, seed=SEED)
            grades[label].append(report.grade)
            found = {line.id: line for line in report.attacks}
            for attack in ids:
                rate = found[attack].rate
                strong = (found[attack].lift_low or 0.0) > 0.5
                text = "-" if rate is None else f"{100 * rate:.0f}"
                rates[label][attack].append(f"**{text}**" if strong else text)
            print(label, name, report.grade, flush=True)
    lines = [f"Tables: {', '.join(f'{name} ({table.shape[0]:,} x {table.shape[1]})' for name, table in data.items())}."]
    lines.append("Cells are the share of records recovered (or people linked), in per cent, one figure for each table;")
    lines.append("bold where the lower bound of the lift over guessing is above one half; - where it does not apply.\n")
    lines.append("### Grades\n\n| method | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    lines += [f"| {label} | " + " | ".join(got) + " |" for label, got in grades.items()]
    by_rung = {rung: [row for row in asked if row.rung == rung] for rung in range(5)}
    for rung, rows in by_rung.items():
        lines.append(f"\n### Rung {rung}\n")
        lines.append("| method | " + " | ".join(f"`{row.id}`" for row in rows) + " |\n|---|" + "---|" * len(rows))
        for label, found in rates.items():
            lines.append(f"| {label} | " + " | ".join(" / ".join(found[row.id]) for row in rows) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if "SFUMATO_DATA" not in os.environ:
        sys.exit("set SFUMATO_DATA to the folder with the papers' data sets")
    page = ROOT / "docs" / "attacks.md"
    pattern = re.compile(r"(<!-- matrix -->\n).*?(\n<!-- /matrix -->)", flags=re.DOTALL)
    made = matrix(tables(Path(os.environ["SFUMATO_DATA"])))
    text = pattern.sub(lambda m: m[1] + made + m[2], page.read_text(encoding="utf-8"))
    page.write_text(stamped(text), encoding="utf-8")
    print("wrote docs/attacks.md")
