"""`sfumato audit` as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from sfumato.cli import sfumato
from tests.auditing.quick import two_clusters
from tests.cli.test_first_commands import run
from tests.cli.typed import typed


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"name": ["p"] * 200, "a": rng.normal(size=200).round(3), "b": rng.normal(size=200).round(3)})
    turned = table.with_columns(a=0.6 * pl.col("a") + 0.8 * pl.col("b"), b=-0.8 * pl.col("a") + 0.6 * pl.col("b"))
    table.write_csv(tmp_path / "original.csv")
    turned.drop("name").write_csv(tmp_path / "released.csv")
    return str(tmp_path / "original.csv"), str(tmp_path / "released.csv")


def test_a_rotated_file_gets_an_f_and_a_report(files: tuple[str, str], tmp_path: Path) -> None:
    done = run("audit", *files, "--report", str(tmp_path / "r.html"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Grade F: Someone who knows 4 of the 200 people recovers every value")
    assert "100%" in done.stderr, "progress goes to stderr"
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")


@pytest.mark.usefixtures("few_clusters")
def test_json_is_one_object_on_stdout(files: tuple[str, str]) -> None:
    done = typed("audit", *files, "--json", "--attack", "affine", "--known-rows", "9")
    data = json.loads(done.stdout)
    assert data["schema"] == "sfumato-audit-1"
    assert sorted(line["known"] for line in data["attacks"]) == [4, 9]


@pytest.mark.usefixtures("few_clusters")
def test_columns_are_chosen_and_left_out(files: tuple[str, str]) -> None:
    for options in (("--columns", "a"), ("--id", "b")):
        done = typed("audit", *files, "--json", "--attack", "affine", *options)
        assert json.loads(done.stdout)["columns"] == ["a"], done.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["missing.csv"], "no such file"),
        (["--attack", "afine"], "did you mean 'affine'?"),
    ],
)
def test_mistakes_are_one_line_with_a_hint_and_exit_3(files: tuple[str, str], change: list[str], message: str) -> None:
    arguments = [files[0], *change] if change[0].endswith("csv") else [*files, *change]
    done = typed("audit", *arguments)
    assert done.returncode == 3
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("few_clusters")
def test_files_with_other_rows_are_audited_without_knowing_who_is_who(files: tuple[str, str], tmp_path: Path) -> None:
    pl.read_csv(files[1]).head(50).write_csv(tmp_path / "short.csv")
    done = typed("audit", files[0], str(tmp_path / "short.csv"))
    assert done.returncode == 0, done.stderr
    assert "random rows of each were compared" in " ".join(done.stdout.split())


@pytest.mark.usefixtures("few_clusters")
def test_an_untrustworthy_audit_exits_4(files: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.attack.engine.interface import NothingFoundError
    from sfumato.attack.known.affine import Affine

    def blind(self, knowledge, deadline):
        raise NothingFoundError("this attack has gone blind")

    monkeypatch.setattr(Affine, "run", blind)
    done = CliRunner().invoke(sfumato, ["audit", *files, "--attack", "nearest"])
    assert done.exit_code == 4
    assert "CANNOT BE TRUSTED" in done.output


def test_membership_needs_the_method_and_stands_in_the_output(files: tuple[str, str]) -> None:
    asked = ["audit", *files, "--attack", "nearest", "--membership"]
    refused = CliRunner().invoke(sfumato, asked)
    assert refused.exit_code == 2
    assert "say which with --method" in refused.output
    with two_clusters(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.cli.audit._SHADOWS", 8)
        done = CliRunner().invoke(sfumato, [*asked, "--method", "rdp"])
    assert done.exit_code == 0, done.output
    assert "Who is in the table is told" in done.output


@pytest.mark.usefixtures("few_clusters")
def test_a_category_that_stays_is_told_unless_it_is_named(tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    town = draw.choice(["Ulm", "Bonn", "Kiel"], 300)
    for name in ("original.csv", "released.csv"):
        pl.DataFrame({"town": town, "age": draw.normal(size=300), "size": draw.normal(size=300)}).write_csv(
            tmp_path / name
        )
    asked = ["audit", str(tmp_path / "original.csv"), str(tmp_path / "released.csv"), "--attack", "nearest"]
    told, named, wrong = (
        CliRunner().invoke(sfumato, [*asked, *more]) for more in ([], ["--keep", "town"], ["--keep", "twon"])
    )
    sentence = "town stands as it is in every row"
    assert sentence in " ".join(told.output.split())
    assert named.exit_code == 0, named.output
    assert sentence not in " ".join(named.output.split())
    assert wrong.exit_code != 0
    assert "town" in wrong.output + str(wrong.exception)
