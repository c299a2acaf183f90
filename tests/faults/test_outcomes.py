"""Every error of the operating system or of a library ends in a sentence and an exit code of its own."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.cli.outcome import outcome_of
from sfumato.files.opening import open_source
from tests.cli.typed import typed
from tests.pipeline.tables import people, write

SECRET = "Ottilie von Hohenstein"


@given(number=st.sampled_from(sorted(errno.errorcode)), name=st.sampled_from([None, "out.csv"]))
def test_every_number_of_the_system_has_a_sentence(number: int, name: str | None) -> None:
    said, code = outcome_of(OSError(number, os.strerror(number), *([] if name is None else [name])))
    assert code in {3, 71}
    assert said.startswith("sfumato: ")
    assert "hint: " in said
    assert ": bug:" not in said  # names of files may say anything


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (pl.exceptions.PanicException(SECRET), 70),
        (BaseException(SECRET), 70),
        (GeneratorExit(SECRET), 70),
        (SystemError(SECRET), 70),
        (RecursionError(SECRET), 70),
        (RuntimeError("can't start new thread"), 71),
        (MemoryError(SECRET), 71),
        (ValueError("Unknown OpenSSL error: malloc failure"), 71),
        (RuntimeError("can't allocate read lock"), 71),
        (pl.exceptions.PanicException("PyObject pointer is null"), 71),
        (pl.exceptions.PanicException("an `Err` value: PyErr { type: <class 'MemoryError'>, value: x }"), 71),
        (SystemError(f"<function {SECRET}> returned NULL without setting an exception"), 71),
        (TypeError("stat: path should be string, bytes, os.PathLike or integer, not PosixPath"), 71),
        (SyntaxError("invalid syntax"), 71),
        (TypeError("stat: path should be string, bytes, os.PathLike or integer, not float"), 70),
        (KeyboardInterrupt(), 130),
        (sf.exceptions.ReleaseCancelledError("x"), 130),
        (sf.exceptions.PolicyLimitError("x"), 1),
        (sf.exceptions.DataError("x"), 3),
    ],
)
def test_every_other_error_has_a_code_and_quotes_nothing(error: BaseException, code: int) -> None:
    said, found = outcome_of(error)
    assert found == code
    assert SECRET not in said


def test_what_a_library_makes_of_missing_memory_is_missing_memory() -> None:
    made = ValueError(SECRET)
    made.__context__ = MemoryError()
    assert outcome_of(made)[1] == 71
    assert outcome_of(ValueError(SECRET))[1] == 70


@pytest.mark.parametrize("step", ["on_ending", "quiet_libraries", "_run"])
def test_an_error_before_and_around_a_command_is_said_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, step: str
) -> None:
    def fails(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(f"sfumato.cli.{step}", fails)
    done = typed("methods", cwd=tmp_path)
    assert (done.returncode, done.stderr[:42]) == (71, "sfumato: error: not enough memory, threads")


@pytest.mark.parametrize(
    ("missing", "code", "said"),
    [("raise MemoryError", 71, "MemoryError"), ("raise KeyboardInterrupt", 130, "interrupted"), ("", 70, "click")],
)
def test_a_command_line_that_cannot_be_loaded_says_so(tmp_path: Path, missing: str, code: int, said: str) -> None:
    (tmp_path / "click.py").write_text(missing or "raise ImportError('no click')")
    done = subprocess.run(
        [sys.executable, "-m", "sfumato", "methods"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert done.stderr.startswith("sfumato: ")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("error", [pl.exceptions.PanicException(SECRET), OSError(errno.EROFS, "Read-only", "x")])
def test_a_command_that_meets_one_says_it_in_two_lines(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: BaseException
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("sfumato.cli.methods.methods.callback", fails)
    done = typed("methods", cwd=tmp_path)
    assert done.returncode == (3 if isinstance(error, OSError) else 70)
    assert len(done.stderr.splitlines()) <= 2
    assert SECRET not in done.stderr


@pytest.mark.parametrize("room", [200, 5_000, 20_000, 60_000])
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow", "xlsx"])
def test_a_full_disk_says_so_and_leaves_nothing(tmp_path: Path, ending: str, room: int) -> None:
    data = write(people(4000), tmp_path / "in.csv")
    command = [sys.executable, "-m", "sfumato", "release", str(data), "-o", f"out.{ending}", "--id", "id"]
    done = subprocess.run(
        [*command, "--keep", "town", "--key", "my.key", "-m", "adp"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )
    if done.returncode == 0:  # a packed file may be as small as that
        assert (tmp_path / f"out.{ending}").stat().st_size <= room
        return
    assert done.returncode == 3, done.stderr
    assert "File too large" in done.stderr
    assert "free some space" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize("megabytes", [500, 800, 1600, 2500])
def test_too_little_address_space_is_refused_with_what_is_needed(tmp_path: Path, megabytes: int) -> None:
    limit = megabytes << 20
    done = subprocess.run(
        [sys.executable, "-m", "sfumato", "release", "in.csv", "-o", "out.csv"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert done.returncode == 71, done.stderr
    assert "may address" in done.stderr
    assert "ulimit -v" in done.stderr


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@given(place=st.floats(0, 1, exclude_max=True), bits=st.integers(1, 255), cut=st.booleans())
def test_damaged_bytes_are_refused_or_read_and_never_panic(
    tmp_path_factory: pytest.TempPathFactory, kind: str, place: float, bits: int, cut: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / f"damaged.{kind}"
    raw = bytearray(_whole(kind))
    at = int(place * len(raw))
    raw[at] ^= bits
    path.write_bytes(raw[:at] if cut else raw)
    said = ""
    try:
        for batch in open_source(path).batches():
            batch.frame.to_dict()
    except sf.SfumatoError as error:
        said = str(error)
    assert SECRET not in said


def _whole(kind: str) -> bytes:
    import io

    file = io.BytesIO()
    table = people(40, missing=True).with_columns(name=pl.lit(SECRET))
    (table.write_parquet if kind == "parquet" else table.write_ipc)(file)
    return file.getvalue()


def test_what_a_library_prints_before_it_panics_is_not_shown(tmp_path: Path) -> None:
    script = (
        "import os, sys, sfumato.cli.methods as m, sfumato.cli as c\n"
        f"def fails(*_, **__):\n    os.write(2, b'{SECRET}'); print('of Python', file=sys.stderr)\n"
        "m.methods.callback = fails\nsys.argv = ['sfumato', 'methods']\n"
        "c.main()\nos.write(2, b' and after')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert SECRET not in done.stderr
    assert done.stderr == "of Python\n and after"


def test_a_command_without_a_terminal_for_errors_works(tmp_path: Path) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m sfumato methods 2>&-"], capture_output=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0
    assert done.stdout
