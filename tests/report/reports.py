"""The reports of a small fixed table, for the golden files and for the tests that look at a page.

python -m tests.report.reports writes the golden files (make golden-reports).
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

import sfumato as sf

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
NAMES = ("height_cm", "income", "visits & <stays>")


def table() -> pl.DataFrame:
    """Return 240 people of three kinds; integers and decimals, a column whose name needs escaping."""
    rng = np.random.default_rng(2003)
    kind = rng.integers(0, 3, 240)
    height = np.round(150 + 12 * kind + 3 * rng.normal(size=240), 1)
    income = np.round(20_000 + 15_000 * (kind == 1) + 30_000 * (kind == 2) + 2_500 * rng.normal(size=240))
    visits = np.round(4 + 7 * (kind == 0) + rng.normal(size=240), 2)
    return pl.DataFrame(dict(zip(NAMES, (height, income.astype(np.int64), visits), strict=True)))


def method() -> sf.perturb.AdditiveNoise:
    return sf.perturb.AdditiveNoise(0.25, insecure_seed=7)


def released() -> pl.DataFrame:
    return method().fit_transform(table())


@cache
def audit() -> sf.Audit:
    return sf.audit(table(), released(), method=method(), clusters=(2, 3, 4))


def golden_audit() -> sf.Audit:
    """Return the audit that the golden pages show, as it was when they were made: attacks may come and go since."""
    return sf.Audit.model_validate_json((GOLDEN / "audit.json").read_text(encoding="utf-8"))


def pages(found: sf.Audit) -> dict[str, str]:
    """Return the pages of an audit."""
    command = "sfumato audit people.csv released.csv --report audit.html"
    return {"audit.html": found.to_html(command=command), "public.html": found.to_html(public=True)}


if __name__ == "__main__":
    found = audit()
    for name, page in {**pages(found), "audit.json": found.to_json()}.items():
        (GOLDEN / name).write_text(page, encoding="utf-8")
        sys.stdout.write(f"wrote {GOLDEN / name}\n")
