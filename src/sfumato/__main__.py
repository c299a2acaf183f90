"""`sfumato` and `python -m sfumato` are the command line; here stands what is said when not even that can be loaded."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line."""
    try:
        from sfumato.cli import main as command_line
    except KeyboardInterrupt:
        _end("interrupted, nothing was left half-written", 130)
    except BaseException as error:  # noqa: BLE001  # nothing of a table has been read: a library's words quote nothing
        scarce = isinstance(error, MemoryError | OSError | SystemError) or "memory" in str(error)
        _end(f"error: its own files cannot be loaded: {str(error)[:300] or type(error).__name__}", 71 if scarce else 70)
    command_line()


def _end(said: str, code: int) -> None:
    sys.stderr.write(f"sfumato: {said}\n")
    sys.stderr.flush()
    os._exit(code)  # nothing is open yet


if __name__ == "__main__":
    main()
