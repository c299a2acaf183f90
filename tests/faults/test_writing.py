"""What is written: under names that are complete, for whom it is meant, and by one at a time."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.core.parts import sweep_parts, under_way
from sfumato.exceptions import KeyFileError
from sfumato.pipeline.keys import ReleaseKey
from tests.pipeline.tables import people, read, write

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")


@pytest.mark.parametrize("call", ["finish", "put_new"])
def test_a_key_stands_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    seen = []

    def fails(*_: Any, **__: Any) -> None:
        seen.append((tmp_path / "my.key").exists())
        raise KeyboardInterrupt

    monkeypatch.setattr(f"sfumato.core.keys.{call}", fails)
    with pytest.raises(KeyboardInterrupt):
        sf.Key.generate().save(tmp_path / "my.key")
    assert seen == [False], "nothing has the name of a key before it is one"
    assert list(tmp_path.iterdir()) == []


def test_files_under_way_are_swept_when_nobody_holds_them(tmp_path: Path) -> None:
    (tmp_path / ".my.key.abcdefgh.sfumato-part").write_text("half a key")  # as after kill -9
    (tmp_path / ".download.part").write_text("of another program")
    with under_way(tmp_path / "report.html") as (_, held):
        assert sweep_parts(tmp_path) == 0, "entering has swept, and one that is being written stays"
        assert held.exists()
    assert [path.name for path in tmp_path.iterdir()] == [".download.part"]


def test_the_key_of_another_release_is_not_forgotten(tmp_path: Path) -> None:
    theirs, mine = sf.Key.generate(), ReleaseKey(sf.Key.generate(), tmp_path / "k", new=True, folder=tmp_path)
    theirs.save(tmp_path / "k")
    with pytest.raises(KeyFileError, match="never overwritten"):
        mine.save()
    mine.forget()
    assert sf.Key.load(tmp_path / "k") == theirs


@pytest.mark.parametrize("keys", ["one key file", "two key files"])
def test_of_two_releases_to_one_target_the_second_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: str
) -> None:
    tables = [write(people(300, seed=seed), tmp_path / f"in{seed}.csv") for seed in (1, 2)]
    target, both, save = tmp_path / "out.csv", threading.Barrier(2), sf.Key.save
    outcomes: list[Any] = []

    def saved(key: sf.Key, path: Path) -> None:
        """Save a key when the other one is being saved, too: between the last look at the target and its name."""
        with contextlib.suppress(threading.BrokenBarrierError):  # nobody else gets as far as this
            both.wait(timeout=2)
        save(key, path)

    monkeypatch.setattr(sf.Key, "save", saved)

    def release(path: Path) -> None:
        try:
            key = None if keys == "one key file" else path.with_suffix(".key")
            outcomes.append(
                sf.release(path, target, method="ina", identifier=["id"], keep=["town"], key=key, threads=1)
            )
        except sf.SfumatoError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=release, args=[path]) for path in tables]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made = [one for one in outcomes if isinstance(one, sf.Receipt)]
    refused = [one for one in outcomes if isinstance(one, sf.SfumatoError)]
    assert len(made) == len(refused) == 1, outcomes
    assert "exists already" in str(refused[0])
    key = sf.Key.load(made[0].key_path)
    assert key.fingerprint == made[0].key_fingerprint, "the first one's key is still there"
    assert made[0].receipt_path.exists()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_originals_that_come_back_are_for_their_owner(tmp_path: Path, kind: str) -> None:
    before = os.umask(0o000)
    try:
        data, out = write(people(120), tmp_path / f"in.{kind}"), tmp_path / f"out.{kind}"
        sf.release(data, out, method="rdp", identifier=["id"], keep=["town"], key=tmp_path / "k", shuffle=False)
        sf.restore(out, tmp_path / f"back.{kind}", tmp_path / "k")
        write(read(out).with_columns(label=pl.lit(1)), tmp_path / "labels.csv")
        sf.join(tmp_path / "labels.csv", data, tmp_path / f"joined.{kind}", tmp_path / "k")
    finally:
        os.umask(before)
    assert {(tmp_path / f"{name}.{kind}").stat().st_mode & 0o777 for name in ("back", "joined")} == {0o600}
