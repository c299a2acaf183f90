"""Keys: secret, repeatable, on disk for their owner only."""

from __future__ import annotations

import copy
import os
import pickle
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import Key
from sfumato.core.keys import canonical_bytes, derive
from sfumato.exceptions import KeyFileError, ParameterError

pytestmark = pytest.mark.fresh_keys

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def normal_form(value: object) -> object:
    """What two values must share to mean the same."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value).__name__, value)
    if isinstance(value, int | float):
        return ("number", float(value) if float(value) != value or not float(value).is_integer() else int(value))
    if isinstance(value, list):
        return ("list", tuple(normal_form(item) for item in value))
    return ("dict", frozenset((key, normal_form(item)) for key, item in value.items()))


@given(plain, plain)
def test_two_values_share_an_encoding_exactly_when_they_mean_the_same(a: object, b: object) -> None:
    assert (canonical_bytes(a) == canonical_bytes(b)) == (normal_form(a) == normal_form(b))


def test_generated_keys_differ_and_have_32_bytes() -> None:
    assert Key.generate() != Key.generate()
    with pytest.raises(ParameterError, match="32 bytes"):
        Key(b"short")


def test_subkeys_depend_on_key_and_every_part_of_the_context() -> None:
    a, b = Key(bytes(32)), Key(bytes([1]) + bytes(31))
    subkeys = [a.derive("x"), b.derive("x"), a.derive("y"), a.derive("x", 1), a.derive("x", "1"), a.derive(["x"])]
    assert len(set(subkeys)) == len(subkeys)
    assert all(len(subkey) == 32 for subkey in subkeys)
    assert derive(bytes(32), "x") == a.derive("x")


def test_a_key_survives_the_disk(tmp_path: Path) -> None:
    key = Key.generate()
    key.save(tmp_path / "k")
    assert Key.load(tmp_path / "k") == key
    assert stat.S_IMODE((tmp_path / "k").stat().st_mode) == 0o600


def test_the_key_file_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Key.generate().save(tmp_path / "k")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "k").stat().st_mode) == 0o600


def test_a_key_file_is_never_overwritten(tmp_path: Path) -> None:
    first = Key.generate()
    first.save(tmp_path / "k")
    with pytest.raises(KeyFileError, match="never overwritten"):
        Key.generate().save(tmp_path / "k")
    assert Key.load(tmp_path / "k") == first


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    Key.generate().save(tmp_path / "k")
    (tmp_path / "k").chmod(mode)
    with pytest.raises(KeyFileError, match="other users") as error:
        Key.load(tmp_path / "k")
    assert "chmod 600" in str(error.value)


def test_symbolic_links_are_refused_both_ways(tmp_path: Path) -> None:
    Key.generate().save(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(KeyFileError, match="link"):
        Key.load(tmp_path / "link")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(KeyFileError):
        Key.generate().save(tmp_path / "dangling")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("content", ["", "sfumato-key-1\n12ab\n", "other\n" + "0" * 64, "sfumato-key-1\n" + "g" * 64])
def test_a_file_that_is_no_key_is_named_as_such(tmp_path: Path, content: str) -> None:
    path = tmp_path / "k"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match="not a sfumato key file"):
        Key.load(path)


def test_a_missing_key_file_says_so_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="cannot read the key file"):
        Key.load(tmp_path / "none")


def test_a_key_shows_a_fingerprint_and_nothing_else() -> None:
    key = Key(bytes(range(32)))
    shown = f"{key!r} {key} {key.fingerprint}"
    assert bytes(range(32)).hex() not in shown
    assert "000102" not in shown
    assert key.fingerprint in repr(key)
    assert not hasattr(key, "__dict__")


def test_a_key_refuses_to_be_pickled_and_copies_as_itself() -> None:
    key = Key.generate()
    with pytest.raises(TypeError, match=r"key\.save"):
        pickle.dumps(key)
    assert copy.copy(key) is key
    assert copy.deepcopy([key])[0] is key


def test_insecure_seeds_are_integers_and_repeatable() -> None:
    assert Key.from_insecure_seed(7) == Key.from_insecure_seed(7) != Key.from_insecure_seed(8)
    for bad in (True, 1.0, "1"):
        with pytest.raises(ParameterError):
            Key.from_insecure_seed(bad)


def test_pipes_folders_and_impossible_paths_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(KeyFileError, match="not a regular file"):
            Key.load(tmp_path / name)
    with pytest.raises(KeyFileError, match="not a path"):
        Key.load("a\0b")


def test_a_key_file_with_more_in_it_is_refused(tmp_path: Path) -> None:
    Key.generate().save(tmp_path / "k")
    with (tmp_path / "k").open("a") as file:
        file.write(" " * 2000 + "junk")
    with pytest.raises(KeyFileError, match="not a sfumato key file"):
        Key.load(tmp_path / "k")
