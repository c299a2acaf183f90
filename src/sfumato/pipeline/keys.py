"""The key of a release: handed over, read from a file, or made and kept where only its owner can read it."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from sfumato.core.keys import Key
from sfumato.core.secret import Hidden
from sfumato.exceptions import KeyFileError, ParameterError
from sfumato.files.storage.keyring import keys_folder, new_key_path, own_folder


@dataclass(repr=False)
class ReleaseKey(Hidden):
    """A key and its place.

    Attributes
    ----------
    key : Key
    path : Path, optional
        Its file; None if the caller keeps it.
    new : bool
        Whether the file has still to be written.
    folder : Path
        Where receipts and the history stand.
    """

    key: Key
    path: Path | None
    new: bool
    folder: Path

    def save(self) -> None:
        """Write a new key; it is never overwritten."""
        if self.new:
            assert self.path is not None
            self.key.save(self.path)

    def forget(self) -> None:
        """Remove the file of a new key whose release came to nothing."""
        if self.new and self.path is not None:
            with contextlib.suppress(OSError):  # SfumatoErrors of key files are some
                if Key.load(self.path) == self.key:  # another release may have taken the name
                    self.path.unlink()


def key_folder(key: Key | str | os.PathLike[str] | None) -> Path:
    """Return the folder in which the receipts and the history of a release with this key stand."""
    return Path(key).absolute().parent if isinstance(key, str | os.PathLike) else keys_folder()


def choose_key(key: Key | str | os.PathLike[str] | None, target: Path, *, trial: bool = False) -> ReleaseKey:
    """Return the key of a release.

    Parameters
    ----------
    key : Key, path or None
        An existing file is used; a new path gets a new key; None makes one in the user's folder of keys.
    target : Path
        The released file, after which a new key is named.
    trial : bool
        Whether nothing is released: then no folder is made, and a new key is forgotten.
    """
    if trial and key is None:
        return ReleaseKey(Key.generate(), None, new=False, folder=keys_folder())
    if key is None:
        path = new_key_path(target)
        return ReleaseKey(Key.generate(), path, new=True, folder=path.parent)
    if isinstance(key, Key):
        return ReleaseKey(key, None, new=False, folder=keys_folder() if trial else own_folder(keys_folder()))
    if not isinstance(key, str | os.PathLike):
        raise ParameterError(f"key must be a sfumato.Key, a path or None, got {type(key).__name__}")
    path = Path(key)
    if path.exists() or path.is_symlink():
        return ReleaseKey(Key.load(path), path, new=False, folder=path.absolute().parent)
    if not path.absolute().parent.is_dir():
        raise KeyFileError(f"{path}: no folder {path.absolute().parent}", hint="make the folder first")
    return ReleaseKey(Key.generate(), None if trial else path, new=not trial, folder=path.absolute().parent)
