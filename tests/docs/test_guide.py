"""Every command and every program in the guide, run as typed, page by page."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from sfumato.policy.model import Column, Columns, Detail, Enhance, Guard, Limits, Policy, ReleaseChoice
from tests.cli.typed import typed

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"
PAGES = [*sorted(GUIDE.glob("*.md")), GUIDE.parent / "collaboration.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return (language, text) of the blocks of a page."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


#: the first page that people follow: a shell and a new interpreter for each block, as they have them; the tutorial has
#: tests of its own
TYPED = {"install"}
RUN = [page for page in PAGES if page.stem != "tour"]


def commands(text: str) -> list[list[str]] | None:
    """Return the commands of a block that needs no shell: lines of `sfumato ...` alone; None for other blocks."""
    lines = text.replace("\\\n", " ").splitlines()
    if re.search(r"[|&;<>$`]", text) or not all(line.startswith("sfumato ") for line in lines):
        return None
    return [shlex.split(line, comments=True)[1:] for line in lines]


def run_here(language: str, text: str, folder: Path) -> str | None:
    """Run a block in this process, which has loaded its libraries; return None if that needs a shell."""
    if language == "python":
        with contextlib.chdir(folder), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as out:
            warnings.simplefilter("ignore")
            exec(compile(text, "block", "exec"), {"__name__": "__main__"})
        return out.getvalue()
    lines = commands(text)
    if lines is None:
        return None
    said = ""
    for line in lines:
        done = typed(*line, cwd=folder)
        said += done.stdout + done.stderr
        assert done.returncode == 0, f"{shlex.join(line)}\n{said}"
    return said


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_every_command_and_program_of_the_page_works_as_typed(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("SFUMATO_KEYS")
    ran = 0
    for language, text in blocks(page):
        if language == "toml":
            name = re.match(r"# (\S+\.toml)\n", text)
            assert name is not None, f"{page.name}: a toml block begins with the name of its file"
            (folder / name[1]).write_text(text, encoding="utf-8")
            continue
        if language == "text":
            continue
        assert language in ("bash", "python"), f"{page.name}: no way to run a {language} block"
        ran += 1
        if page.stem not in TYPED and run_here(language, text, folder) is not None:
            continue
        command = ["bash", "-euo", "pipefail", "-c", text] if language == "bash" else [sys.executable, "-c", text]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{page.name}:\n{text}\n{done.stdout}{done.stderr}"
    assert ran > 0, f"{page.name} shows nothing that runs"


def test_blocks_that_need_a_shell_are_told_from_plain_commands() -> None:
    assert commands("sfumato key new k  # one\nsfumato tune a.csv \\\n  -m adp\n") == [
        ["key", "new", "k"],
        ["tune", "a.csv", "-m", "adp"],
    ]
    for text in ("sfumato methods | head\n", "head a.csv\nsfumato methods\n", "sfumato key show k || test $? -eq 3\n"):
        assert commands(text) is None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_policy_reference_names_every_setting_and_no_other() -> None:
    page = (GUIDE / "policy.md").read_text(encoding="utf-8")
    table = page[page.index("## Every setting") : page.index("Every column that is neither")]
    cells = re.findall(r"^\|[^|]*\| (`\w+`(?:, `\w+`)*) \|", table, re.MULTILINE)
    named = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    models = (Columns, Column, Enhance, Guard, Detail, Limits, ReleaseChoice)
    fields = {field for model in models for field in model.model_fields} | {"name", "clusterings"}
    assert named == fields
    sections = set(re.findall(r"`\[(\w+)", table))
    assert sections == set(Policy.model_fields) - {"missing_values", "clusterings"}
