"""Where a command writes: one rule for every path, checked before any work is done; files stand whole or not at all.

An output is a new file, or with `force` an existing regular one. It is never an input, nor another output, by whatever
name: files are compared by what they are on the disk, so that links do not hide anything. A key is never replaced.
What this process has put in place is noted, so that whoever says "nothing was written" can know it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from sfumato.core.parts import finish, under_way
from sfumato.core.system import read_regular
from sfumato.exceptions import DataError

_written: list[Path] = []
_KEY, _HISTORY = b"sfumato-key-", b"sfumato-history-"


def note_written(path: Path) -> None:
    """Remember a file that stands in its place now."""
    _written.append(path)


def written_files() -> tuple[Path, ...]:
    """Return the files that were put in place and are still there, in order, each once."""
    return tuple(path for path in dict.fromkeys(_written) if path.exists())


def inputs(*given: Any) -> list[Path]:
    """Return those of some arguments that are paths: the files that a command reads.

    Parameters
    ----------
    *given
        Paths, objects that stand for none (a `Key`, a `Receipt`, a dataframe), and None.
    """
    return [Path(one) for one in given if isinstance(one, str | os.PathLike) and "://" not in os.fspath(one)]


def check_outputs(
    outputs: Mapping[str, Path | None],
    read: Iterable[Path] = (),
    *,
    force: bool,
    folders: Collection[str] = (),
    reserved: Iterable[Path] = (),
) -> None:
    """Raise unless all files of a command can be written, with every problem at once.

    Parameters
    ----------
    outputs : mapping
        What each file is, in words, and its path; None for those that were not asked for.
    read : iterable of Path
        The files and folders that the command reads.
    force : bool
        Whether existing files may be replaced.
    folders : collection of str
        Which outputs may be a folder of Parquet files.
    reserved : iterable of Path
        Places that belong to something else, whether or not it stands there yet.
    """
    known: dict[object, str] = {}
    existing = [one for one in read if one.exists()]
    for one in reserved:
        if one.absolute().parent.is_dir():
            known[_identity(one)] = f"what belongs at {one}"
    for one in existing:
        known[_identity(one)] = f"an input ({one})"
        for file in one.glob("*.parquet") if one.is_dir() else ():
            if file.exists():
                known[_identity(file)] = f"a file of an input ({file})"
    sources = [one for one in existing if one.is_dir()]
    problems = []
    for what, path in outputs.items():
        if path is None:
            continue
        problem = problem_with(path, force=force, folder=what in folders)
        same = known.get(_identity(path)) if path.absolute().parent.is_dir() else None
        if problem is None and _begins(path, _HISTORY):
            problem = (f"{path}: the history of releases, which is never replaced", "choose another name")
        if same is not None:
            problem = (f"{path}: {what} would replace {same}", "choose another name for it")
        elif path.suffix == ".parquet" and any(_identity(path.absolute().parent) == _identity(one) for one in sources):
            problem = (f"{path}: {what} would lie among the files of the table itself", "choose another folder for it")
        if problem is not None:
            problems.append(problem)
        elif path.absolute().parent.is_dir():
            known[_identity(path)] = what
    if problems:
        hints = list(dict.fromkeys(hint for _, hint in problems))
        raise DataError("\n".join(text for text, _ in problems), hint="; ".join(hints))


def problem_with(path: Path, *, force: bool, folder: bool = False) -> tuple[str, str] | None:
    """Return what keeps a file from being written at a place, and a hint; None if nothing does.

    Parameters
    ----------
    force : bool
        Whether an existing file may be replaced.
    folder : bool
        Whether the path may be a folder of Parquet files.
    """
    around = path.absolute().parent
    if not around.is_dir():
        return f"{path}: no folder {around}", "make the folder first, or choose another"
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        status = None
    except (OSError, ValueError) as error:
        return f"{path}: cannot be written there ({getattr(error, 'strerror', None) or 'not a path'})", "choose another"
    if status is not None:
        kind = status.st_mode
        if stat.S_ISLNK(kind):
            return f"{path}: a symbolic link, which is not followed", "give the path of the file itself"
        if stat.S_ISDIR(kind) and not (folder and all(file.suffix == ".parquet" for file in path.iterdir())):
            return f"{path}: a folder, not a file", "give the name of a file"
        if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
            return f"{path}: a device, pipe or socket, not a file", "give the name of a file"
        if stat.S_ISREG(kind) and _begins(path, _KEY):
            return f"{path}: a key, which is never replaced", "choose another name"
        if not force:
            return f"{path}: exists already", "force=True replaces it"
    if not os.access(around, os.W_OK | os.X_OK):
        return f"{path}: cannot be written there (permission denied)", "choose another folder"
    return None


def _begins(path: Path, header: bytes) -> bool:
    try:
        return read_regular(path, len(header)) == header
    except OSError:
        return False


def _identity(path: Path) -> object:
    """Return what tells files apart: device and number, or for a new file those of its folder and its name."""
    try:
        status = path.stat()
    except OSError:
        around = path.absolute().parent.stat()
        return around.st_dev, around.st_ino, path.name
    return status.st_dev, status.st_ino


def write_atomically(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> None:
    """Write a file beside its place under a name of its own, then rename it there.

    Parameters
    ----------
    path : path
        An existing regular file is replaced; a key, a device, a folder or a symbolic link is refused.
    write : callable
        Writes the content to the open binary file.
    """
    target = Path(path)
    problem = problem_with(target, force=True)
    if problem is not None:
        raise DataError(problem[0], hint=problem[1])
    with under_way(target) as (file, part):
        write(file)
        finish(file)
        part.replace(target)
        note_written(target)
