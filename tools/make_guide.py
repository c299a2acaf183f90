"""Write the measured parts of docs/guide: the comparison on the demo table, its chart, a picture of a report, and rows.

Takes some minutes and a Chromium; run by `make guide`. The rows of Adult need SFUMATO_DATA; `rows` makes them alone.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import polars as pl
from playwright.sync_api import sync_playwright

import sfumato as sf
from sfumato.auditing.grading import MEANINGS
from sfumato.datasets import demo_table
from sfumato.tuning.comparison_text import by_merit, number

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tools.made_from import stamped

ROOT = Path(__file__).resolve().parent.parent
GUIDE, IMAGES = ROOT / "docs" / "guide", ROOT / "docs" / "img"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def main() -> None:
    fill(GUIDE / "mixed-tables.md", "adult", adult_rows())
    if "rows" in sys.argv:
        return
    found = sf.compare(demo_table(), keep=["branch"], budget="1h", progress=tell)
    (IMAGES / "tradeoff.svg").write_text(found.to_svg(), encoding="utf-8")
    fill(GUIDE / "choosing-a-method.md", "compared", compared_table(found))
    grades = ["| grade | meaning |", "|---|---|", *(f"| {grade} | {text} |" for grade, text in MEANINGS.items())]
    fill(GUIDE / "reading-a-report.md", "grades", "\n".join(grades))
    picture_of_a_report()
    print(f"guide: {len(found.tried)} settings on {found.n_rows:,} rows")


def adult_rows(count: int = 20) -> str:
    """Return some rows of Adult and of its release, side by side below one another, as Markdown."""
    table = pl.read_csv(Path(os.environ["SFUMATO_DATA"]) / "adult.csv.gz")
    released = sf.perturb.AtomExchange(key=sf.Key.from_insecure_seed(1994)).fit_transform(table)
    every = len(table) // count
    lines = []
    for title, rows in (("Original", table), ("Release", released)):
        lines += [f"**{title}**", "", f"| {' | '.join(rows.columns)} |", "|" + "---|" * rows.width]
        cells = (["" if cell is None else str(cell) for cell in row] for row in rows[::every][:count].iter_rows())
        lines += [f"| {' | '.join(row)} |" for row in cells]
        lines.append("")
    return "\n".join(lines)


def tell(what: str, share: float) -> None:
    print(f"{share:4.0%} {what}", flush=True)


def compared_table(found: sf.Comparison) -> str:
    """Return the comparison as Markdown."""

    def percent(value: float | None) -> str:
        return "-" if value is None else f"{value:.1%}".replace("%", " %")

    lines = [
        "| method | grade | rows in another cluster | worst k | residual security | linked |",
        "|---|---|---|---|---|---|",
    ]
    for one in by_merit(found.tried):
        label = one.label.replace(" (paper)", "\\*")
        name = f"**{label}**" if one.best else label
        cells = (percent(one.excess_mean), percent(one.excess_worst), number(one.residual), percent(one.linkage))
        lines.append(f"| {name} | {one.grade} | {' | '.join(cells)} |")
    left = "; ".join(f"{one.label}: {one.reason}" for one in found.left_out)
    return "\n".join(lines) + (f"\n\nNot compared: {left}." if left else "")


def fill(path: Path, mark: str, text: str) -> None:
    """Replace what stands between two marks of a page."""
    pattern = re.compile(rf"(<!-- {mark} -->\n).*?(<!-- /{mark} -->)", flags=re.DOTALL)
    page = path.read_text(encoding="utf-8")
    path.write_text(stamped(pattern.sub(lambda found: f"{found[1]}{text}\n{found[2]}", page)), encoding="utf-8")


def picture_of_a_report() -> None:
    """Release and audit the demo table, and take a picture of the top of the report."""
    table = demo_table()
    numbers = [name for name, kind in table.schema.items() if kind.is_numeric()]
    method = sf.perturb.AtomMixing(key=sf.Key.from_insecure_seed(2003), columns=numbers)  # nothing is protected here
    released = method.fit_transform(table)
    held_back = method.held_back_rows()
    kept = table.with_row_index("row").filter(~pl.col("row").is_in(held_back)).drop("row")
    others = [name for name in table.columns if name not in numbers]
    audit = sf.audit(kept, released, method=method, kept=others)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "audit.html"
        audit.to_html(page_file, command="sfumato audit customers.csv released.csv --report audit.html")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1100, "height": 900})
        page.goto(page_file.as_uri())
        page.screenshot(path=IMAGES / "report.png")
        browser.close()


if __name__ == "__main__":
    main()
