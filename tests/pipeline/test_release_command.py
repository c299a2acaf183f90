"""`sfumato release` as a person types it."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

import polars as pl
import pytest

from sfumato import Key
from tests.cli.test_first_commands import run
from tests.cli.typed import typed
from tests.pipeline.tables import people, read, write

pytestmark = pytest.mark.usefixtures("everybody")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(people(150, missing=True), tmp_path / "people.csv")


def release(data: Path, *more: str, out: str = "out.csv", start=typed):
    columns = [] if "--policy" in more else ["--id", "id", "--keep", "town"]
    return start("release", str(data), "-o", str(data.parent / out), *columns, *more)


def test_three_lines_say_what_was_done_dropped_and_must_be_known_and_a_note_what_is_kept(data: Path) -> None:
    refused = release(data, start=run)
    assert refused.returncode == 3
    assert "a table of 150 rows is too small" in refused.stderr
    assert "--set exposed=publish" in refused.stderr
    done = release(data, "--set", "exposed=publish", start=run)
    assert done.returncode == 0, done.stderr
    did, dropped, know, kept, signs = done.stdout.splitlines()
    assert kept.startswith("note: ")
    assert "clusterings are kept" in kept
    assert signs.startswith("note: no released value is below 0 in age, wage")
    assert did.startswith("released 150 rows to ")
    assert "age, wage, score perturbed by" in did
    assert "dropped: id" in dropped
    assert "missing cells stay missing" in dropped
    key = Path(re.search(r"the key (\S+\.key)", know)[1])
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700
    assert key.parent != data.parent, "the key does not lie beside the release"
    assert Key.load(key).fingerprint
    assert [path.name for path in data.parent.iterdir() if path.name.startswith(".")] == []


def test_the_same_key_gives_the_same_file_and_another_key_a_warning(data: Path) -> None:
    key = str(data.parent / "my.key")
    assert release(data, "-m", "adp", "--key", key).returncode == 0
    again = release(data, "-m", "adp", "--key", key, out="again.csv")
    assert (data.parent / "out.csv").read_bytes() == (data.parent / "again.csv").read_bytes()
    assert "released before" not in again.stderr
    other = release(data, "-m", "adp", "--key", str(data.parent / "other.key"), out="other.csv")
    assert other.returncode == 0
    assert "released before with other noise" in other.stderr


def test_json_is_one_object_without_secrets(data: Path) -> None:
    done = release(data, "--json", "-m", "adp", "--set", "scale=0.3", "--set", "distribution=laplace")
    told = json.loads(done.stdout)
    assert told["schema"] == "sfumato-release-1"
    assert told["parameters"] == {"scale": 0.3, "distribution": "laplace", "relative": True}
    assert told["rows"] == 150
    assert told["dropped"] == ["id"]
    secret = Key.load(told["key"])._secret.hex()
    assert secret not in done.stdout + done.stderr


def test_a_policy_says_it_all_and_flags_override_it(data: Path) -> None:
    policy = data.parent / "policy.toml"
    policy.write_text(
        '[columns]\nidentifier = ["id"]\nkeep = ["town"]\n[column.age]\nbounds = [18, 110]\n'
        '[column.wage]\ndecimals = 0\n[method]\nname = "adp"\nscale = 2.0\n'
    )
    assert release(data, "--policy", str(policy)).returncode == 0
    out = read(data.parent / "out.csv")
    assert out["age"].min() == 18, "noise of two standard deviations meets the bound"
    assert out["wage"].dtype == pl.Int64
    told = json.loads(release(data, "--policy", str(policy), "--id", "town", "--json", out="b.csv").stdout)
    assert told["kept"] == []
    assert told["dropped"] == ["id", "town"]


def test_an_existing_file_is_not_replaced_without_force(data: Path) -> None:
    (data.parent / "out.csv").write_text("mine")
    done = release(data)
    assert done.returncode == 3
    assert "exists already" in done.stderr
    assert (data.parent / "out.csv").read_text() == "mine"
    assert release(data, "-m", "adp", "--force").returncode == 0


def test_help_is_light(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['sfumato', '--help']\n"
        "from sfumato.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "bad = {'sklearn', 'pandas', 'polars', 'numpy', 'scipy', 'rich'} & set(sys.modules)\n"
        "print('loaded', sorted(bad))"
    )
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert "loaded []" in done.stdout
    assert "release" in done.stdout
