"""Which files this process has put in place: so that whoever says "nothing was written" can know it."""

from __future__ import annotations

from pathlib import Path

_written: list[Path] = []


def note_written(path: Path) -> None:
    """Remember a file that stands in its place now."""
    _written.append(path)


def written_files() -> tuple[Path, ...]:
    """Return the files that were put in place and are still there, in order, each once."""
    return tuple(path for path in dict.fromkeys(_written) if path.exists())
