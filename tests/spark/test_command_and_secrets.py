"""`sfumato release --engine spark`, what comes after it, and what no record of Spark may hold."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import sfumato as sf
from sfumato.cli import sfumato
from sfumato.core import keys, sealed
from sfumato.exceptions import DataError
from sfumato.spark.files import spark_engine
from tests.spark.tables import KEY, ROLES, digest, local_release

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")


def command(*words: str | Path) -> str:
    done = CliRunner().invoke(sfumato, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.usefixtures("spark")
def test_the_command_releases_restores_and_replaces_a_folder(people: Path, tmp_path: Path) -> None:
    key, out, here = tmp_path / "my.key", tmp_path / "out.parquet", tmp_path / "here.parquet"
    options = ("-m", "tdp", "--id", "id", "--keep", "town", "--key", key)
    said = command("release", people, "-o", out, *options, "--engine", "spark")
    assert "released 900 rows" in said
    assert {file.suffix for file in out.iterdir()} == {".parquet"}  # no checksums, no marks
    command("release", people, "-o", here, *options)
    assert digest(out) == digest(here)
    command("restore", out, "-o", tmp_path / "back.parquet", "--key", key)
    wages = pl.read_parquet(people / "*.parquet")["wage"]
    assert pl.read_parquet(tmp_path / "back.parquet")["wage"].round(2).to_list() == wages.to_list()
    command("release", people, "-o", out, *options, "--engine", "spark", "--force")
    assert digest(out) == digest(here)
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


@pytest.mark.usefixtures("spark")
def test_the_command_of_the_docs_runs_as_typed(people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "spark.md").read_text(encoding="utf-8")
    typed = page.partition("```bash\n")[2].partition("\n```")[0]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people").symlink_to(people)
    assert "released 900 rows" in command(*shlex.split(typed)[1:])


@pytest.mark.usefixtures("spark")
def test_errors_of_executors_are_one_line_without_a_cell(people: Path, tmp_path: Path) -> None:
    bad = pl.read_parquet(people / "*.parquet").with_columns(score=pl.col("score") * 1.0)
    bad[617, "score"] = float("inf")
    bad.write_parquet(tmp_path / "bad.parquet")
    with pytest.raises(DataError, match=r"column 'score', row 618: not a finite number") as caught:
        sf.release(tmp_path / "bad.parquet", tmp_path / "out.parquet", key=KEY, engine=spark_engine, **ROLES)
    assert caught.value.__cause__ is None
    assert not (tmp_path / "out.parquet").exists()
    bad.write_csv(tmp_path / "bad.csv")
    with pytest.raises(DataError, match="reads Parquet"):
        sf.release(tmp_path / "bad.csv", tmp_path / "out.parquet", key=KEY, engine=spark_engine, **ROLES)
    with pytest.raises(DataError, match=r"ends in \.parquet"):
        sf.release(people, tmp_path / "out.csv", key=KEY, engine=spark_engine, **ROLES)
    bad.with_columns(age=pl.col("age").cast(pl.UInt64)).drop("score").write_parquet(tmp_path / "unsigned.parquet")
    with pytest.raises(DataError, match="UInt64, which Spark does not keep"):
        sf.release(tmp_path / "unsigned.parquet", tmp_path / "out.parquet", key=KEY, engine=spark_engine, **ROLES)


def test_no_record_of_spark_holds_the_key_or_a_subkey(
    spark: Any, records: Path, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets: set[bytes] = {KEY._secret}

    def overheard(function: Callable[..., Any], told: Callable[..., list[bytes]]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            out = function(*args, **kwargs)
            secrets.update(told(out, *args))
            return out

        return wrapped

    # every subkey that this process derives, and everything that it seals for the executors
    monkeypatch.setattr(keys, "derive", overheard(keys.derive, lambda out, *_: [out]))
    monkeypatch.setattr("sfumato.spark.engine.seal", overheard(sealed.seal, lambda _, subkey, *__: [subkey]))
    monkeypatch.setattr("sfumato.core.stream.derive", keys.derive)
    expected = digest(local_release(people, tmp_path, method="ina"))
    released = sf.spark.release(spark.read.parquet(str(people)), key=KEY, method="ina", **ROLES)
    target = tmp_path / "out"
    released.write.parquet(str(target))
    assert digest(target) == expected
    assert len(secrets) > 8
    plan = released._jdf.queryExecution().toString().encode()
    everything = [plan, *(file.read_bytes() for file in records.rglob("*") if file.is_file())]
    everything += [file.read_bytes() for file in target.rglob("*") if file.is_file()]
    joined = b"\0".join(everything)
    assert b"SparkListenerJobStart" in joined  # the events were written
    assert b"MapInArrow" in plan
    assert b"TaskSetManager" in joined  # and the log
    for secret in secrets:
        for form in (secret, secret.hex().encode(), base64.b64encode(secret), base64.urlsafe_b64encode(secret)):
            assert form.rstrip(b"=") not in joined
