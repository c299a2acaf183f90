"""A few seconds of `make hunt`, and a property of its own: each step of a commit that fails leaves nothing half."""

from __future__ import annotations

import errno
import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.core.parts import leave_nothing
from sfumato.files.storage.workspace import sweep
from tests.pipeline.tables import people, write
from tools.hunt import children, preloaded
from tools.hunt.cases import hunt_damage, hunt_tables
from tools.hunt.page import table_of

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")


def test_odd_tables_are_released_as_they_are_meant_or_refused() -> None:
    seen = hunt_tables(7, 12)
    assert seen["released"] >= 3
    assert sum(seen.values()) >= 12


def test_damaged_files_are_refused_or_read() -> None:
    seen = hunt_damage(7, 12)
    assert sum(seen.values()) >= 12


@pytest.mark.skipif(not preloaded.has_compiler(), reason="needs Linux and a C compiler")
def test_a_release_that_gets_no_memory_or_whose_threads_cannot_write_leaves_nothing_half() -> None:
    with preloaded.Preloaded() as server:
        for what, most in ((preloaded.MEMORY, 5), (preloaded.FILES, 3)):
            ends = []
            for kind, number, error in itertools.islice(preloaded.cases(server, what, 3), most):
                ended, wrong = preloaded.run_case(server, what, kind, number, error)
                # the n-th call differs a little from run to run: whether all are named right, the hunt tells
                assert [one for one in wrong if "exit code 70" not in one] == [], (kind, number, error)
                ends.append(ended)
            # some failures harm nothing; most must be told, or nothing has failed at all
            assert ("exit 71" if what == preloaded.MEMORY else "exit 3") in ends


class Steps:
    """Every call of some function of the system: one of them fails, or is the last one before a signal comes."""

    def __init__(self, name: str, *, after: bool) -> None:
        self._real, self._after = getattr(os, name), after
        self.count = self.stops_at = 0

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.count += 1
        stops = self.count == self.stops_at
        if stops and not self._after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = self._real(*arguments, **named)
        if stops:
            raise KeyboardInterrupt  # as the handler of SIGINT, SIGTERM and SIGHUP does
        return done


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("name", ["fsync", "replace", "link", "unlink", "mkdir", "open", "rmdir"])
def test_each_step_of_writing_that_fails_or_is_the_last_leaves_nothing_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, after: bool
) -> None:
    data = write(people(60), tmp_path / "in.csv")
    steps = Steps(name, after=after)
    monkeypatch.setattr(os, name, steps)
    for number in range(1, 90):
        steps.stops_at = 0
        folder = tmp_path / f"{name}{number}"
        folder.mkdir()
        steps.count, steps.stops_at = 0, number
        key, out = folder / "my.key", folder / "out.csv"
        made = True
        try:
            sf.release(data, out, method="adp", identifier=["id"], keep=["town"], key=key, threads=1)
        except (sf.SfumatoError, OSError):
            made = False
        except KeyboardInterrupt:
            made = out.exists()  # all of it stands or nothing, and the terminal says that it was interrupted
            leave_nothing()  # as the command line does
        calls, steps.stops_at = steps.count, 0
        if name in ("unlink", "rmdir") and not after:  # what could not be removed goes with the next release
            sweep(folder.glob(".*"))
        assert out.exists() == key.exists() == bool([*folder.glob("*.receipt")]) == made, number
        assert not made or sf.Key.load(key)
        assert [path.name for path in folder.glob(".*")] == [], number
        if calls < number:
            break  # all calls have been the one
    assert calls < number


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("how", ["waits", "works", "ends"])
def test_a_child_hangs_if_it_waits_or_works_without_an_end(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setattr(children, "_STILL", 1 if how == "waits" else 3600)
    monkeypatch.setattr(children, "_MOST", 0.5)
    scripts = {"waits": "import signal; signal.pause()", "works": "while True: pass", "ends": "raise SystemExit(5)"}
    child = subprocess.Popen([sys.executable, "-c", scripts[how]])
    status = children.ended(child.pid)
    child.returncode = 0  # it has been waited for
    assert (status is None) == (how != "ends")
    assert status is None or os.waitstatus_to_exitcode(status) == 5


def test_the_page_shows_the_counts_of_a_hunt() -> None:
    found = {
        "seconds": 120, "counts": {"odd tables": {"released": 3}}, "findings": ["x"], "python": "3", "system": "L",
    }  # fmt: skip
    assert "| odd tables | released | 3 |" in table_of(found)
    assert "1 findings left open" in table_of(found)
