"""The exit codes of the command line, in one table: the commands exit with them, and the docs are made from them."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """How a command ended; `about` says it in words."""

    FINE = 0
    LIMIT = 1
    USAGE = 2
    DATA = 3
    UNTRUSTED = 4
    BUG = 70
    SCARCE = 71
    INTERRUPTED = 130
    PIPE = 141

    @property
    def about(self) -> str:
        """What the code means."""
        return _MEANINGS[self]


_MEANINGS = {
    Exit.FINE: "fine",
    Exit.LIMIT: "a limit of the policy is not met, or the same people were released before; nothing was released",
    Exit.USAGE: "the command was typed wrongly",
    Exit.DATA: "a problem with the data or a file: damaged, changed while it was read, a full disk",
    Exit.UNTRUSTED: "the audit cannot be trusted: a canary failed",
    Exit.BUG: "a bug in sfumato, or in a library below it",
    Exit.SCARCE: "not enough memory, threads or open files, or too low a limit on the address space",
    Exit.INTERRUPTED: "interrupted; nothing was left half-written",
    Exit.PIPE: "whoever read the output has gone, as in `sfumato methods | head`",
}


def exit_table() -> str:
    """Return the table for the docs.

    Examples
    --------
    >>> print(exit_table().splitlines()[2])
    | 0 | fine |
    """
    return "\n".join(["| code | meaning |", "|---|---|", *(f"| {code.value} | {code.about} |" for code in Exit)])
