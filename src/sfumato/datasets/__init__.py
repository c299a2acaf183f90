"""The table that ships with sfumato: 3,000 customers of a bank that does not exist."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

from sfumato.files.entire import read_csv
from sfumato.files.storage.outputs import write_atomically

__all__ = ["CONFIDENTIAL", "demo_table", "write_demo"]

CONFIDENTIAL = ("age", "income", "balance", "card_spending", "branch_visits", "loan")
_NUMBERS = 8  # columns of the table without texts, codes and dates: they come first


def demo_table(*, mixed: bool = False) -> Any:
    """Return the demo table without its identifier.

    Parameters
    ----------
    mixed : bool
        Whether it comes whole: with job, marital status, region, a code and a date, and with its missing cells.
        Default: False, the columns of `CONFIDENTIAL` and `branch`, complete rows only.

    Returns
    -------
    polars.DataFrame
        2,934 complete rows, or all 3,000.

    Examples
    --------
    >>> demo_table().shape, demo_table(mixed=True).shape
    ((2934, 7), (3000, 12))
    """
    with resources.as_file(resources.files(__name__) / "customers.csv") as path:
        table = read_csv(path).drop("customer_id")
    return table if mixed else table.select("branch", *CONFIDENTIAL).drop_nulls()


def write_demo(path: Path, *, mixed: bool = True) -> Path:
    """Write the demo table, with its identifier and its missing cells, to a CSV file and return its path.

    Parameters
    ----------
    path : Path
        An existing file is replaced.
    mixed : bool
        Whether it has job, marital status, region, a code and a date. Default: True.
    """
    raw = (resources.files(__name__) / "customers.csv").read_bytes()
    if not mixed:
        lines = raw.splitlines()
        raw = b"".join(b",".join(line.split(b",")[:_NUMBERS]) + b"\n" for line in lines)
    write_atomically(path, lambda file: file.write(raw))
    return path
