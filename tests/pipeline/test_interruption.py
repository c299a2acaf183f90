"""Whatever happens while a release runs, its file stands whole or not at all."""

from __future__ import annotations

import json
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.cluster.lattice_kmeans import likely_centres
from sfumato.core.passes import stoppable
from sfumato.exceptions import DataError, ReleaseCancelledError
from sfumato.files.storage import reorder
from tests.cli.typed import typed
from tests.pipeline.tables import people, read, write

KILLS = 60
pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_kill_9_at_random_moments_leaves_no_half_file_and_a_second_run_works(tmp_path: Path) -> None:
    data = write(people(20_000), tmp_path / "in.csv")
    keys = tmp_path / "keys"
    script = Path(__file__).parent / "killed.py"
    arguments = [sys.executable, str(script), str(data), str(tmp_path / "out.csv"), "20000", str(KILLS)]
    done = subprocess.run(
        arguments, capture_output=True, text=True, check=False, env={**os.environ, "SFUMATO_KEYS": str(keys)}
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["half"] == 0
    assert seen["none"] + seen["whole"] == KILLS
    assert seen["none"] >= KILLS // 4, "the kills came while it was running"
    assert seen["leftovers"] <= 2, "what a killed run leaves is swept by the next"
    assert seen["last run"] == 0
    assert seen["last whole"] is True
    assert names(tmp_path) == ["in.csv", "keys", "out.csv"]
    sf.release(data, tmp_path / "again.csv", identifier=["id"], keep=["town"], key=keys / "again.key", method="ina")
    assert all(
        name.endswith((".key", ".receipt", ".people")) or name in ("history", "history.secret") for name in names(keys)
    )
    lines = (keys / "history").read_text().splitlines()[1:]
    assert {path.stem for path in keys.glob("*.people")} == {line.split()[2] for line in lines}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_command_cleans_up_and_exits_130(tmp_path: Path, number: int) -> None:
    data = write(people(200_000), tmp_path / "in.csv")
    command = [sys.executable, "-m", "sfumato", "release", str(data), "-o", str(tmp_path / "out.csv")]
    command += ["--id", "id", "--keep", "town", "--key", str(tmp_path / "my.key"), "-m", "ina"]
    for _ in range(10):
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not list(tmp_path.glob(".out.csv.*")) and child.poll() is None:
            time.sleep(0.01)
        child.send_signal(number)
        _, told = child.communicate()
        if child.returncode != 0:
            break
        for path in set(tmp_path.iterdir()) - {data}:  # on a busy machine the signal may come when all is done
            path.unlink()
    assert child.returncode == 130, told
    assert "interrupted" in told
    assert "Traceback" not in told
    assert names(tmp_path) == ["in.csv"]


def test_a_cancelled_release_leaves_nothing(tmp_path: Path) -> None:
    data = write(people(5000), tmp_path / "in.csv")
    stop = threading.Event()
    seen: list[float] = []

    def progress(_what: str, share: float) -> None:
        seen.append(share)
        if share > 0.5:
            stop.set()

    with pytest.raises(ReleaseCancelledError):
        sf.release(
            data, tmp_path / "out.csv", identifier=["id"], keep=["town"], key=tmp_path / "k", batch_rows=300,
            method="ina", progress=progress, cancel=stop,
        )  # fmt: skip
    assert names(tmp_path) == ["in.csv"]
    assert seen == sorted(seen), "progress never goes back"
    sf.release(
        data,
        tmp_path / "out.csv",
        identifier=["id"],
        keep=["town"],
        key=tmp_path / "k",
        method="ina",
        progress=progress,
    )
    assert seen[-1] == 1.0


def test_a_release_is_cancelled_up_to_the_last_moment(tmp_path: Path) -> None:
    data = write(people(400), tmp_path / "in.csv")
    stop = threading.Event()
    told: list[float] = []
    last = 0

    def progress(_what: str, share: float) -> None:
        told.append(share)
        if len(told) == last:
            stop.set()

    def run(name: str) -> None:
        told.clear()
        sf.release(
            data, tmp_path / name, identifier=["id"], keep=["town"], key=tmp_path / "k", method="ina",
            progress=progress, cancel=stop,
        )  # fmt: skip

    run("whole.csv")
    last = sum(share < 1.0 for share in told)  # nothing is told between this one and the end
    before = names(tmp_path)
    with pytest.raises(ReleaseCancelledError):
        run("late.csv")
    assert names(tmp_path) == before


def test_long_computations_stop_in_the_middle() -> None:
    asked: list[int] = []

    def check() -> None:
        asked.append(1)
        if len(asked) == 3:
            raise ReleaseCancelledError("cancelled")

    rows = np.rint(np.random.default_rng(0).normal(0, 1000, (2, 300)))
    words = np.random.default_rng(1).integers(0, 2**63, 60, dtype=np.uint64)
    with stoppable(check), pytest.raises(ReleaseCancelledError):
        likely_centres(rows, 4, words, starts=5)
    assert len(asked) == 3
    likely_centres(rows, 4, words, starts=5)
    assert len(asked) == 3, "nobody is asked outside"


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow"])
def test_a_full_disk_is_one_clear_error_and_leaves_nothing(tmp_path: Path, ending: str) -> None:
    data = write(people(20_000), tmp_path / "in.csv")
    command = [sys.executable, "-m", "sfumato", "release", str(data), "-o", str(tmp_path / f"out.{ending}")]
    command += ["--id", "id", "--keep", "town", "--key", str(tmp_path / "my.key"), "-m", "ina"]

    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, before[1]))

    if ending in ("csv", "csv.gz"):
        done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=small_files)
    else:
        small_files()
        try:
            done = typed(*command[3:])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert done.returncode == 3, done.stderr
    assert "cannot be written" in done.stderr
    assert "hint: free some space" in done.stderr
    assert "Traceback" not in done.stderr
    assert names(tmp_path) == ["in.csv"]


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    data = write(people(100), tmp_path / "in.csv")
    with pytest.raises(DataError, match="cannot be written"):
        sf.release(data, "/proc/out.csv", identifier=["id"], keep=["town"], key=tmp_path / "k")
    assert names(tmp_path) == ["in.csv"]


def test_a_key_that_cannot_be_saved_stops_the_release(tmp_path: Path) -> None:
    data = write(people(100), tmp_path / "in.csv")
    with pytest.raises(sf.SfumatoError):
        sf.release(data, tmp_path / "out.csv", identifier=["id"], keep=["town"], key="/proc/my.key")
    assert names(tmp_path) == ["in.csv"]


def test_two_releases_to_one_folder_do_not_disturb_each_other(tmp_path: Path) -> None:
    data = write(people(3000), tmp_path / "in.csv")
    errors: list[BaseException] = []

    def one(i: int) -> None:
        try:
            sf.release(
                data, tmp_path / f"out{i % 2}.csv", identifier=["id"], keep=["town"], key=tmp_path / f"{i}.key",
                batch_rows=200, force=True, method="cov",
            )  # fmt: skip
        except sf.SfumatoWarning:
            pass  # the history has seen the first of them
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert read(tmp_path / "out0.csv").height == 3000
    assert [name for name in names(tmp_path) if name.startswith(".")] == []


def test_what_lies_beside_the_target_while_it_is_made_is_the_owners_alone_and_holds_no_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write(people(3000), tmp_path / "in.csv")
    monkeypatch.setattr(reorder, "MEMORY_BYTES", 20_000)
    seen: dict[str, bytes] = {}
    modes = set()

    def look(_what: str, _share: float) -> None:
        for folder in tmp_path.glob(".out*"):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            for path in folder.glob("run-*"):
                modes.add(stat.S_IMODE(path.stat().st_mode))
                seen[path.name] = path.read_bytes()

    sf.release(
        data, tmp_path / "out.csv", identifier=["id"], keep=["town"], key=tmp_path / "k", batch_rows=200, method="adp",
        progress=look,
    )  # fmt: skip
    assert len(seen) > 3, "rows were put aside"
    assert modes == {0o600}
    everything = b"".join(seen.values())
    for line in data.read_bytes().splitlines()[1:]:
        assert line.split(b",", 1)[1] not in everything, "an original row"
    assert b"P00" not in everything
