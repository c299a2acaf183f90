"""Errands: what other processes do is what this one would do, and nothing of them is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato.core.errands.processes import Errands
from sfumato.core.errands.shared_arrays import SharedArrays, with_arrays
from sfumato.core.errands.things import put_together, taken_apart
from sfumato.core.travel import pack, unpack
from sfumato.exceptions import DataError, ParameterError
from sfumato.tuning.comparison import LeftOut
from sfumato.tuning.search import Score
from sfumato.tuning.settings import Setting

ADDING = "sfumato.core.errands.processes:adding"
MANY = 5
HARD_LIMIT = 300  # seconds, for what would never end


class _Asked:
    """Work of this process that counts."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, item: Any) -> Any:
        self.times += 1
        return item + 2


def test_processes_do_what_this_one_would_do() -> None:
    here = _Asked()
    with Errands(ADDING, lambda: 2, here, MANY) as work:
        assert [work(item) for item in (1, 2.5, np.array([1.0, np.nan]).sum())][:2] == [3, 4.5]
        assert work.done_elsewhere == 3
    assert here.times == 0


def test_few_threads_need_no_process() -> None:
    here = _Asked()
    with Errands(ADDING, lambda: 2, here, 4) as work:
        work.begin(4)
        assert work(1) == 3
        assert not work._begun
    assert here.times == 1


def test_an_error_is_met_by_the_work_that_has_it() -> None:
    def here(item: Any) -> Any:
        raise ParameterError(f"not {type(item).__name__}", hint="a number")

    with Errands(ADDING, lambda: 2, here, MANY) as work, pytest.raises(ParameterError, match="not str") as error:
        work("text")
    assert error.value.hint == "a number"


def test_the_work_of_a_process_that_dies_is_done_here() -> None:
    here = _Asked()
    with Errands(ADDING, lambda: 2, here, MANY) as work:
        assert work(1) == 3
        for process in work._begun:
            process._process.kill()
        assert work(5) == 7
    assert here.times == 1


def test_whoever_stops_waits_for_nobody() -> None:
    asked: list[int] = []

    def check() -> None:
        asked.append(1)
        raise ParameterError("stopped")

    here = _Asked()
    with Errands(ADDING, lambda: 2, here, MANY, check) as work:
        work.begin(1)
        os.kill(work._begun[0]._process.pid, signal.SIGSTOP)  # it would never answer
        with pytest.raises(ParameterError, match="stopped"):
            work(1)
        assert work._begun[0]._process.returncode == -signal.SIGKILL
    assert asked
    assert not here.times


def test_what_is_told_is_seen_by_nobody() -> None:
    secret = "an-original-value-17.25"
    with Errands(ADDING, lambda: secret, _Asked(), MANY) as work:
        assert work("?") == "?" + secret
        place = Path(f"/proc/{work._begun[0]._process.pid}")
        assert secret.encode() not in (place / "cmdline").read_bytes() + (place / "environ").read_bytes()


def test_large_arrays_lie_in_memory_once_and_nobody_can_write_to_them() -> None:
    table = np.arange(800_000.0).reshape(-1, 4)
    held = SharedArrays()
    told = unpack(pack(held.without({"both": [table, table[:, 1]], "few": np.arange(3)})))
    assert held.size == table.nbytes + table[:, 1].nbytes
    seen = with_arrays(told, held.descriptor)
    held.close()
    assert np.array_equal(seen["both"][0], table)
    assert np.array_equal(seen["both"][1], table[:, 1])
    assert seen["few"].tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="read-only"):
        seen["both"][0][0] = 1.0


def test_what_cannot_travel_is_done_here() -> None:
    here = _Asked()
    with Errands(ADDING, object, here, MANY) as work:
        assert work(1) == 3
        assert work.done_elsewhere == 0
    assert here.times == 1


def test_libraries_begin_no_threads_in_processes() -> None:
    table = np.random.default_rng(1).normal(size=(60, 2))
    told = {"rows": {"original": table, "released": table}}
    with Errands("sfumato.attack.engine.elsewhere:referees_elsewhere", lambda: told, _Asked(), MANY) as work:
        assert work(("rows", "ridge", ())).status == "ran"  # has loaded what multiplies matrices
        assert work.done_elsewhere == 1
        status = Path(f"/proc/{work._begun[0]._process.pid}/status").read_text()
    assert "Threads:\t2\n" in status  # its own, and one that waits for the end of whoever asks


def test_processes_end_with_whoever_began_them(tmp_path: Path) -> None:
    program = (
        "from sfumato.core.errands.processes import Errands\n"
        f"with Errands({ADDING!r}, lambda: 2, None, 5) as work:\n"
        "    work(1)\n"
        "    print(work._begun[0]._process.pid, flush=True)\n"
        "    input()\n"
    )
    places = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=places, cwd=tmp_path
    )
    assert parent.stdout is not None
    child = Path(f"/proc/{int(parent.stdout.readline())}")
    assert child.exists()
    parent.kill()
    parent.communicate()
    while child.exists() and ") Z " not in (child / "stat").read_text():
        time.sleep(0.05)
    assert not list(tmp_path.iterdir())


ENDLESS = """
import sfumato.core.errands.processes as processes
processes.endless = lambda told: lambda item: [None for _ in iter(int, 1)]
processes.serve("sfumato.core.errands.processes:endless")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_work_that_nobody_waits_for_any_more_is_not_finished() -> None:
    child = subprocess.Popen([sys.executable, "-c", ENDLESS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    for message in (pack("told"), pack("item")):
        child.stdin.write(len(message).to_bytes(8, "little") + message)
    child.stdin.flush()
    child.stdout.close()  # as when the process that waits is killed
    assert child.wait(timeout=HARD_LIMIT) == 1
    child.stdin.close()


def test_a_process_runs_nothing_of_the_folder_it_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("random", "numpy", "sfumato"):
        (tmp_path / f"{name}.py").write_text("import pathlib\npathlib.Path('ran').touch()\n")
    monkeypatch.chdir(tmp_path)
    with Errands(ADDING, lambda: 2, _Asked(), MANY) as work:
        assert work(1) == 3
        assert work.done_elsewhere == 1
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("size", [1, 30_000_000])
def test_whoever_stops_waits_for_nobody_that_does_not_listen(size: int) -> None:
    def check() -> None:
        raise ParameterError("stopped")

    with Errands(ADDING, lambda: b"x" * size, _Asked(), MANY, check) as work:
        work.begin(1)
        os.kill(work._begun[0]._process.pid, signal.SIGSTOP)  # more than a pipe holds is never taken
        with pytest.raises(ParameterError, match="stopped"):
            work(1)


def test_long_answers_come_whole() -> None:
    told, item = b"x" * 20_000_000, b"y" * 9_000_001
    with Errands(ADDING, lambda: told, _Asked(), MANY) as work:
        assert work(item) == item + told
        assert work.done_elsewhere == 1


def test_ending_while_others_ask_lets_no_byte_into_another_file(tmp_path: Path) -> None:
    """The number of a pipe that is closed goes to the next file that is opened."""
    told = b"an original value " * 1_000_000
    ends: list[Any] = []
    here = _Asked()
    work = Errands(ADDING, lambda: told, here, MANY)

    def ask() -> None:
        try:
            ends.append(work(b""))
        except Exception as error:  # noqa: BLE001
            ends.append(error)

    with work:
        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        while len(work._begun) < 3:
            time.sleep(0.001)
    opened = [(tmp_path / str(i)).open("wb") for i in range(50)]
    for thread in threads:
        thread.join()
    for file in opened:
        file.close()
    assert len(ends) == 3
    assert {path.stat().st_size for path in tmp_path.iterdir()} == {0}


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_errands_are_run_without_standard_streams(tmp_path: Path, closed: str) -> None:
    program = (
        "from pathlib import Path\n"
        "from sfumato.core.errands.processes import Errands\n"
        f"with Errands({ADDING!r}, lambda: 2, None, 5) as work:\n"
        "    Path('done').write_text(f'{work(1)} {work(2)} {work.done_elsewhere}')\n"
    )
    (tmp_path / "program.py").write_text(program)
    places = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(["/bin/sh", "-c", f"{sys.executable} program.py {closed}"], cwd=tmp_path, env=places, check=True)
    assert (tmp_path / "done").read_text() == "3 4 2"


@pytest.mark.parametrize(
    "thing",
    [
        Setting("adp", {"scale": 0.1, "offsets": (1, 2.5)}, "paper", Setting("rdp")),
        [Score(0.5, "A", float("inf"), None)],
        {"left": LeftOut(label="a", reason="b")},
    ],
)
def test_things_come_back(thing: Any) -> None:
    assert put_together(unpack(pack(taken_apart(thing)))) == thing


def test_only_classes_of_this_library_are_made() -> None:
    with pytest.raises(DataError, match="not a module of this library"):
        put_together({"": "subprocess:Popen", "args": "true"})
