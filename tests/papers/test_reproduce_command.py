"""`sfumato reproduce` as it is typed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest


def sfumato(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {name: value for name, value in os.environ.items() if name != "SFUMATO_DATA"}
    return subprocess.run(
        [sys.executable, "-m", "sfumato", *arguments],
        capture_output=True,
        text=True,
        env=known | environment,
        check=False,
    )


def test_without_a_paper_it_lists_them():
    done = sfumato("reproduce")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()[:5]] == ["gdtm", "chaotic", "ina", "one-d", "anc"]


def test_missing_data_end_with_3_one_line_and_a_hint(tmp_path):
    done = sfumato("reproduce", "anc", "--data", str(tmp_path))
    assert done.returncode == 3
    assert done.stdout == ""
    first, second = done.stderr.strip().splitlines()
    assert first.startswith("sfumato: error: ")
    assert "adult.csv.gz: no such file" in first
    assert second.startswith("hint: ")
    assert "32561 rows" in second
    assert "doi:10.24432/C5XW20" in second
    assert sfumato("reproduce", "anc").returncode == 3


def test_a_paper_and_all_together_are_a_mistake_of_usage():
    done = sfumato("reproduce", "anc", "--all")
    assert done.returncode == 2
    assert "not both" in done.stderr


@pytest.mark.data
def test_a_paper_prints_its_result_on_stdout_progress_on_stderr_and_writes_the_page(data_folder, tmp_path):
    page = tmp_path / "r.html"
    done = sfumato("reproduce", "anc", "--quick", "--json", "--report", str(page), SFUMATO_DATA=str(data_folder))
    assert done.returncode == 0
    result = json.loads(done.stdout)
    assert result["schema"] == "sfumato-reproduction-1"
    assert result["papers"][0]["paper"] == "anc"
    assert result["papers"][0]["counts"]["missed"] == 0
    assert "100%" in done.stderr
    assert "<script" not in page.read_text()
    assert "<svg" in page.read_text()
