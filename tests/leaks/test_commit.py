"""Either everything of a release stands, or nothing, and what is said of it is true."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.auditing.model import Audit
from sfumato.exceptions import RepeatedReleaseWarning
from tests.cli.typed import typed
from tests.pipeline.tables import people, write

pytestmark = pytest.mark.usefixtures("few_clusters")
OPTIONS = {"identifier": ["id"], "keep": ["town"], "method": "adp"}


class BrokenError(Exception):
    """What no code of ours expects."""


@pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")
@pytest.mark.parametrize("step", ["render", "receipt", "report", "rename"])
def test_whatever_fails_nothing_is_left_and_the_history_does_not_know_it(
    tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(people(100), tmp_path / "in.csv")
    keys = tmp_path / "keys"
    keys.mkdir(mode=0o700)

    def fail(*_args: object, **_options: object) -> None:
        raise BrokenError

    with monkeypatch.context() as patch:
        if step == "render":
            patch.setattr(Audit, "to_html", fail)
        elif step == "rename":
            patch.setattr("sfumato.files.storage.workspace.Workspace.commit", fail)
        else:
            from sfumato.pipeline import books as module

            really = module.write_private
            wanted = ".receipt" if step == "receipt" else ".html"
            patch.setattr(module, "write_private", lambda p, c: fail() if p.suffix == wanted else really(p, c))
        with pytest.raises(BrokenError):
            sf.release(
                tmp_path / "in.csv", tmp_path / "out.csv", key=keys / "my.key", report=tmp_path / "r.html", **OPTIONS
            )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "keys"]
    assert {path.name for path in keys.iterdir()} <= {"history", "history.secret"}
    with_another_key = sf.release(tmp_path / "in.csv", tmp_path / "out.csv", key=keys / "other.key", **OPTIONS)
    assert with_another_key.notes == (), "no warning of a release that never was"


@pytest.mark.filterwarnings("ignore::sfumato.exceptions.UnchangedCellsWarning")
def test_a_release_with_a_report_is_in_the_history(tmp_path: Path) -> None:
    write(people(100), tmp_path / "in.csv")
    sf.release(tmp_path / "in.csv", tmp_path / "a.csv", key=tmp_path / "a.key", report=tmp_path / "r.html", **OPTIONS)
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")
    with pytest.warns(RepeatedReleaseWarning):
        sf.release(tmp_path / "in.csv", tmp_path / "b.csv", key=tmp_path / "b.key", **OPTIONS)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write(people(100), tmp_path / "in.csv")
    return tmp_path


def fail(*_args: object) -> None:
    raise OSError(28, "full")


@pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")
def test_a_repeat_that_fails_leaves_history_receipt_and_report_of_the_first(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"receipt": place / "r.receipt", "report": place / "r.html"}
    sf.release(place / "in.csv", place / "a.csv", key=place / "k", **files, **{**OPTIONS, "method": "tdp"})
    before = {path: path.read_bytes() for path in files.values()}
    with monkeypatch.context() as patch:
        patch.setattr("sfumato.files.storage.workspace.Workspace.commit", fail)
        for more in ({}, {"name": "another"}):
            options = {**OPTIONS, "method": "tdp", **more}
            with pytest.raises(OSError, match="full"):
                sf.release(place / "in.csv", place / "b.csv", key=place / "k", force=True, **files, **options)
    assert {path: path.read_bytes() for path in files.values()} == before
    sf.restore(place / "a.csv", place / "back.csv", place / "k", receipt=files["receipt"])
    with pytest.warns(RepeatedReleaseWarning):
        sf.release(place / "in.csv", place / "c.csv", key=place / "k", name="third", **OPTIONS)


@pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")
def test_once_the_release_stands_nothing_of_it_is_taken_back(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_folder: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sfumato.files.storage.workspace._sync_folder", interrupt)
    with pytest.raises(KeyboardInterrupt):
        sf.release(place / "in.csv", place / "out.csv", key=place / "k", receipt=place / "r", **OPTIONS)
    assert all((place / name).exists() for name in ("out.csv", "k", "r"))
    assert len((place / "history").read_text().splitlines()) == 2


@pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")
def test_a_listener_that_fails_at_the_end_does_not_lose_the_receipt(place: Path) -> None:
    def progress(what: str, share: float) -> None:
        if share == 1.0:
            raise BrokenError

    assert sf.release(place / "in.csv", place / "out.csv", key=place / "k", progress=progress, **OPTIONS).n_rows == 100


_BUG = """
import sys
from sfumato import cli
from sfumato.pipeline import {module} as module
module.{name} = lambda *a, **k: 1 / 0
cli.main()
"""


@pytest.mark.parametrize(
    ("module", "name", "written"),
    [("job", "fit", False), ("job", "Receipt", True), ("restore", "Restored", True)],
)
def test_a_bug_says_truly_what_was_written(tmp_path: Path, module: str, name: str, written: bool) -> None:
    write(people(100), tmp_path / "in.csv")
    key = str(tmp_path / "my.key")
    options = [*("--id", "id"), *("--keep", "town"), *("-m", "tdp"), *("--key", key)]
    arguments = ["release", str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.csv"), *options]
    if module == "restore":
        assert typed(*arguments).returncode == 0
        arguments = ["restore", str(tmp_path / "out.csv"), "-o", str(tmp_path / "back.csv"), "--key", key]
    done = subprocess.run(
        [sys.executable, "-c", _BUG.format(module=module, name=name), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ},
    )
    assert done.returncode == 70
    target = tmp_path / ("back.csv" if module == "restore" else "out.csv")
    assert target.exists() is written
    assert ("nothing was written" in done.stderr) is not written
    assert (f"{target}" in done.stderr) is written
