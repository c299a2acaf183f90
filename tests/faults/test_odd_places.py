"""Pipes, devices and names that no system takes, wherever a file is read or written: a sentence, and no waiting."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.core.parts import begun, leave_nothing
from sfumato.core.system import read_regular
from sfumato.exceptions import DataError, SfumatoError
from sfumato.receipts.finding import find_receipt, read_receipt
from tests.cli.typed import typed
from tests.pipeline.tables import people, read, write

pytestmark = [
    pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning"),
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes"),
]


def pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


READERS: dict[str, Callable[[Path, Path], object]] = {
    "table": lambda data, pipe: sf.release(pipe, data.with_name("out.csv")),
    "policy": lambda data, pipe: sf.release(data, data.with_name("out.csv"), pipe),
    "key": lambda data, pipe: sf.release(data, data.with_name("out.csv"), key=pipe),
    "receipt": lambda _data, pipe: read_receipt(pipe, sf.Key.generate()),
    "labels": lambda data, pipe: sf.join(pipe, data, data.with_name("out.csv"), sf.Key.generate()),
    "release": lambda data, pipe: sf.restore(pipe, data.with_name("out.csv"), sf.Key.generate()),
}


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_is_refused_wherever_a_file_is_read(tmp_path: Path, name: str) -> None:
    data = write(people(60), tmp_path / "in.csv")
    with pytest.raises(SfumatoError, match="pipe"):
        READERS[name](data, pipe(tmp_path / f"pipe-{name}.csv"))


def test_pipes_in_folders_are_no_files_of_theirs(tmp_path: Path) -> None:
    pq.write_table(people(60).to_arrow(), tmp_path / "1.parquet")
    pipe(tmp_path / "2.parquet")
    with pytest.raises(DataError, match=r"2\.parquet: not a file"):
        sf.release(tmp_path, tmp_path / "out.csv")
    pipe(tmp_path / "a.receipt")
    with pytest.raises(SfumatoError, match="no receipt"):
        find_receipt(tmp_path, sf.Key.generate())


@pytest.mark.parametrize("command", ["release", "audit", "compare", "tune", "policy"])
def test_commands_refuse_a_pipe(tmp_path: Path, command: str) -> None:
    data = str(pipe(tmp_path / "in.csv"))
    more = {"release": [data, "-o", "out.csv"], "audit": [data, data], "policy": ["init", data]}
    done = typed(command, *more.get(command, [data]), cwd=tmp_path)
    assert done.returncode == 3
    assert "pipe" in done.stderr


def test_devices_without_an_end_are_not_read(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="not a regular file"):
        read_regular(Path("/dev/zero"))
    with pytest.raises(SfumatoError, match="not a regular file"):
        sf.release(write(people(60), tmp_path / "in.csv"), tmp_path / "out.csv", "/dev/zero")


def test_a_name_that_is_too_long_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    write(people(60), tmp_path / "in.csv")
    for length in (200, 220, 240, 251, 300):
        name = "o" * length + ".csv"
        done = typed("release", "in.csv", "-o", name, "--id", "id", "--keep", "town", "-m", "adp", cwd=tmp_path)
        made = [path.name for path in tmp_path.iterdir() if path.name != "in.csv"]
        assert (done.returncode, made) in [(0, [name]), (3, [])], done.stderr
        assert done.returncode == 0 or "too long" in done.stderr
        for path in made:
            (tmp_path / path).unlink()


def test_what_cannot_be_removed_keeps_nothing_from_being_removed(tmp_path: Path) -> None:
    begun(tmp_path / ("x" * 300))
    (tmp_path / "half").write_text("half")
    begun(tmp_path / "half")
    leave_nothing()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_tables_without_people_are_refused_by_every_call(rows: int) -> None:
    table = pl.DataFrame({"a": [1.5, 2.5][:rows], "b": [0.5, 9.5][:rows]}, schema={"a": pl.Float64, "b": pl.Float64})
    for call in (lambda: sf.audit(table, table), lambda: sf.compare(table), lambda: sf.tune(table)):
        with pytest.raises(DataError, match="row"):
            call()


@pytest.mark.parametrize("name", ["-in.csv", "--force.csv", "-"])
def test_names_that_begin_with_a_dash_are_names_behind_two(tmp_path: Path, name: str) -> None:
    write(people(60), tmp_path / name)
    options = ["--id", "id", "--keep", "town", "-m", "adp", "--key", "my.key"]
    done = typed("release", "-o", "-out.csv", *options, "--", name, cwd=tmp_path)
    assert done.returncode == (0 if name.endswith(".csv") else 3), done.stderr
    assert (tmp_path / "-out.csv").exists() == name.endswith(".csv")


@pytest.mark.parametrize("name", ["-in.csv", "--force.csv", "-o.csv"])
def test_a_name_that_is_read_as_an_option_is_told_how_to_write(tmp_path: Path, name: str) -> None:
    write(people(60), tmp_path / name)
    done = typed("release", name, "--output", "out.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert f"write ./{name}" in done.stderr
    done = typed("release", f"./{name}", "-o", "out.csv", "--id", "id", "--keep", "town", "-m", "adp", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def twice(folder: Path, name: str, decoy: str) -> Path:
    """Write a table under a name, and another one under a name that the first one matches as a pattern."""
    for seed, one in enumerate((name, decoy)):
        plain = write(people(300, seed=seed), folder / f"plain{Path(decoy).suffix}")
        plain.rename(folder / one)
    return folder / name


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow"])
@pytest.mark.parametrize("name", ["[a]", "*", "?", "[!b]", "[", "~", "{a,b}", "$HOME", "a%20b"])
def test_a_name_is_no_pattern(tmp_path: Path, name: str, ending: str) -> None:
    data = twice(tmp_path, name + ending, "a" + ending)
    out, back = data.with_name(f"{name} out{ending}"), data.with_name(f"{name} back{ending}")
    twice(tmp_path, "a out" + ending, "a back" + ending)
    done = sf.release(
        data, out, method="rdp", identifier=["id"], keep=["town"], shuffle=False, key=tmp_path / "k", batch_rows=70
    )
    assert done.n_rows == 300
    sf.restore(out, back, tmp_path / "k")
    plain = tmp_path / f"plain{ending}"  # the readers of tests take patterns, too
    plain.write_bytes(back.read_bytes())
    assert read(plain)["age"].to_list() == people(300)["age"].to_list(), "the table of that very name"


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
@pytest.mark.parametrize("around", ["[x]", "year=2024"])
def test_a_folder_is_no_pattern_and_no_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, around: str, ending: str
) -> None:
    monkeypatch.setattr("sfumato.files.formats.sinks._PIECE_BYTES", 1000)
    for folder in ("x", around):
        (tmp_path / folder).mkdir()
    data = write(people(300), tmp_path / around / f"in{ending}")
    out = data.with_name(f"out{ending}")
    done = sf.release(data, out, method="adp", identifier=["id"], keep=["town"], key=tmp_path / "k", batch_rows=70)
    assert done.n_rows == 300
    plain = tmp_path / f"plain{ending}"
    plain.write_bytes(out.read_bytes())
    assert read(plain).columns == ["age", "wage", "town", "score"]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow", ".xlsx"])
@pytest.mark.parametrize("where", ["source", "target", "folder"])
def test_names_that_are_no_text_are_taken_or_refused_before_any_work(tmp_path: Path, where: str, ending: str) -> None:
    odd = os.fsdecode(b"\xff")
    (tmp_path / odd).mkdir()
    around = tmp_path / odd if where == "folder" else tmp_path
    data = around / f"{odd if where == 'source' else 'in'}{ending}"
    write(people(60), tmp_path / f"plain{ending}").rename(data)
    out = around / f"{odd if where == 'target' else 'out'}{ending}"
    options = ["--id", "id", "--keep", "town", "-m", "adp", "--key", str(tmp_path / "my.key")]
    done = typed("release", str(data), "-o", str(out), *options, cwd=tmp_path)
    taken = ending in (".csv", ".xlsx")
    assert (done.returncode, out.exists(), (tmp_path / "my.key").exists()) == (0 if taken else 3, taken, taken), ascii(
        done.stderr
    )
    assert taken or "not UTF-8" in done.stderr
