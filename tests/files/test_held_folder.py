"""A folder that is held is never swept, not even in the moment between its making and its lock."""

from __future__ import annotations

import fcntl
import os
import secrets
import threading
from pathlib import Path

import pytest

from sfumato.files.storage import workspace
from sfumato.files.storage.workspace import hold_new, let_go, sweep


def test_a_folder_without_a_holder_is_swept_and_a_held_one_is_not(tmp_path: Path) -> None:
    held, lock = hold_new(lambda: tmp_path / "held")
    (held / "part").write_text("half")
    killed, gone = hold_new(lambda: tmp_path / "killed")
    (killed / "part").write_text("half")
    os.close(gone)
    (tmp_path / "never-locked").mkdir()
    (tmp_path / "a-file").write_text("of the user")
    (tmp_path / "a-link").symlink_to(killed)

    assert sweep(tmp_path.iterdir()) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a-file", "a-link", "held"]
    assert held.stat().st_mode & 0o777 == 0o700
    let_go(held, lock)
    assert not held.exists()


@pytest.mark.parametrize("moment", ["before the lock stands", "before the lock is held"])
def test_a_folder_swept_while_it_is_made_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    names = iter(["first", "second"])
    swept: list[int] = []

    def sweep_once() -> None:
        if not swept:
            swept.append(0)
            swept.append(sweep([tmp_path / "first"]))

    def open_later(path: Path, *rest: int) -> int:
        if moment == "before the lock stands":
            sweep_once()
        return os.open(path, *rest)

    def lock_later(lock: int, how: int) -> None:
        if moment == "before the lock is held":
            sweep_once()
        flock(lock, how)

    flock = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", lock_later)
    monkeypatch.setattr(workspace, "os", _OsWith(open_later))
    folder, lock = hold_new(lambda: tmp_path / next(names))
    assert swept == [0, 1]
    assert folder.name == "second"
    assert folder.is_dir()
    let_go(folder, lock)


def test_a_folder_locked_anew_while_it_is_swept_stays_with_its_holder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "just-made"
    folder.mkdir()
    locks: list[int] = []
    unlink = Path.unlink

    def then_held(path: Path, missing_ok: bool = False) -> None:
        unlink(path, missing_ok=missing_ok)
        if path.name == "lock" and not locks:  # its maker comes just then, and writes
            lock = workspace._held(folder)
            assert lock is not None
            locks.append(lock)
            (folder / "part").write_text("half")

    monkeypatch.setattr(Path, "unlink", then_held)
    sweep([folder])
    assert len(locks) == 1
    assert (folder / "part").read_text() == "half"
    let_go(folder, locks[0])
    assert not folder.exists()


class _OsWith:
    """The operating system with another way to open files."""

    def __init__(self, opening: object) -> None:
        self.open = opening

    def __getattr__(self, name: str) -> object:
        return getattr(os, name)


def test_makers_and_sweepers_side_by_side(tmp_path: Path) -> None:
    lost: list[Path] = []

    def one() -> None:
        for _ in range(200):
            sweep(tmp_path.iterdir())
            folder, lock = hold_new(lambda: tmp_path / secrets.token_hex(6))
            (folder / "part").write_text("half")
            if not (folder / "part").exists():
                lost.append(folder)
            let_go(folder, lock)

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lost == []
    assert list(tmp_path.iterdir()) == []
