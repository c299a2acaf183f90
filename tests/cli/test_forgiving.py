"""The command line forgives: it tells everything at once, tries without writing, guesses, and takes a policy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.cli.exit_codes import Exit
from tests.cli.typed import typed


def table(folder: Path) -> Path:
    """Write a table with something wrong in most columns."""
    lines = ["person,town,age,wage,score,empty,code"]
    for i in range(60):
        town = ("Dorfheim", "Seestadt")[i % 2]
        age = "NA" if i == 7 else str(20 + i % 40)
        wage = "Geheimlohn" if i == 9 else f"{1000 + i * 7 % 300}.5"
        score = "inf" if i == 11 else f"{i * 3 % 17}.25"
        lines.append(f"Anna{i},{town},{age},{wage},{score},,{90071992547409930 + i}")
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    return folder / "people.csv"


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file under a folder."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of one's own, with the keys in it."""
    monkeypatch.setenv("SFUMATO_KEYS", str(tmp_path / "keys"))
    return tmp_path


def test_all_problems_are_told_at_once_and_their_cure_can_be_pasted(home: Path) -> None:
    data, out = table(home), home / "out.csv"
    before = tree(home)
    done = typed("release", str(data), "-o", str(out), "-m", "adp", "--id", "persn", "--keep", "twn")
    assert done.returncode == Exit.DATA
    told = {line.split()[0]: line for line in done.stderr.splitlines() if line.startswith("  ") and "=" not in line}
    assert "did you mean 'person'?" in told["persn"]
    assert "did you mean 'town'?" in told["twn"]
    assert "text" in told["person"]
    assert "text" in told["town"]
    assert "1 cell(s) are no numbers, the first in row 8" in told["age"]
    assert "1 cell(s) are no numbers, the first in row 10" in told["wage"]
    assert "1 cell(s) are not finite, the first in row 12" in told["score"]
    assert "no value at all" in told["empty"]
    assert "2^53" in told["code"]
    for cell in ("Anna", "Dorfheim", "Geheimlohn", "900719925474099"):
        assert cell not in done.stderr
    assert "--id person --id town --id empty --id code" in done.stderr
    assert tree(home) == before

    pasted = [
        line.strip() for line in done.stderr.splitlines() if line.startswith(("  [", "  identifier", "  missing"))
    ]
    (home / "pasted.toml").write_text("\n".join(pasted) + "\n")
    data.write_text(data.read_text().replace("Geheimlohn", "1001.5"))
    done = typed("release", str(data), "-o", str(out), "-m", "adp", "--policy", str(home / "pasted.toml"))
    assert done.returncode == Exit.FINE, done.stderr
    assert pl.read_csv(out, infer_schema_length=None).columns == ["age", "wage", "score"]


def test_a_dry_run_shows_everything_and_leaves_nothing(home: Path) -> None:
    rows = "".join(f"P{i},{20 + i * 7 % 40},{i * 13 % 90}.5\n" for i in range(80))
    (home / "in.csv").write_text("person,age,wage\n" + rows)
    (home / "strict.toml").write_text(
        '[columns]\nidentifier = ["person"]\n[method]\nname = "rdp"\n[audit]\nmin_grade = "A"\n'
    )
    before = tree(home)
    data, out = str(home / "in.csv"), str(home / "out.csv")
    done = typed("release", data, "-o", out, "--id", "person", "-m", "adp", "--dry-run", "--key", str(home / "new.key"))
    assert done.returncode == Exit.FINE, done.stderr
    assert "nothing was written" in done.stdout
    shown = [line.split() for line in done.stdout.splitlines()]
    assert ["person", "dropped"] in [line[:2] for line in shown]
    assert ["wage", "perturbed"] in [line[:2] for line in shown]
    assert tree(home) == before
    assert not (home / "keys").exists()
    refused = typed("release", data, "-o", out, "--policy", str(home / "strict.toml"), "--dry-run")
    assert refused.returncode == Exit.LIMIT, "the limits of the policy are checked, too"
    assert tree(home) == before
    tried = sf.release(data, out, identifier=["person"], method="adp", dry_run=True)
    assert (tried.n_rows, tried.key_path, tried.receipt_path) == (80, None, None)
    assert tree(home) == before


def test_guesses_are_shown_confirmed_once_and_kept_as_a_policy(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = ("cook", "clerk", "nurse")
    rows = "".join(f"P{i},{20 + i * 7 % 40},{i * 13 % 90}.5,{jobs[i % 3]},A{i % 5}\n" for i in range(90))
    (home / "in.csv").write_text("person,age,wage,job,branch\n" + rows)
    command = ["release", str(home / "in.csv"), "-o", str(home / "out.csv"), "--guess", "--id", "branch"]
    for answer, code in (("", Exit.USAGE), ("n\n", Exit.USAGE)):
        (home / "answer").write_text(answer)
        with (home / "answer").open() as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            refused = typed(*command)
        assert refused.returncode == code
        assert "person" in refused.stdout
        assert not (home / "in.policy.toml").exists()
    done = typed(*command, "--yes", "--key", str(home / "my.key"))
    assert done.returncode == Exit.FINE, done.stderr
    assert typed("policy", "check", str(home / "in.policy.toml"), "--data", str(home / "in.csv")).returncode == 0
    assert pl.read_csv(home / "out.csv").columns == ["age", "wage", "job"]
    again = ["--policy", str(home / "in.policy.toml"), "--key", str(home / "my.key")]
    assert typed("release", str(home / "in.csv"), "-o", str(home / "again.csv"), *again).returncode == 0
    assert (home / "again.csv").read_bytes() == (home / "out.csv").read_bytes()
    assert typed(*command, "--yes").returncode == Exit.DATA, "neither policy nor release is replaced without --force"


def test_compare_and_tune_take_a_policy_and_pass_its_limits_on(home: Path) -> None:
    rows = "".join(
        f"P{i},{'NA' if i == 5 else 20 + i % 7 + 30 * (i % 2)},{i * 13 % 9 + 80 * (i % 2)}.5\n" for i in range(120)
    )
    (home / "in.csv").write_text("person,age,wage\n" + rows)
    policy = home / "policy.toml"
    policy.write_text(
        '[columns]\nidentifier = ["person"]\nmissing_values = ["NA"]\n[column.wage]\nbounds = [0, 200]\n'
        '[method]\nname = "adp"\nscale = 0.02\n[audit]\nmax_misclassification = 0.2\nmin_grade = "F"\n'
    )
    few = ["--clusters", "2", "--policy", str(policy)]
    found = json.loads(typed("compare", str(home / "in.csv"), "-m", "tdp", *few, "--json").stdout)
    assert found["columns"] == ["age", "wage"]
    assert found["tried"][0]["label"] == "adp (policy)"
    assert {one["source"] for one in found["tried"]} == {"policy", "default", "paper"}
    assert "scale = 0.02" in found["tried"][0]["settings"]
    assert any("limits of the policy" in note and "adp (policy)" in note for note in found["notes"])
    made = home / "made.toml"
    tuned = typed("tune", str(home / "in.csv"), "-m", "adp", "--candidates", "2", *few, "-o", str(made))
    assert tuned.returncode == Exit.FINE, tuned.stderr
    read = sf.Policy.model_validate(tomllib.loads(made.read_text()))
    assert read.audit is not None
    assert read.audit.min_grade == "F", "as asked, however good the winner is"
    assert read.columns.missing_values == ["NA"]
    assert read.column["wage"].bounds == [0, 200]


def test_output_that_nobody_reads_is_no_limit_that_is_missed() -> None:
    env = {**os.environ, "PYTHONPATH": str(Path(sf.__file__).parents[1])}
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-u", "-m", "sfumato", "methods"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, env=env, check=False)
    os.close(writing)
    assert done.returncode == Exit.PIPE
    assert done.stderr == b""
