"""The commands as a person types them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato import Key
from sfumato.perturb import methods
from tests.cli.typed import typed
from tests.values import FEW, exchanged


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ,
        "PYTHONPATH": str(Path(sf.__file__).parents[1]),
    }  # the code that is tested here, and nothing else
    command = [sys.executable, "-m", "sfumato", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=env)


def test_help_lists_the_commands() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert "demo" in done.stdout
    assert "methods" in done.stdout


def test_methods_lists_and_describes_every_method() -> None:
    listed = run("methods").stdout
    data = json.loads(typed("methods", "--json").stdout)
    assert data["schema"] == "sfumato-methods-1"
    for row, entry in zip(methods(), data["methods"], strict=True):
        assert row.id in listed
        assert entry["id"] == row.id
    page = typed("methods", "rdp").stdout
    assert "angles" in page
    assert "d + 1 records (affine)" in page


def test_mistakes_end_in_one_line_and_a_hint() -> None:
    done = run("methods", "cahotic")
    assert done.returncode == 3
    assert done.stderr.startswith("sfumato: error: no method 'cahotic'")
    assert "hint: did you mean 'chaotic'?" in done.stderr
    assert "Traceback" not in done.stderr
    assert typed("metods").returncode == 2
    assert typed("methods", "--jsn").returncode == 2


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("demo")
    done = run("demo", "--output", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "out", done.stdout


def test_the_demo_says_where_its_results_are(demo: tuple[Path, str]) -> None:
    folder, text = demo
    released = pl.read_csv(folder / "released.csv")
    assert "released.csv" in text
    assert f"{len(released):,} rows" in text
    assert "customer_id" not in released.columns
    assert "grade " in text
    shown = [line for line in text.splitlines() if line.startswith(("before  ", "after   "))]
    assert len(shown) == 10
    original = pl.read_csv(folder / "customers.csv")
    assert all(str(original["income"][row]) in shown[2 * row] for row in range(5))
    assert not any(str(original["balance"][row]) in shown[2 * row + 1] for row in range(5))
    for name in ("job", "marital_status", "region", "account_code", "customer_since"):
        assert exchanged(original[name], released[name]), name
    assert (folder / "private" / "audit.html").is_file()
    for row in methods():
        assert row.name in text or not row.row_preserving or row.wraps or row.guarantee is not None


@pytest.mark.usefixtures("few_clusters")
def test_the_demo_release_repeats_and_hides(demo: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.datasets import CONFIDENTIAL

    folder, _ = demo
    before = (folder / "released.csv").read_bytes()
    key_file = folder / "private" / "demo.key"
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert stat.S_IMODE((folder / "private").stat().st_mode) == 0o700
    key = Key.load(key_file)
    assert key._secret.hex().encode() not in before
    monkeypatch.setattr("sfumato.cli.demo.tour", lambda _key, _tell: None)  # writes nothing, and has run before
    assert typed("demo", "--output", "out", cwd=folder.parent).returncode == 0, "a second time works too"
    assert (folder / "released.csv").read_bytes() == before
    original, released = pl.read_csv(folder / "customers.csv"), pl.read_csv(folder / "released.csv")
    assert original.height == released.height == 3000
    gaps = [one.null_count().sum_horizontal().sum() for one in (original, released)]
    assert gaps[1] == pytest.approx(gaps[0], rel=FEW)
    rows = {tuple(row) for row in original.select(CONFIDENTIAL).drop_nulls().rows()}
    assert not rows & set(released.select(CONFIDENTIAL).drop_nulls().rows())
    assert abs(original["age"].mean() - released["age"].mean()) < 1.0


def test_the_demo_table_comes_whole_or_as_numbers(tmp_path: Path) -> None:
    from sfumato.datasets import demo_table, write_demo

    whole = pl.read_csv(write_demo(tmp_path / "whole.csv"))
    numbers = pl.read_csv(write_demo(tmp_path / "numbers.csv", mixed=False))
    assert numbers.equals(whole.select(numbers.columns))
    assert numbers.drop("customer_id").drop_nulls().equals(demo_table())
    assert whole.drop("customer_id").equals(demo_table(mixed=True))
    assert whole.group_by("branch").agg(pl.col("region").n_unique())["region"].to_list() == [1] * 5
    done = typed("demo", "--numbers", "--table", "table.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "table.csv").read_bytes() == (tmp_path / "numbers.csv").read_bytes()


def test_hints_speak_python_in_the_library_and_options_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("name,age\n" + "".join(f"n{i},{20 + i}\n" for i in range(30)))
    with pytest.raises(sf.SfumatoError, match=r"identifier=\['name'\].*keep=\['name'\]"):
        sf.release(tmp_path / "in.csv", tmp_path / "out.csv", key=tmp_path / "k")
    done = typed("release", str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.csv"))
    assert done.returncode == 3
    assert "--id name" in done.stderr
    assert "--keep name" in done.stderr
    assert "=[" not in done.stderr
