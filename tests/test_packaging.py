"""What the package says of itself: one version, classifiers that are true, a changelog in the usual form."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

import sfumato as sf

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_version_stands_in_one_place_and_all_texts_agree(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import release_check

    assert PYPROJECT["project"].get("version") is None
    assert PYPROJECT["project"]["dynamic"] == ["version"]
    assert release_check.version() == sf.__version__
    release_check.check_texts(sf.__version__)
    with pytest.raises(SystemExit, match="CITATION"):
        release_check.check_texts("0.0.9")


def test_classifiers_are_true() -> None:
    said = PYPROJECT["project"]["classifiers"]
    systems = [one for one in said if one.startswith("Operating System")]
    assert systems == ["Operating System :: POSIX :: Linux"], "the one that tests run on"
    lowest = PYPROJECT["project"]["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {lowest}" in said
    assert (Path(sf.__file__).parent / "py.typed").exists()
    assert f"{sys.version_info.major}.{sys.version_info.minor}" >= lowest


def test_the_changelog_has_the_usual_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert heads[0] == "[Unreleased]"
    kinds = [line.removeprefix("### ") for line in text.splitlines() if line.startswith("### ")]
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
