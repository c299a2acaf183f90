"""Pages are true: they say which commit they were made from, which are stale is told, and what they name exists."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tools import made_from, stale

DOCS = Path(stale.__file__).parent.parent / "docs"
WHO = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with code in src, and the tools looking at it."""
    monkeypatch.setattr(stale, "ROOT", tmp_path)
    monkeypatch.setattr(made_from, "_git", stale.git)
    (tmp_path / "src").mkdir()
    (tmp_path / "docs").mkdir()
    git(tmp_path, "init", "-q")
    committed(tmp_path, "src/code.py", "1")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    plain = {"HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env={**plain, **WHO})


def committed(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", name)


def test_a_page_is_stale_when_its_sources_have_changed_and_only_then(project: Path) -> None:
    page = project / "docs" / "page.md"
    assert stale.lag("docs/page.md", ("src",)) == (stale.NEVER, 0)
    page.write_text(made_from.stamped("# Page\n"))
    made = made_from.commit_of(page.read_text())
    committed(project, "docs/page.md", page.read_text())
    assert stale.lag("docs/page.md", ("src",)) == (f"made from {made}", 0)
    committed(project, "other.md", "not a source")
    assert stale.lag("docs/page.md", ("src",))[1] == 0
    committed(project, "src/code.py", "2")
    committed(project, "src/code.py", "3")
    assert stale.lag("docs/page.md", ("src",)) == (f"made from {made}", 2)
    page.write_text(made_from.stamped(page.read_text()))
    assert page.read_text().count("made from") == 1, "the old mark goes"
    assert stale.lag("docs/page.md", ("src",))[1] == 0


def test_a_page_without_a_mark_counts_from_its_last_change(project: Path) -> None:
    committed(project, "docs/page.md", "# Page\n")
    committed(project, "src/code.py", "2")
    said, behind = stale.lag("docs/page.md", ("src",))
    assert said.startswith("last changed in ")
    assert behind == 1


def test_a_page_made_of_uncommitted_code_says_so(project: Path) -> None:
    (project / "src" / "code.py").write_text("changed")
    assert " with changes -->" in made_from.stamped("# Page\n")


def test_every_page_that_is_watched_can_be_made() -> None:
    made = (Path(stale.__file__).parent.parent / "Makefile").read_text()
    for page, (target, sources) in stale.PAGES.items():
        assert f"\n{target}:" in made, page
        assert sources


def test_the_page_of_the_reproduction_counts_what_stands_in_it() -> None:
    """A page says that nothing is missed only if nothing in it is."""
    text = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    summary, *papers = re.split(r"^## ", text, flags=re.MULTILINE)
    said = {
        row[0]: [int(count) for count in row[1:]]
        for row in re.findall(r"^\| \[(.+?)\].*? \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", summary, flags=re.MULTILINE)
    }
    assert set(said) == {paper.split("\n")[0] for paper in papers}
    for paper in papers:
        cells = [cell.strip() for line in paper.splitlines() if line.startswith("|") for cell in line.split("|")]
        found = [sum(cell.endswith(f" {mark}") for cell in cells) for mark in "=~u!"]
        assert found == said[paper.split("\n")[0]]


def test_the_tests_that_hold_what_was_found_exist() -> None:
    text = (DOCS / "reliability.md").read_text(encoding="utf-8")
    named = re.findall(r"`(\S+\.py)::(\w+)`", text)
    assert len(named) > 40
    for file, test in named:
        assert f"\ndef {test}(" in (DOCS.parent / "tests" / file).read_text(encoding="utf-8"), (file, test)
