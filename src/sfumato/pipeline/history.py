"""The history of the releases of one folder of keys: which tables were released before, and which people.

A second release with other noise can be averaged with the first, and one of the same people but one can be subtracted
from it. The history holds keyed hashes only, under a key of its own, because two releases usually have two keys:
nobody without it can test a guess about a table. One line for each release stands in `history`, whose first line
vouches for the others; the hashes of its people stand beside it in a sealed file. What is damaged is told, never
taken for a history without releases.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from sfumato.core.keys import OLD_HISTORY_KEY, Key
from sfumato.core.overlap import Overlap, find_overlap
from sfumato.core.people import Group, People, column_groups
from sfumato.core.sealed import seal, unseal
from sfumato.core.secret import Hidden
from sfumato.core.stream import RowHasher, table_hasher
from sfumato.core.system import hold, open_lock, open_to_others
from sfumato.core.travel import pack, unpack
from sfumato.exceptions import DataError, KeyFileError, SfumatoError
from sfumato.files.storage.outputs import write_atomically

_KEY = "history.secret"
_FILE = "history"
_PEOPLE = ".people"
_HEADER, _FIRST_HEADER = "sfumato-history-2", "sfumato-history-1"
_PEOPLE_HEADER = b"sfumato-history-people-1\n"
_LONGEST = 100_000
_LARGEST = 1 << 30


def history_files(folder: Path) -> tuple[Path, Path]:
    """Return where the history of a folder of keys stands, and its key."""
    old = folder / OLD_HISTORY_KEY
    return folder / _FILE, old if old.exists() and not os.path.lexists(folder / _KEY) else folder / _KEY


def reserved_files(folder: Path) -> tuple[Path, ...]:
    """Return the places in a folder of keys that belong to its history, whether or not it stands there yet."""
    return folder / _FILE, folder / _KEY, folder / OLD_HISTORY_KEY


@dataclass(frozen=True)
class Earlier:
    """An earlier release of people of a table.

    Attributes
    ----------
    name : str
        Of its receipt.
    overlap : Overlap
    """

    name: str
    overlap: Overlap


@dataclass
class Past(Hidden):
    """What histories know of a table.

    Attributes
    ----------
    repeated : int
        Releases of this very table with other noise.
    earlier : list of Earlier
        Releases of people of it with other noise.
    problems : list of str
        Why a history may not know all of them.
    """

    repeated: int = 0
    earlier: list[Earlier] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class History(Hidden):
    """The releases whose keys lie in one folder.

    Parameters
    ----------
    folder : Path
        The folder of the keys.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._problem: str | None = None
        self._key = self._own_key()
        self._begun = False

    @property
    def folder(self) -> Path:
        """The folder of the keys."""
        return self._folder

    def __enter__(self) -> Self:
        """Begin a history where there is none, so that releases at the same time share its key."""
        with contextlib.suppress(OSError, SfumatoError), locked(self._folder):
            if not self.exists and self._key is not None:
                self._key.save_history(self._folder / _KEY)
                self._write([])
                self._begun = True
            elif self._key is not None:
                self._key = self._own_key()
                self._rename_key()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_told: object) -> None:
        """Leave no history behind of a release that came to nothing."""
        if kind is None or not self._begun:
            return
        with contextlib.suppress(OSError, SfumatoError), locked(self._folder):
            if self._lines() == ([], None):
                for path in history_files(self._folder):
                    path.unlink(missing_ok=True)

    @property
    def exists(self) -> bool:
        """Whether anything was released with a key of this folder."""
        return any(path.exists() for path in history_files(self._folder))

    def hasher(self, names: Sequence[str]) -> RowHasher | None:
        """Return the hasher of tables in this history; None if its key cannot be read."""
        return None if self._key is None else table_hasher(self._key, names)

    @property
    def subkey(self) -> bytes | None:
        """The subkey of the hashes of people; None if the key of the history cannot be read."""
        return None if self._key is None else self._key.derive("people")

    def wanted(self, names: Sequence[str], record_id: str | None) -> tuple[Group, ...]:
        """Return the groups of columns to hash: those of a table, and those in which earlier tables are known."""
        assert self.subkey is not None
        own = column_groups(self.subkey, names, record_id)
        known = [group for line in self._lines()[0] for group in self._groups(line)]
        there = set(names)
        fitting = [one for one in known if one.kind != "person" and there.issuperset(one.columns)]
        return tuple(dict.fromkeys([*own, *fitting]))

    def look_back(self, people: People, table: bytes | None, noises: Collection[bytes]) -> Past:
        """Return what this history knows of a table.

        Parameters
        ----------
        people : People
            Hashed under the subkey of this history.
        table : bytes, optional
            Its fingerprint under the hasher of this history.
        noises : collection of bytes
            Identities of the noise that it is released with; see `release_identity`. Releases with it are left out.
        """
        past = Past()
        lines, problem = self._lines()
        if problem is not None:
            past.problems.append(problem)
        if self._key is None:
            return past
        mine = {self._key.derive("noise", noise).hex()[:32] for noise in noises}
        known_as = None if table is None else self._key.derive("table", table).hex()[:32]
        for line in lines:
            known, noise, *_ = line.split()
            if noise in mine:
                continue
            past.repeated += known == known_as
            found, trouble = self._compared(line, people)
            if trouble is not None:
                past.problems.append(trouble)
            elif found is not None:
                past.earlier.append(found)
        return past

    def add(self, table: bytes, noise: bytes, people: People | None, name: str) -> bool:
        """Record a release, and tell whether it is new; raise if it cannot be recorded.

        Parameters
        ----------
        table, noise : bytes
            See `look_back`.
        name : str
            Of its receipt.
        """
        if self._key is None:
            raise DataError(f"{self._problem}", hint=_HINT)
        with locked(self._folder):
            lines, problem = self._lines()
            if problem is not None:
                raise DataError(problem, hint=_HINT)
            mine = self._line(table, noise)
            if any(line.split()[:2] == mine.split()[:2] for line in lines):
                return False
            if not history_files(self._folder)[1].exists():
                self._key.save_history(self._folder / _KEY)
                self._write(lines)
            if people is not None:
                self._write_people(mine, people, name)
            self._write([*lines[-_LONGEST:], mine])
            self._sweep([*lines[-_LONGEST:], mine])
            return True

    def forget(self, table: bytes, noise: bytes) -> None:
        """Take a release out again that came to nothing."""
        if self._key is None:
            return
        with contextlib.suppress(OSError, SfumatoError), locked(self._folder):
            lines, problem = self._lines()
            mine = self._line(table, noise)
            if problem is None and mine in lines:
                self._write([line for line in lines if line != mine])
            self._people_file(mine).unlink(missing_ok=True)

    def _compared(self, line: str, people: People) -> tuple[Earlier | None, str | None]:
        """Return what a table and an earlier one have in common, and what keeps it from being known."""
        if len(line.split()) < 3:  # of a version that knew tables only
            return None, None
        groups = self._groups(line)
        if groups and not any(one in people.groups for one in groups):
            return None, None
        opened = self._open_people(line)
        if opened is None:
            return None, f"{self._people_file(line)}: the people of an earlier release are not known, it is damaged"
        name, known = opened
        overlap = find_overlap(people, known)
        return None if overlap is None else Earlier(name, overlap), None

    def _write_people(self, line: str, people: People, name: str) -> None:
        assert self._key is not None
        subkey, purpose = self._key.derive("people file"), line.encode()
        head = pack([[list(group.columns), group.kind] for group in people.groups])
        short = seal(subkey, head, purpose + b" groups")
        body = seal(subkey, pack([name, people.plain()]), purpose)
        content = [_PEOPLE_HEADER, len(short).to_bytes(8, "little"), short, body]
        write_atomically(self._people_file(line), lambda file: [file.write(part) for part in content])

    def _groups(self, line: str) -> tuple[Group, ...]:
        """Return the groups of columns in which an earlier table is known; nothing if they cannot be read."""
        assert self._key is not None
        if len(line.split()) < 3:
            return ()
        sealed = b""
        with contextlib.suppress(OSError), self._people_file(line).open("rb") as file:
            start = len(_PEOPLE_HEADER)
            size = int.from_bytes(file.read(start + 8)[start:], "little")
            sealed = file.read(min(size, _LARGEST))
        plain = unseal(self._key.derive("people file"), sealed, line.encode() + b" groups")
        return () if plain is None else tuple(Group(tuple(columns), kind) for columns, kind in unpack(plain))

    def _open_people(self, line: str) -> tuple[str, People] | None:
        assert self._key is not None
        try:
            content = self._people_file(line).read_bytes()
        except OSError:
            return None
        start = len(_PEOPLE_HEADER) + 8
        size = int.from_bytes(content[len(_PEOPLE_HEADER) : start], "little")
        if not content.startswith(_PEOPLE_HEADER):
            return None
        plain = unseal(self._key.derive("people file"), content[start + size :], line.encode())
        if plain is None:
            return None
        name, people = unpack(plain)
        return name, People.of_plain(people)

    def _sweep(self, lines: Sequence[str]) -> None:
        """Remove hashes of people that no line speaks of: a killed run has left them."""
        known = {line.split()[-1] for line in lines}
        for path in self._folder.glob(f"*{_PEOPLE}"):
            if path.stem not in known and _begins(path):
                path.unlink(missing_ok=True)

    def _people_file(self, line: str) -> Path:
        return self._folder / f"{line.rsplit(maxsplit=1)[-1]}{_PEOPLE}"

    def _write(self, lines: list[str]) -> None:
        text = "\n".join([f"{_HEADER} {self._voucher(lines)}", *lines]) + "\n"
        write_atomically(self._folder / _FILE, lambda file: file.write(text.encode()))

    def _voucher(self, lines: Sequence[str]) -> str:
        assert self._key is not None
        return self._key.derive("lines", list(lines)).hex()[:32]

    def _own_key(self) -> Key | None:
        path = history_files(self._folder)[1]
        try:
            return Key.load_history(path) if os.path.lexists(path) else Key.generate()
        except KeyFileError as error:
            self._problem = f"{error.message}: releases before this one are not known"
            return None

    def _rename_key(self) -> None:
        """Give a key of earlier versions its present name, under which it is not taken for the key of a release."""
        old = self._folder / OLD_HISTORY_KEY
        if self._key is not None and old.exists():
            if not os.path.lexists(self._folder / _KEY):
                self._key.save_history(self._folder / _KEY)
            if Key.load_history(old) == self._key:
                old.unlink()

    def _line(self, table: bytes, noise: bytes) -> str:
        assert self._key is not None
        words = self._key.derive("table", table).hex()[:32], self._key.derive("noise", noise).hex()[:32]
        return f"{words[0]} {words[1]} {self._key.derive('people', table, noise).hex()[:16]}"

    def _lines(self) -> tuple[list[str], str | None]:
        """Return one line for each release, and what is wrong with the history."""
        path, key_path = history_files(self._folder)
        if self._key is None:
            return [], self._problem
        lost = "releases before this one are not known"
        if not os.path.lexists(path):
            return [], f"{path}: gone, and its key is there: {lost}" if key_path.exists() else None
        if not key_path.exists():
            return [], f"{key_path}: gone, and its history is there: {lost}"
        try:
            status = os.lstat(path)
            if not stat.S_ISREG(status.st_mode) or open_to_others(status):
                return [], f"{path}: other users may read or change the history: {lost}"
            text = path.read_text(encoding="ascii", errors="replace")
        except OSError as error:
            return [], f"{path}: cannot be read ({error.strerror}): {lost}"
        header, *lines = text.splitlines() or [""]
        if header == _FIRST_HEADER and all(len(line.split()) == 2 for line in lines):
            return lines, None
        if header != f"{_HEADER} {self._voucher(lines)}":
            return [], f"{path}: damaged, or changed by somebody else: {lost}"
        return lines, None


_HINT = "bring the history back from a backup, or move it and its key away to begin a new one"


def _begins(path: Path) -> bool:
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(len(_PEOPLE_HEADER)) == _PEOPLE_HEADER
    return False


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time change the history of a folder."""
    descriptor = open_lock(folder, ".history.lock")
    try:
        hold(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)
