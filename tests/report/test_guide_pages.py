"""The measured parts of the guide are there, and know every method and grade."""

from __future__ import annotations

import re
from pathlib import Path

import sfumato as sf
from sfumato.auditing.grading import MEANINGS

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"


def test_the_comparison_knows_every_method() -> None:
    page = (GUIDE / "choosing-a-method.md").read_text(encoding="utf-8")
    table = page[page.index("<!-- compared -->") : page.index("<!-- /compared -->")]
    for row in sf.methods():
        assert re.search(rf"(?<![\w-]){re.escape(row.id)}(?![\w-])", table), f"{row.id}: run make guide"


def test_the_grades_are_those_of_the_audit() -> None:
    page = (GUIDE / "reading-a-report.md").read_text(encoding="utf-8")
    for meaning in MEANINGS.values():
        assert meaning in page, "run make guide"
