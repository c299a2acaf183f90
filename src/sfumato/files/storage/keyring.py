"""Where keys and receipts live: a folder of the user's own that nobody else can enter, or beside a given key."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path

from sfumato.core.keys import Key
from sfumato.core.system import require_own
from sfumato.exceptions import KeyFileError, ParameterError


def keys_folder() -> Path:
    """Return the folder for keys in the user's data directory; it may not exist yet.

    `SFUMATO_KEYS` names another one.
    """
    named = os.environ.get("SFUMATO_KEYS")
    if named:
        return Path(named)
    return user_data_path("sfumato") / "keys"


def own_folder(folder: Path) -> Path:
    """Make a folder that only its owner can enter, or refuse one that others can."""
    reason = None
    try:
        if not folder.exists():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError as error:
        reason = error.strerror
    if reason is not None:
        raise KeyFileError(f"{folder}: cannot be made ({reason})", hint="name a key file with --key")
    require_own(folder, status)
    return folder


def new_key_path(target: Path) -> Path:
    """Return a free path for the key of a release, in the folder of keys.

    Parameters
    ----------
    target : Path
        The released file; the key is named after it.
    """
    folder = own_folder(keys_folder())
    stem = target.name.partition(".")[0] or "release"
    path, number = folder / f"{stem}.key", 2
    while path.exists() or path.is_symlink():
        path, number = folder / f"{stem}-{number}.key", number + 1
    return path


def load_key(key: Key | str | os.PathLike[str]) -> tuple[Key, Path]:
    """Return an existing key, and the folder in which its receipts stand."""
    if isinstance(key, Key):
        return key, keys_folder()
    if not isinstance(key, str | os.PathLike):
        raise ParameterError(f"key must be a sfumato.Key or a path, got {type(key).__name__}")
    path = Path(key)
    return Key.load(path), path.absolute().parent
