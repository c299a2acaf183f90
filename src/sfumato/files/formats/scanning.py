"""Parquet and Arrow files as polars reads them bit by bit: the one file of a name, and its own columns.

polars takes `[`, `*` and `?` in a name for a pattern and reads what matches it, which may be the file of somebody
else. Here a name is a name, and folders called `year=2024` are no columns.
"""

from __future__ import annotations

import glob
from pathlib import Path

import polars as pl


def scanned(file: Path, kind: str) -> pl.LazyFrame:
    """Return the rows of one file, unread.

    Parameters
    ----------
    kind : "parquet" or "arrow"

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("a", "[a]"):
    ...         pl.DataFrame({"who": [name]}).write_parquet(Path(folder) / f"{name}.parquet")
    ...     scanned(Path(folder) / "[a].parquet", "parquet").collect().item()
    '[a]'
    """
    # a path, not its letters: a name need not be text
    named = Path(glob.escape(str(file.absolute())))
    scan = pl.scan_parquet if kind == "parquet" else pl.scan_ipc
    return scan(named, hive_partitioning=False)
