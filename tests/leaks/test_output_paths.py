"""One rule for every path that a command writes: never an input, another output, a key or a device."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import sfumato as sf
from sfumato import cli
from sfumato.exceptions import DataError, SfumatoError
from sfumato.files.storage.outputs import check_outputs
from tests.pipeline.tables import people, write

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write(people(100), tmp_path / "in.csv")
    sf.Key.generate().save(tmp_path / "my.key")
    (tmp_path / "policy.toml").write_text('[columns]\nidentifier = ["id"]\nkeep = ["town"]\n[method]\nname = "tdp"\n')
    sf.release(
        tmp_path / "in.csv",
        tmp_path / "out.csv",
        tmp_path / "policy.toml",
        tmp_path / "my.key",
        receipt=tmp_path / "my.receipt",
    )
    (tmp_path / "labels.csv").write_text("label\n" + "1\n" * 100)
    return tmp_path


def commands(place: Path, output: str) -> dict[str, list[str]]:
    """Return every command that writes a file to `output`, with all of its inputs."""
    data, released, key = str(place / "in.csv"), str(place / "out.csv"), str(place / "my.key")
    policy, receipt, labels = str(place / "policy.toml"), str(place / "my.receipt"), str(place / "labels.csv")
    base = ["release", data, "--policy", policy]
    keyed = ["--key", key, "--receipt", receipt]
    return {
        "release -o": [*base, "-o", output, "--key", key],
        "release --report": [*base, "-o", str(place / "new.csv"), "--key", key, "--report", output],
        "release --receipt": [*base, "-o", str(place / "new.csv"), "--key", key, "--receipt", output],
        "audit --report": ["audit", data, released, *keyed, "--report", output, "--attack", "as-released"],
        "audit --public-summary": ["audit", data, released, *keyed, "--public-summary", output, "--attack", "moments"],
        "restore -o": ["restore", released, "-o", output, *keyed],
        "join -o": ["join", labels, data, "-o", output, *keyed],
        "policy init -o": ["policy", "init", data, "-o", output],
        "compare --report": ["compare", data, "--report", output, "-m", "tdp", "--id", "id", "--keep", "town"],
        "tune -o": ["tune", data, "-o", output, "--candidates", "1", "-m", "tdp", "--id", "id", "--keep", "town"],
        "tune --report": ["tune", data, "--report", output, "--candidates", "1", "-m", "tdp", "--id", "id"],
        "reproduce --report": ["reproduce", "gdtm", "--quick", "--report", output],
        "summarize -o": ["summarize", data, "-o", output, "--key", key, "--owner", "a", "--id", "id", "--keep", "town"],
        "demo --table": ["demo", "--table", output],
    }


NAMES = list(commands(Path(), ""))
FORCED = [name for name in NAMES if name != "demo --table"]


def contents(place: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return the identity and the content of every file."""
    return {
        path.name: (path.stat().st_ino, stat.S_IFMT(path.lstat().st_mode), path.read_bytes() if path.is_file() else b"")
        for path in sorted(place.iterdir())
    }


def refused(command: list[str]) -> str:
    done = CliRunner().invoke(cli.sfumato, command)
    usage = isinstance(done.exception, SystemExit) and done.exit_code == 2  # click looks at some paths itself
    assert usage or isinstance(done.exception, SfumatoError), (done.output, done.exception)
    return str(done.exception)


@pytest.mark.parametrize("name", FORCED)
@pytest.mark.parametrize("victim", ["in.csv", "my.key", "policy.toml", "out.csv", "my.receipt", "labels.csv"])
@pytest.mark.parametrize("by", ["name", "hard link", "dots"])
def test_no_input_is_replaced_even_by_force(place: Path, name: str, victim: str, by: str) -> None:
    output = place / victim
    if by == "hard link":
        output = place / "another name.csv"
        os.link(place / victim, output)
    if by == "dots":
        output = place / ".." / place.name / victim
    command = commands(place, str(output))[name]
    before = contents(place)
    if str(place / victim) in commands(place, "somewhere else")[name] or victim == "my.key":
        refused([*command, "--force"])
    else:  # not one of its inputs: without force it stays all the same
        assert "exists already" in refused(command)
    assert contents(place) == before


@pytest.mark.parametrize("name", NAMES)
def test_existing_files_need_force_and_odd_ones_are_never_replaced(place: Path, name: str) -> None:
    (place / "existing").write_text("mine")
    ending = ".csv" if name in ("release -o", "restore -o", "join -o", "demo --table") else ".html"
    (place / f"existing{ending}").write_text("mine")
    (place / f"link{ending}").symlink_to(place / f"existing{ending}")
    (place / f"folder{ending}").mkdir()
    os.mkfifo(place / f"pipe{ending}")
    device = place / f"null{ending}"
    os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    before = contents_of_odd(place)
    assert "exists already" in refused(commands(place, str(place / f"existing{ending}"))[name])
    for odd in ("link", "folder", "pipe", "null"):
        force = [] if name == "demo --table" else ["--force"]
        refused([*commands(place, str(place / f"{odd}{ending}"))[name], *force])
    assert contents_of_odd(place) == before


def contents_of_odd(place: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.lstat().st_ino, path.lstat().st_mode) for path in sorted(place.iterdir())}


def test_all_problems_are_said_at_once_and_before_any_work(place: Path) -> None:
    before = contents(place)
    told = refused(
        [
            "release", str(place / "in.csv"), "--policy", str(place / "policy.toml"), "-o", str(place / "in.csv"),
            "--key", str(place / "my.key"), "--receipt", str(place / "my.key"),
            "--report", str(place / "none" / "r.html"),
        ]
    )  # fmt: skip
    assert "would replace an input" in told
    assert "no folder" in told
    assert "my.key" in told
    assert contents(place) == before


@pytest.mark.parametrize(
    ("one", "other"), [("-o", "--report"), ("-o", "--receipt"), ("--report", "--receipt"), ("-o", "--key")]
)
def test_outputs_are_distinct(place: Path, one: str, other: str) -> None:
    new = str(place / "new.csv")
    given = {"-o": str(place / "n.csv"), "--key": str(place / "my.key")} | {one: new, other: new}
    flags = [word for pair in given.items() for word in pair]
    told = refused(["release", str(place / "in.csv"), "--policy", str(place / "policy.toml"), *flags])
    assert "would replace the" in told
    assert not Path(new).exists()


def test_a_release_does_not_land_among_the_files_of_its_own_table(tmp_path: Path) -> None:
    folder = tmp_path / "table"
    folder.mkdir()
    write(people(50), folder / "a.parquet")
    with pytest.raises(DataError, match="among the files of the table itself"):
        sf.release(folder, folder / "b.parquet", key=tmp_path / "k", identifier=["id"], keep=["town"], method="adp")


WAYS: dict[str, Callable[[Path, Path], None]] = {
    "python report": lambda place, out: sf.audit(
        people(50), people(50), utility=False, attacks=["as-released"], leave_out=[]
    ).to_html(out),
    "python release": lambda place, out: sf.release(
        place / "in.csv", out, place / "policy.toml", place / "my.key", force=True
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("victim", ["my.key", "device"])
def test_python_does_not_replace_keys_or_devices_either(place: Path, way: str, victim: str) -> None:
    out = place / victim
    if victim == "device":
        os.mknod(out, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    before = (out.stat().st_ino, out.stat().st_mode)
    with pytest.raises(SfumatoError):
        WAYS[way](place, out)
    assert (out.stat().st_ino, out.stat().st_mode) == before


def test_the_rule_by_itself(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    os.link(tmp_path / "a", tmp_path / "b")
    with pytest.raises(DataError, match="would replace an input"):
        check_outputs({"it": tmp_path / "b"}, [tmp_path / "a"], force=True)
    with pytest.raises(DataError, match="the second would replace the first"):
        check_outputs({"the first": tmp_path / "new", "the second": tmp_path / "." / "new"}, force=False)
    check_outputs({"it": tmp_path / "b", "nothing": None}, force=True)


def test_files_of_a_folder_are_inputs_wherever_they_lie(tmp_path: Path) -> None:
    write(people(50), tmp_path / "real.parquet")
    (tmp_path / "table").mkdir()
    (tmp_path / "table" / "p.parquet").symlink_to(tmp_path / "real.parquet")
    before = (tmp_path / "real.parquet").read_bytes()
    with pytest.raises(DataError, match="would replace a file of an input"):
        sf.release(tmp_path / "table", tmp_path / "real.parquet", key=tmp_path / "k", identifier=["id"], force=True)
    assert (tmp_path / "real.parquet").read_bytes() == before


@pytest.mark.parametrize("name", ["history", "history.secret", "history.key"])
def test_the_places_of_the_history_are_its_own(tmp_path: Path, name: str) -> None:
    write(people(50), tmp_path / "in.csv")
    with pytest.raises(DataError, match="would replace what belongs at"):
        sf.release(tmp_path / "in.csv", tmp_path / "out.csv", key=tmp_path / "k", receipt=tmp_path / name)


def test_files_of_other_programs_are_not_swept(place: Path) -> None:
    foreign, ours = place / ".download.part", place / ".x.receipt.abc.sfumato-part"
    for file in (foreign, ours):
        file.write_text("half")
    sf.release(place / "in.csv", place / "again.csv", place / "policy.toml", place / "my.key")
    assert foreign.exists()
    assert not ours.exists()
