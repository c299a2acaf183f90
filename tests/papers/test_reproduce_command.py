"""`sfumato reproduce` as it is typed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from click.testing import CliRunner

from sfumato.cli.reproduce import reproduce
from sfumato.papers import Reproduction, Row, Table, judge


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


def test_the_result_goes_to_stdout_progress_to_stderr_and_the_page_to_its_file(monkeypatch, tmp_path):
    asked = {}

    def run(names, *, quick, folder, progress, jobs):
        asked.update(names=names, quick=quick, folder=folder, jobs=jobs)
        progress(0.5, "half")
        progress(1.0, "all")
        return [small_result()]

    monkeypatch.setattr("sfumato.papers.runner.reproduce", run)
    monkeypatch.setattr("sfumato.cli.progress._PATIENCE", 0.0)  # jobs that end within a second show none
    page = tmp_path / "r.html"
    arguments = ["anc", "--quick", "--json", "--data", str(tmp_path), "--report", str(page)]
    done = CliRunner().invoke(reproduce, arguments)
    assert done.exit_code == 0
    assert asked == {"names": ["anc"], "quick": True, "folder": tmp_path, "jobs": 1}
    assert json.loads(done.stdout)["schema"] == "sfumato-reproduction-1"
    assert "100%" in done.stderr
    assert "<script" not in page.read_text()
    assert "Table 1" in page.read_text()
    assert "Table 1: rates" in CliRunner().invoke(reproduce, ["anc"]).stdout


def test_all_asks_for_every_paper_in_order(monkeypatch):
    asked = []
    monkeypatch.setattr("sfumato.papers.runner.reproduce", lambda names, **_: asked.append(names) or [])
    assert CliRunner().invoke(reproduce, ["--all"]).exit_code == 0
    assert asked == [["gdtm", "chaotic", "ina", "one-d", "anc"]]


def small_result() -> Reproduction:
    table = Table("Table 1", "rates", "%", ("k=2",), (Row("A", (judge(1.0, 1.1),)),))
    return Reproduction("anc", "title", "authors", quick=True, protocol=(), tables=(table,))
