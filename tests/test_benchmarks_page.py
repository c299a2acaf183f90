"""docs/benchmarks.md and docs/scaling.md are made from benchmarks/results.json: no number in it was typed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_the_page_is_what_the_results_give() -> None:
    done = subprocess.run([sys.executable, ROOT / "benchmarks" / "run.py", "--check"], check=False)
    assert done.returncode == 0, "run benchmarks/run.py --docs"


def test_a_section_is_chosen_as_make_says_it() -> None:
    command = [sys.executable, ROOT / "benchmarks" / "run.py", "nonsense"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "no section 'nonsense'" in done.stderr


def test_figures_of_a_run_that_was_stopped_are_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import cores

    lines = [
        {"machine": {"processor": "one"}, "processors": 16, "measured": "2026-01-01", "load": 0.5},
        *({"work": cores.COPY, "threads": n, "seconds": 1.0 / n, "digest": ""} for n in (1, 16)),
        *({"work": "AdditiveNoise, normal", "threads": n, "seconds": 3.2 / n, "digest": ""} for n in (1, 8, 16)),
        {"lines": ["seen"]},
        *({"work": "mix, 10 rows", "threads": n, "seconds": 9.0 / n, "digest": str(n)} for n in (16, 1)),
        {"work": "audit, 10 rows", "threads": 16, "seconds": 2.0, "digest": "a"},
        {
            "left out": "audit of 10 rows on 1 threads",
            "work": "audit, 10 rows",
            "counts": [1],
            "why": "no time was left",
        },
        {
            "left out": "mix of 10 rows on 1 threads",
            "work": "mix, 10 rows",
            "counts": [1],
            "why": "another run had time",
        },
    ]
    file = tmp_path / "cores.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    section, about = cores.taken(file)
    assert about["measured"] == "2026-01-01"
    rows = {row[0]: row[1:] for row in section.rows}
    assert rows["audit, 10 rows"] == [None, None, None, 2.0, None, None]
    assert rows["AdditiveNoise, normal"] == [3.2, 8.0, 16.0, 0.2, pytest.approx(3.2), None]
    assert section.note.endswith("Not finished: audit of 10 rows on 1 threads (no time was left).")
    met = {claim.what: claim.met for claim in section.claims}
    assert met["mix, 10 rows on 16 threads against one"]
    assert not met["kinds of work that find something else on more threads"]  # mix has two digests
