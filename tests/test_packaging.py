"""What the package says of itself: one version, classifiers that are true, a changelog in the usual form."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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


def test_the_lock_holds_what_is_asked_for_and_nothing_without_a_hash() -> None:
    text = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    locked = dict(re.findall(r"^([\w.-]+)==([^\s;\\]+)", text, flags=re.MULTILINE))
    groups, extras = PYPROJECT["dependency-groups"], PYPROJECT["project"]["optional-dependencies"]
    lists = [PYPROJECT["project"]["dependencies"], *extras.values(), groups["dev"], groups["site"]]
    for asked in (Requirement(line) for lines in lists for line in lines if not line.startswith("sfumato[")):
        assert asked.specifier.contains(locked[canonicalize_name(asked.name)]), asked
    for entry in re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry.splitlines()[0]
    assert "--index-url" not in text
    assert not re.search(r"https?://", text), "a lock names no place"


def test_what_is_vendored_is_what_its_licence_and_version_say() -> None:
    vendor = ROOT / "src" / "sfumato" / "studio" / "static" / "vendor"
    said = (vendor / "README.md").read_text(encoding="utf-8")
    version = re.search(r"uPlot (\d+\.\d+\.\d+)", said)
    assert version is not None
    assert f"v{version[1]}" in (vendor / "uPlot.iife.min.js").read_text(encoding="utf-8")[:400]
    assert "MIT" in (vendor / "uPlot.LICENSE").read_text(encoding="utf-8")
    assert {path.name for path in vendor.iterdir()} == {
        "README.md", "uPlot.LICENSE", "uPlot.iife.min.js", "uPlot.min.css",
    }, "say of a new file whose it is"  # fmt: skip


def test_the_policy_of_security_says_how_to_tell_us_and_what_comes_with_it() -> None:
    said = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for wanted in (
        "## Telling us",
        "advisory",
        "within a week",
        "requirements-dev.lock",
        "release-check",
        "Vendored code",
    ):
        assert wanted in said, wanted
