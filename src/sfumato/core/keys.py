"""The secret key: 32 bytes from the operating system, from which every other secret is derived.

A release depends on one `Key`. Nothing derives randomness from the key itself: each use asks for a *subkey* bound to
everything that must keep two uses apart (release name, method, parameters, table, purpose, column). Knowing one
subkey says nothing about another.

What a subkey is bound to becomes one byte string for each value: `{"a": 1, "b": 2.0}` and `{"b": 2, "a": 1.0}` mean
the same and encode the same; two different values never share an encoding, because every part carries its type and
its length.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NoReturn

from sfumato.core.parts import finish, under_way
from sfumato.core.secret import Secret
from sfumato.core.system import NOT_WAITING, READ, open_to_others, put_new
from sfumato.exceptions import KeyFileError, ParameterError, SecretStateError

KEY_BYTES = 32
_HEADER = "sfumato-key-1"
HISTORY_HEADER = "sfumato-history-key-1"  # of the key of a history, which is no key of a release
OLD_HISTORY_KEY = "history.key"  # its name in earlier versions, in which it looked like any key
_MAX_FILE_BYTES = 1024


def derive(secret: bytes, *context: Any) -> bytes:
    """Return the 32-byte subkey of a secret for one context (keyed BLAKE2b).

    Parameters
    ----------
    secret : bytes
        32 secret bytes.
    *context
        Plain values that name the use; different contexts give unrelated subkeys.

    Examples
    --------
    >>> derive(bytes(32), "noise", "age") == derive(bytes(32), "noise", "wage")
    False
    """
    return hashlib.blake2b(
        canonical_bytes(context), key=secret, digest_size=KEY_BYTES, person=b"sfumato-derive-1"
    ).digest()


class Key:
    """A secret of 32 bytes that makes a release repeatable, and invertible where the method is.

    It never shows itself: `repr` gives a fingerprint, pickling raises. Copies are the object itself,
    so that scikit-learn's `clone` works.

    Parameters
    ----------
    secret : bytes
        The 32 secret bytes; `Key.generate()` draws them, `Key.load(path)` reads them from a file.

    Examples
    --------
    >>> key = Key.generate()
    >>> key == Key.generate()
    False
    >>> import copy
    >>> copy.deepcopy(key) is key
    True
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        if not isinstance(secret, bytes) or len(secret) != KEY_BYTES:
            raise ParameterError(
                f"a key is exactly {KEY_BYTES} bytes",
                hint="use sfumato.Key.generate(), or sfumato.Key.load(path) for a key file",
            )
        self._secret = secret

    @classmethod
    def generate(cls) -> Key:
        """Return a new key from the operating system's generator."""
        return cls(secrets.token_bytes(KEY_BYTES))

    @classmethod
    def from_insecure_seed(cls, seed: int) -> Key:
        """Return the key of an integer, for tests only: small integers can be tried one by one.

        Parameters
        ----------
        seed : int
            Any integer; the same one gives the same key.
        """
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise ParameterError(f"insecure_seed must be an int or None, got {type(seed).__name__}")
        return cls(hashlib.blake2b(f"insecure seed {seed}".encode(), digest_size=KEY_BYTES).digest())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Key:
        """Read a key file; refuse one that other users can read.

        Parameters
        ----------
        path : path
            Of the key file.
        """
        path = Path(path)
        if path.name == OLD_HISTORY_KEY and path.exists():
            raise KeyFileError(_OF_HISTORY.format(path), hint=_OTHER_KEY)
        return cls._read(path, _HEADER)

    @classmethod
    def load_history(cls, path: Path) -> Key:
        """Read the key of a history, which `load` refuses.

        Parameters
        ----------
        path : Path
            Of the key file.
        """
        return cls._read(path, _HEADER if path.name == OLD_HISTORY_KEY else HISTORY_HEADER)

    @classmethod
    def _read(cls, path: Path, wanted: str) -> Key:
        reason = None
        try:
            # without O_NONBLOCK a named pipe would wait for a writer for ever
            descriptor = os.open(path, READ | NOT_WAITING)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "not a path"
        if reason is not None:
            raise KeyFileError(f"{path}: cannot read the key file ({reason})", hint=_load_hint(path))
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise KeyFileError(f"{path}: not a regular file")
            if open_to_others(status):
                raise KeyFileError(
                    f"{path}: other users may read this key file (mode {stat.S_IMODE(status.st_mode):04o})",
                    hint=f"chmod 600 {path}   (and make a new key if others may have seen it)",
                )
            raw = os.read(descriptor, _MAX_FILE_BYTES + 1)
        finally:
            os.close(descriptor)
        text = raw.decode("ascii", errors="replace") if len(raw) <= _MAX_FILE_BYTES else ""
        header, _, body = text.partition("\n")
        body = body.strip()
        if header == HISTORY_HEADER != wanted:
            raise KeyFileError(_OF_HISTORY.format(path), hint=_OTHER_KEY)
        if header != wanted or len(body) != 2 * KEY_BYTES or set(body) - set("0123456789abcdef"):
            raise KeyFileError(
                f"{path}: not a sfumato key file", hint="make one with sfumato.Key.generate().save(path)"
            )
        return cls(bytes.fromhex(body))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the key to a new file that only its owner can read; never overwrite.

        Parameters
        ----------
        path : path
            Of the new file.
        """
        self._write(Path(path), _HEADER)

    def save_history(self, path: Path) -> None:
        """Write the key of a history, which cannot be taken for the key of a release.

        Parameters
        ----------
        path : Path
            Of the new file.
        """
        self._write(path, HISTORY_HEADER)

    def _write(self, path: Path, header: str) -> None:
        reason = None
        if os.path.lexists(path):
            raise _taken(path)
        try:
            # half a key is worse than none, it looks like a key and opens nothing: it gets its name when it is whole
            with under_way(path) as (file, part):
                file.write(f"{header}\n{self._secret.hex()}\n".encode("ascii"))
                finish(file)
                put_new(part, path)
        except FileExistsError:
            raise _taken(path) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "not a path"
        if reason is not None:
            raise KeyFileError(f"{path}: cannot write the key file ({reason})", hint="choose another folder for it")

    def derive(self, *context: Any) -> bytes:
        """Return the subkey of this key for one context; see the function `derive`.

        Parameters
        ----------
        *context : plain values
            What the subkey is for; another context gives another subkey.
        """
        return derive(self._secret, *context)

    @property
    def fingerprint(self) -> str:
        """Eight hexadecimal digits that tell keys apart and say nothing about them."""
        return self.derive("fingerprint").hex()[:8]

    def __repr__(self) -> str:
        return f"Key(fingerprint={self.fingerprint!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and hmac.compare_digest(self._secret, other._secret)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __copy__(self) -> Key:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Key:
        return self

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise SecretStateError(
            "a Key cannot be pickled: the pickle would hold the secret in plain sight",
            hint="save it with key.save(path) and load it with sfumato.Key.load(path)",
        )


_OF_HISTORY = "{}: belongs to the history of releases, and is not the key of a release"
_OTHER_KEY = "give the key that `sfumato release` named when it made the release"


def _taken(path: Path) -> KeyFileError:
    return KeyFileError(
        f"{path}: exists already, and a key file is never overwritten",
        hint="choose another path; without its old key a release can be neither restored nor repeated",
    )


def _load_hint(path: Path) -> str:
    if "\0" not in str(path) and path.is_symlink():
        return "symbolic links are refused; give the path of the file itself"
    return "check the path; a new key is made with sfumato.Key.generate().save(path)"


def canonical_bytes(value: Any) -> bytes:
    """Encode a plain value so that equal meanings give equal bytes and different ones never do.

    Examples
    --------
    >>> canonical_bytes([1, "a"]) == canonical_bytes((1.0, "a"))
    True
    >>> canonical_bytes(["ab", "c"]) == canonical_bytes(["a", "bc"])
    False
    """
    if isinstance(value, Secret):
        value = value.reveal()
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        value = value.tolist()
    if value is None:
        return _tagged(b"n", b"")
    if isinstance(value, bool):
        return _tagged(b"b", b"1" if value else b"0")
    if isinstance(value, Integral):
        return _tagged(b"i", str(int(value)).encode())
    if isinstance(value, Real):
        number = float(value)
        return _tagged(b"i", str(int(number)).encode()) if number.is_integer() else _tagged(b"f", number.hex().encode())
    if isinstance(value, str):
        return _tagged(b"s", value.encode())
    if isinstance(value, bytes):
        return _tagged(b"y", value)
    if isinstance(value, Mapping):
        pairs = sorted((canonical_bytes(key), canonical_bytes(item)) for key, item in value.items())
        return _tagged(b"d", b"".join(part for pair in pairs for part in pair))
    if isinstance(value, Sequence):
        return _tagged(b"l", b"".join(canonical_bytes(item) for item in value))
    raise TypeError(f"cannot encode a {type(value).__name__}")


def _tagged(tag: bytes, body: bytes) -> bytes:
    return tag + len(body).to_bytes(8, "little") + body
