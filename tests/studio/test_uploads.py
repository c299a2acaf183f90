"""Uploads that go wrong, on purpose or not: each gets one clear message, and leaves nothing behind."""

from __future__ import annotations

import gzip
import os
import signal
import socket
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sfumato.exceptions import DataError
from sfumato.studio.folder import Folder
from sfumato.studio.uploads import RefusedUploadError, label_of
from tests.studio.quiet import HARD_LIMIT
from tests.studio.running import RunningStudio

TABLE = b"id,a,b\n" + b"".join(f"p{i},{i % 7},{i * i % 31}\n".encode() for i in range(60))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStudio]:
    """Return a studio that takes 1 MB and waits two seconds."""
    studio = RunningStudio(tmp_path_factory.mktemp("small"), file_bytes=1_000_000, idle_seconds=2.0)
    studio.cookie = studio.enter()
    yield studio
    studio.stop()


def test_a_table_is_taken_and_described_without_its_values(shared: RunningStudio) -> None:
    answer = shared.upload("people.csv", TABLE, shared.cookie)
    assert answer.status == 200, answer.text
    assert answer.data["rows"] == 60
    assert [column["role"] for column in answer.data["columns"]] == ["identifier", "confidential", "confidential"]
    assert '"p17"' not in answer.text
    for folder in shared.folders:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in shared.files()] == [0o600]
    assert "people" not in shared.files()[0].name


@pytest.mark.parametrize(
    "name", ["../../../etc/cron.d/evil.csv", "..\\..\\evil.csv", "/etc/passwd.csv", "a\0b.csv", "\u202egpj.csv"]
)
def test_the_name_of_a_file_is_a_label_and_never_a_path(shared: RunningStudio, name: str) -> None:
    from urllib.parse import quote

    answer = shared.upload(quote(name), TABLE, shared.cookie)
    assert answer.status == 200
    assert not set(answer.data["label"]) & set("/\\\0\u202e")
    for path in shared.files():
        assert path.parent.parent == shared.home / "sfumato" / "studio"


@pytest.mark.parametrize("name", ["", ".csv", "table.xlsx", "archive.zip", "x.csv.bz2", "noending"])
def test_other_kinds_of_files_are_refused_before_they_are_sent(shared: RunningStudio, name: str) -> None:
    before = shared.files()
    answer = shared.upload(name, TABLE, shared.cookie)
    assert answer.status == 415
    assert "choose a file that ends in" in answer.data["hint"]
    assert shared.files() == before


def test_a_file_that_is_too_large_is_refused_before_it_is_sent(small: RunningStudio) -> None:
    answer = small.upload("big.csv", b"", small.cookie, **{"Content-Length": "5000000000"})
    assert answer.status == 413
    assert answer.data["error"] == "the file is larger than 1 MB, the most that can be uploaded"
    assert "sfumato studio FILE" in answer.data["hint"]
    assert small.files() == []


def test_a_file_that_does_not_say_its_size_is_counted(small: RunningStudio) -> None:
    with _open(small, "Transfer-Encoding: chunked") as connection:
        chunk = b"a,b\n" * 25_000
        try:
            for _ in range(30):
                connection.sendall(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        except OSError:
            pass  # it may hang up before all is sent
        assert b" 413 " in connection.recv(4096)
    assert small.files() == []


def test_a_slow_upload_is_given_up(small: RunningStudio) -> None:
    with _open(small, "Content-Length: 1000") as connection:
        connection.sendall(b"a,b\n1,2\n")
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert b" 408 " in answer
    assert b"silent for 2 seconds" in answer
    assert small.files() == []


def test_an_upload_that_breaks_off_leaves_nothing_and_the_next_one_works(small: RunningStudio) -> None:
    with _open(small, "Content-Length: 1000") as connection:
        connection.sendall(b"a,b\n1,2\n")
    answer = small.upload("people.csv", TABLE, small.cookie)
    while answer.status == 409:  # it notices the broken one within its two seconds
        answer = small.upload("people.csv", TABLE, small.cookie)
    assert answer.status == 200
    assert len(small.files()) == 1


def test_two_uploads_at_once_do_not_mix(small: RunningStudio) -> None:
    with _open(small, f"Content-Length: {len(TABLE)}") as connection:
        connection.sendall(TABLE[:10])
        answer = small.upload("second.csv", TABLE, small.cookie)
        assert answer.status == 409
        assert answer.data["error"] == "another file is being loaded"
        connection.sendall(TABLE[10:])
        assert b" 200 " in connection.recv(4096)


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_bomb_is_defused(shared: RunningStudio, rounds: int) -> None:
    bomb = gzip.compress(b"\0" * 200_000_000, 9) if rounds == 1 else _members(300)
    before = shared.files()
    answer = shared.upload("bomb.csv.gz", bomb, shared.cookie)
    assert answer.status == 413
    assert "unpacks to more than 200 times its size" in answer.data["error"]
    assert shared.files() == before


def _members(count: int) -> bytes:
    return gzip.compress(b"\0" * 1_000_000, 9) * count


def test_an_honest_gzip_file_is_unpacked(shared: RunningStudio) -> None:
    two = gzip.compress(TABLE) + gzip.compress(b"p99,5,6\n")
    answer = shared.upload("people.csv.gz", two, shared.cookie)
    assert answer.status == 200
    assert answer.data["rows"] == 61
    raw = zlib.compress(TABLE)
    assert shared.upload("people.csv.gz", raw, shared.cookie).data["error"].endswith("not gzip")


def test_nothing_is_left_when_it_ends_and_a_killed_studio_is_swept(start: Callable[..., RunningStudio]) -> None:
    first = start()
    cookie = first.enter()
    assert first.upload("people.csv", TABLE, cookie).status == 200
    first.stop(signal.SIGKILL)
    assert len(first.files()) == 1, "a killed studio cannot sweep"
    second = start()
    assert second.enter()
    assert second.files() == []
    assert len(second.folders) == 1
    third = start()
    assert len(third.folders) == 2, "a studio that lives is left alone"
    for studio in (second, third):
        studio.stop(signal.SIGTERM)
    assert third.folders == []


def test_a_folder_that_others_may_enter_is_closed_to_them(tmp_path: Path) -> None:
    home = tmp_path / "studio"
    home.mkdir(mode=0o777)
    folder = Folder(home)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    folder.close()
    assert list(home.iterdir()) == []
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(DataError, match="cannot be used for the studio's files"):
        Folder(file)


def test_folders_do_not_disturb_one_another(tmp_path: Path) -> None:
    folders = [Folder(tmp_path) for _ in range(3)]
    outside = tmp_path / "link"
    outside.symlink_to(os.sep)
    assert len({folder.path for folder in folders}) == 3
    folders[0].close()
    Folder(tmp_path).close()
    assert [folder.path.exists() for folder in folders] == [False, True, True]
    assert outside.is_symlink()


def test_labels() -> None:
    assert label_of("My table.PARQUET") == ("My table.PARQUET", ".parquet")
    assert len(label_of("x" * 500 + ".csv")[0]) == 120
    with pytest.raises(RefusedUploadError):
        label_of("table.csv.exe")


def _open(studio: RunningStudio, *headers: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", studio.port), timeout=HARD_LIMIT)
    lines = [
        "POST /api/upload HTTP/1.1",
        f"Host: 127.0.0.1:{studio.port}",
        f"Origin: {studio.origin}",
        f"Cookie: {studio.cookie}",
        f"X-Sfumato-Page: {studio.secret}",
        "X-File-Name: slow.csv",
        *headers,
    ]
    connection.sendall("\r\n".join([*lines, "", ""]).encode())
    return connection
