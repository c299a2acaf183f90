"""docs/benchmarks.md and docs/scaling.md are made from benchmarks/results.json: no number in it was typed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_page_is_what_the_results_give() -> None:
    done = subprocess.run([sys.executable, ROOT / "benchmarks" / "run.py", "--check"], check=False)
    assert done.returncode == 0, "run benchmarks/run.py --docs"


def test_a_section_is_chosen_as_make_says_it() -> None:
    command = [sys.executable, ROOT / "benchmarks" / "run.py", "nonsense"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "no section 'nonsense'" in done.stderr
