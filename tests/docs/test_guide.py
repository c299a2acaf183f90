"""Every command and every program in the guide, run as typed, page by page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.policy.model import Column, Columns, Enhance, Guard, Limits, Policy, ReleaseChoice

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"
PAGES = [*sorted(GUIDE.glob("*.md")), GUIDE.parent / "collaboration.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return (language, text) of the blocks of a page."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_and_program_of_the_page_works_as_typed(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    env = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }
    env.pop("SFUMATO_KEYS", None)
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
        command = ["bash", "-euo", "pipefail", "-c", text] if language == "bash" else [sys.executable, "-c", text]
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{page.name}:\n{text}\n{done.stdout}{done.stderr}"
        ran += 1
    assert ran > 0, f"{page.name} shows nothing that runs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_policy_reference_names_every_setting_and_no_other() -> None:
    page = (GUIDE / "policy.md").read_text(encoding="utf-8")
    table = page[page.index("## Every setting") : page.index("Every column that is neither")]
    named = set(re.findall(r"^\|[^|]*\| `(\w+)` \|", table, re.MULTILINE))
    models = (Columns, Column, Enhance, Guard, Limits, ReleaseChoice)
    fields = {field for model in models for field in model.model_fields} | {"name"}
    assert named == fields
    sections = set(re.findall(r"`\[(\w+)", table))
    assert sections == set(Policy.model_fields) - {"missing_values"}
