"""Release the demo table with three other tools, audit what they made, and write docs/other-tools.md.

    python tools/make_peers.py

The tools are installed from PyPI into environments that are thrown away; with SFUMATO_PEERS=folder they stay there and
are used again. Nothing of sfumato needs them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
import warnings
from pathlib import Path
from typing import Any

import polars as pl

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import sfumato as sf  # noqa: E402
from sfumato.datasets import CONFIDENTIAL, demo_table  # noqa: E402
from tools.made_from import stamped  # noqa: E402

NEEDS = {
    "release": ("copulas", "anonypy", "imbalanced-learn", "sdmetrics", "pandas<3"),
    "judge": ("anonymeter", "pandas<3"),
}
OWN = "sfumato"
PAGE = ROOT / "docs" / "other-tools.md"
HEAD = """# Releases by other tools

`sfumato audit original.csv other.csv` takes tables that were made by others. Rows need not correspond to people: the
audit first finds out whether they do, and asks what can be asked. Here the numbers of the demo table ({rows:,} rows,
{columns} columns) are released by three other tools, each as its manual says, and audited without a word about how
they were made. Beside it stands what the tool says of its own release, what sdmetrics {sdmetrics} says (share of new
rows; protection by the distance to the closest record, where 1 is as good as random rows), and the risks that
Anonymeter {anonymeter} reports, with half of the people as its control. The last line is a release of sfumato's own
(`mix`, shuffled, audited without its key as the others are).

"""
TAIL = """
A share of new rows of 100% says that no row is anybody's; it does not say that nobody can be found. The grade says what
an attacker gets: see [what a grade means](concepts/grades.md).

Where many rows are far nearer to one person than to any other, the audit takes the table for a shuffled one: it puts
every row where it fits best and then attacks in place. Of rows that were drawn between neighbours that overstates what
is recovered, since rows were put where they are near; that many people have a row of their own is true all the same.

Repeat it: `make peers`. The releases themselves can be made and audited by hand, with the
other tool installed:

```py
import pandas as pd
from copulas.multivariate import GaussianMultivariate
import sfumato as sf

table = pd.read_csv("numbers.csv")
model = GaussianMultivariate()
model.fit(table)
print(sf.audit(table, model.sample(len(table))).verdict)
```
"""


def python_of(folder: Path, kind: str) -> Path:
    """Return the python of an environment with what is needed, made if it is not there."""
    home = folder / kind
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *NEEDS[kind]], check=True)
    return python


def own_release(table: pl.DataFrame, folder: Path) -> None:
    """Write a release of our own, shuffled."""
    made = sf.perturb.AtomMixing(insecure_seed=1).fit_transform(table)
    made.sample(fraction=1.0, shuffle=True, seed=1).write_csv(folder / f"{OWN}.csv")


def line(name: str, table: pl.DataFrame, folder: Path, told: dict[str, Any], judged: dict[str, Any]) -> str:
    """Return a row of the page."""
    released = pl.read_csv(folder / f"{name}.csv", infer_schema_length=None)
    report = sf.audit(table, released.cast(pl.Float64), utility=False)
    of = told["tools"][name]
    who = (
        f"sfumato {sf.__version__}: Mix the rows of small cells."
        if name == OWN
        else f"{name} {of['version']}: {of['how']}"
    )
    risks = ", ".join(f"{question} {risk:.0%}" for question, risk in judged[name].items())
    says = "see the audit" if name == OWN else of["says"]
    scores = f"{of['new rows']:.0%} new rows; distance {of['distance']:.2f}"
    verdict = report.verdict.split(" It is not known who is who")[0]
    return f"| {who} | {says} | {scores} | {risks} | **{report.grade}** {verdict} |"


def main(folder: Path, environments: Path) -> str:
    """Return the page."""
    table = demo_table().select(CONFIDENTIAL).cast(pl.Float64)
    source = folder / "original.csv"
    table.write_csv(source)
    here = ROOT / "tools" / "peers"
    own_release(table, folder)
    release = [str(python_of(environments, "release")), str(here / "release.py"), str(source), str(folder), OWN]
    subprocess.run(release, check=True)
    told = json.loads((folder / "told.json").read_text())
    names = list(told["tools"])
    judge = [str(python_of(environments, "judge")), str(here / "judge.py"), str(source), str(folder), *names]
    subprocess.run(judge, check=True)
    judged = json.loads((folder / "judged.json").read_text())
    lines = [
        "| made by | the tool says | sdmetrics | Anonymeter, risk beyond control | `sfumato audit` |",
        "|---|---|---|---|---|",
    ]
    lines += [line(name, table, folder, told, judged) for name in names]
    head = HEAD.format(
        rows=table.height, columns=table.width, sdmetrics=told["sdmetrics"], anonymeter=judged["anonymeter"]
    )
    return head + "\n".join(lines) + "\n" + TAIL


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        kept = os.environ.get("SFUMATO_PEERS")
        PAGE.write_text(stamped(main(Path(name), Path(kept or name))), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
