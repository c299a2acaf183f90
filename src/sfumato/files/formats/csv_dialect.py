r"""How a CSV file means its quotes: said by the owner, or taken to be RFC 4180 and refused where that is in doubt.

A file that is read otherwise than it was meant can hide whole records inside one cell: with quotes that are escaped by
backslashes, an ordinary reader takes the end of one person and the beginning of the next for a single text. So every
quote must stand where RFC 4180 has it, and what two readers would read differently is refused until the owner says
which it is.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from sfumato.exceptions import ParameterError

SEPARATORS = (",", ";", "\t", "|")
_QUOTES = ('"', "'", "none")
_ESCAPES = ("backslash", "none")

_SAY = (
    "say how the file is written, with sfumato.CsvFile: escape='backslash' (\\\" inside a cell), escape='none' "
    "(quotes are doubled), or quote='none' (quotes are ordinary letters)"
)


@dataclass(frozen=True)
class CsvFile(os.PathLike[str]):
    r"""A CSV file and how it is written, for whoever takes the path of a table.

    Parameters
    ----------
    path : path
        The file.
    separator : str, optional
        One of "," ";" "\t" "|". None (default) finds it in the header.
    quote : str, optional
        What cells may be quoted with: '"', "'", or "none" if quotes are ordinary letters. None (default) is '"', with
        doubtful files refused.
    escape : str, optional
        How a quote stands inside a quoted cell: "backslash" for \", "none" for a doubled quote. None (default) is a
        doubled quote, with doubtful files refused.

    Examples
    --------
    >>> os.fspath(CsvFile("people.csv", escape="backslash"))
    'people.csv'
    """

    path: str | os.PathLike[str]
    separator: str | None = None
    quote: str | None = None
    escape: str | None = None

    def __post_init__(self) -> None:
        for name, allowed in (("separator", SEPARATORS), ("quote", _QUOTES), ("escape", _ESCAPES)):
            given = getattr(self, name)
            if given is not None and given not in allowed:
                raise ParameterError(
                    f"{name} must be one of {', '.join(repr(one) for one in allowed)}, got {given!r}",
                    hint=f"leave {name} out if the file is an ordinary CSV file",
                )
        if self.quote == "none" and self.escape == "backslash":
            raise ParameterError("without quotes there is nothing to escape", hint="leave out escape")

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return os.fspath(self.path)

    @property
    def mark(self) -> bytes:
        """The byte that quotes a cell; empty if none does."""
        return b"" if self.quote == "none" else (self.quote or '"').encode()

    @property
    def said(self) -> bool:
        """Whether the owner has said what quotes mean here."""
        return self.quote is not None or self.escape is not None

    @classmethod
    def of(cls, path: Any) -> CsvFile:
        """Return a path as a CSV file of the ordinary dialect, or a `CsvFile` as it is.

        Parameters
        ----------
        path : path or CsvFile
            The file, or what says how it is written.
        """
        return path if isinstance(path, cls) else cls(Path(path))


def separator_of(header: str, mark: bytes) -> str | None:
    """Return the separator of a header line; None if two would do.

    Parameters
    ----------
    mark : bytes
        What quotes a cell.

    Examples
    --------
    >>> separator_of('a;"b,c";d', b'"'), separator_of("a;b,c", b'"')
    (';', None)
    """
    quote = re.escape(mark.decode())
    bare = re.sub(f"{quote}[^{quote}]*{quote}", "", header) if mark else header
    counts = sorted(((bare.count(one), one) for one in SEPARATORS), reverse=True)
    if counts[0][0] and counts[0][0] == counts[1][0]:
        return None
    return counts[0][1] if counts[0][0] else ","


class Unescaped:
    """A binary file whose backslash escapes are turned into doubled quotes as it is read.

    Parameters
    ----------
    mark : bytes
        The quote.
    """

    def __init__(self, file: IO[bytes], mark: bytes) -> None:
        self.fileobj = file
        self._mark = mark
        self._escape = re.compile(rb"\\([\\" + re.escape(mark) + rb"])")
        self._ready = self._rest = b""

    def read(self, size: int) -> bytes:
        """Return the next bytes; fewer than asked for only at the end."""
        while len(self._ready) < size:
            raw = self.fileobj.read(max(size, 1 << 16))
            block = self._rest + raw
            # an escape may lie across two reads: an odd backslash waits for what comes behind it
            tail = len(block) - len(block.rstrip(b"\\"))
            cut = len(block) - (tail % 2 if raw else 0)
            block, self._rest = block[:cut], block[cut:]
            self._ready += self._escape.sub(self._plain, block)
            if not raw:
                break
        out, self._ready = self._ready[:size], self._ready[size:]
        return out

    def _plain(self, found: re.Match[bytes]) -> bytes:
        return b"\\" if found[1] == b"\\" else self._mark * 2

    def close(self) -> None:
        """Close the file."""
        self.fileobj.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def doubt_about(block: bytes, file: CsvFile, separator: str, width: int) -> tuple[int, str, str] | None:
    r"""Return the first place of a block that readers of CSV disagree about: its offset, what is wrong, and a hint.

    Parameters
    ----------
    block : bytes
        Whole records.
    file : CsvFile
        What the owner has said.
    width : int
        Number of columns.

    Examples
    --------
    >>> doubt_about(b'1,"a"\n2,"say ""hi"" twice"\n', CsvFile("x.csv"), ",", 2)
    >>> doubt_about(b'1,"say \\"hi\\""\n', CsvFile("x.csv"), ",", 2)[1]
    'a backslash before a quote, which can mean two things'
    """
    letters = np.frombuffer(block, dtype=np.uint8)
    quotes = np.flatnonzero(letters == file.mark[0]) if file.mark and file.mark in block else np.empty(0, np.intp)
    if len(quotes) and not file.said:
        place = block.find(b"\\" + file.mark)
        if place >= 0:
            return place, "a backslash before a quote, which can mean two things", _SAY
    if len(quotes):
        misplaced = _misplaced(letters, quotes, separator)
        if misplaced is not None:
            return misplaced, "a quote that neither opens nor closes a cell", _SAY
        if len(quotes) % 2:
            return int(quotes[-1]), "a quote that is never closed", _SAY
    inside = _inside(len(letters), quotes)
    if b"\r" in block:
        bare = (letters == ord("\r")) & (np.append(letters[1:], ord("\n")) != ord("\n")) & ~inside
        if bare.any():
            return int(np.argmax(bare)), "a carriage return that ends no line", "save the file with ordinary line ends"
    if len(quotes) and not file.said:
        line = _swallowed(letters, inside, separator, width)
        if line is not None:
            return line, "a quoted cell with line breaks whose every line would be a record by itself", _SAY
    return None


def _inside(size: int, quotes: np.ndarray) -> np.ndarray:
    """Return which bytes lie inside quotes."""
    turns = np.zeros(size, dtype=np.bool_)
    turns[quotes] = True
    return np.bitwise_xor.accumulate(turns)


def _misplaced(letters: np.ndarray, quotes: np.ndarray, separator: str) -> int | None:
    """Return the place of a quote that is neither at an end of a cell nor doubled."""
    quote = letters[quotes[0]]
    around = np.concatenate([[ord("\n")], letters, [ord("\n")]]).astype(np.uint8)  # as if lines stood on both sides
    opens, closes = quotes[0::2], quotes[1::2]
    before, behind = around[opens], around[closes + 2]
    wrong_open = ~np.isin(before, [ord(separator), ord("\n"), quote])
    wrong_close = ~np.isin(behind, [ord(separator), ord("\n"), ord("\r"), quote])
    places = [*opens[wrong_open][:1], *closes[wrong_close][:1]]
    return int(min(places)) if places else None


def _swallowed(letters: np.ndarray, inside: np.ndarray, separator: str, width: int) -> int | None:
    """Return the place of a record over several lines each of which would be a record by itself.

    Such a file has two readings without a fault: cells with line breaks, or quotes that are ordinary letters.
    """
    ends = np.flatnonzero(letters == ord("\n"))
    if not len(ends) or not inside[ends].any():
        return None
    starts = np.append(0, ends + 1)
    stops = np.append(ends, len(letters))
    before = np.append(0, np.cumsum(letters == ord(separator)))
    complete = before[stops] - before[starts] == width - 1
    goes_on = np.append(inside[ends], False)  # the line ends inside a cell
    record = np.append(0, np.cumsum(~goes_on[:-1]))  # which record each line belongs to
    lines = np.bincount(record)
    whole = np.bincount(record, weights=complete)
    doubtful = np.flatnonzero((lines > 1) & (whole == lines))
    return int(starts[np.searchsorted(record, doubtful[0])]) if len(doubtful) else None
