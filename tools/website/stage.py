"""Put the sources of the site into one folder: the pages of docs/ as they are, the project's own, and the reference."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from tools.website.catalogue_pages import attacks_page, methods_page, metrics_page
from tools.website.command_pages import command_page
from tools.website.format_page import format_page
from tools.website.navigation import toctrees
from tools.website.policy_page import policy_page, policy_schema
from tools.website.python_pages import python_pages

ROOT = Path(__file__).resolve().parents[2]
PROJECT = ("DESIGN.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


def reference() -> dict[str, str]:
    """Return the pages of the reference by their paths."""
    pages = {f"python/{path}": text for path, text in python_pages().items()}
    return pages | {
        "commands.md": command_page(),
        "policy.md": policy_page(),
        "policy.schema.json": policy_schema(),
        "methods.md": methods_page(),
        "attacks.md": attacks_page(),
        "metrics.md": metrics_page(),
        "formats.md": format_page(),
    }


def stage(folder: Path) -> None:
    """Fill a folder with the sources of the site. What stands there already is replaced."""
    shutil.copytree(ROOT / "docs", folder, dirs_exist_ok=True)
    pages = [path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.md")]
    write(folder / "reference", reference())
    write(folder / "project", {name.lower(): moved((ROOT / name).read_text(encoding="utf-8")) for name in PROJECT})
    home = folder / "index.md"
    home.write_text(home.read_text(encoding="utf-8") + "\n" + toctrees(pages), encoding="utf-8")


def write(folder: Path, pages: Mapping[str, str]) -> None:
    """Write pages into a folder."""
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def moved(text: str) -> str:
    """Return a page of the root with its links as they are from the folder of the project's pages.

    Examples
    --------
    >>> moved("[a](docs/guard.md) [b](DESIGN.md#tiers) [c](https://x)")
    '[a](../guard.md) [b](design.md#tiers) [c](https://x)'
    """
    text = text.replace("](docs/", "](../")
    names = "|".join(name.removesuffix(".md") for name in PROJECT)
    return re.sub(rf"\]\(({names})\.md", lambda found: f"]({found[1].lower()}.md", text)
