"""What several commands say in the same way."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from shutil import which

from sfumato.exceptions import ParameterError

EFFORTS = ("quick", "normal", "thorough")
_MOST_CLUSTERS = 50


# parameters of the library, and the options of the command line that stand for them
_OPTIONS = {
    "engine": "--engine",
    "escape": "--escape",
    "force": "--force",
    "identifier": "--id",
    "keep": "--keep",
    "key": "--key",
    "query": "--query",
    "quote": "--quote",
    "receipt": "--receipt",
    "record_id": "--record-id",
    "released": "--released",
    "report": "--report",
    "row_id": "--with-row-id",
    "separator": "--separator",
    "table_name": "--table",
}
_PARAMETER = re.compile(rf"\b({'|'.join(_OPTIONS)})=(\[[^\]]*\]|'[^']*'|\"[^\"]*\"|True|\.\.\.)")
# parameters of methods, which are set by their names
_SETTING = re.compile(r"\b(clusterings|exposed|most_held_back)=(\"[^\"]*\"|[0-9.]+[0-9])")


def as_typed(text: str) -> str:
    """Return a message of the library with its parameters as the options that a user of the command line types.

    Examples
    --------
    >>> as_typed("drop it with identifier=['name'], or release it unchanged with keep=['name']; force=True replaces it")
    'drop it with --id name, or release it unchanged with --keep name; --force replaces it'
    >>> as_typed("say how the file is written, with sfumato.CsvFile: escape='backslash'")
    'say how the file is written: --escape backslash'
    >>> as_typed('allow more with most_held_back=0.05, or insist with exposed="publish"')
    'allow more with --set most_held_back=0.05, or insist with --set exposed=publish'
    """

    def option(found: re.Match[str]) -> str:
        flag, value = _OPTIONS[found[1]], found[2]
        if value in ("True", "..."):
            return flag
        words = [shlex.quote(word.strip().strip("'\"")) for word in value.strip("[]").split(",")]
        return " ".join(f"{flag} {word}" for word in words)

    told = _PARAMETER.sub(option, text.replace(", with sfumato.CsvFile:", ":"))
    return _SETTING.sub(lambda found: f"--set {found[1]}={shlex.quote(found[2].strip(chr(34)))}", told)


def cluster_numbers(text: str) -> tuple[int, ...]:
    """Return numbers of clusters as people write them.

    Examples
    --------
    >>> cluster_numbers("2-4"), cluster_numbers("3, 5")
    ((2, 3, 4), (3, 5))
    """
    found: set[int] = set()
    for part in text.split(","):
        ends = part.strip().split("-")
        if not all(end.strip().isdecimal() for end in ends) or len(ends) > 2:
            raise ParameterError(f"numbers of clusters look like 2-8 or 3,5, got {text!r}")
        low, high = int(ends[0]), int(ends[-1])
        if not 2 <= low <= high <= _MOST_CLUSTERS:
            raise ParameterError(f"numbers of clusters lie between 2 and {_MOST_CLUSTERS}, got {text!r}")
        found.update(range(low, high + 1))
    return tuple(sorted(found))


def shown_command() -> str:
    """Return how sfumato is typed here: by its name, or by the path of the environment that it was called from."""
    called = Path(sys.argv[0])
    if called.name != "__main__.py" or which("sfumato"):
        return "sfumato"
    beside = Path(sys.executable).with_name("sfumato")
    shown = Path(os.path.relpath(beside)) if beside.exists() else None
    return "python -m sfumato" if shown is None else str(shown)


def command_line() -> str:
    """Return what was typed, for "to repeat it" in reports."""
    return shlex.join(["sfumato", *sys.argv[1:]])
