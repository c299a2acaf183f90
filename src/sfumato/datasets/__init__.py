"""The table that ships with sfumato: 3,000 customers of a bank that does not exist."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

from sfumato.files.formats.csv_table import read_csv
from sfumato.files.storage.outputs import write_atomically

__all__ = ["CONFIDENTIAL", "demo_table", "write_demo"]

CONFIDENTIAL = ("age", "income", "balance", "card_spending", "branch_visits", "loan")


def demo_table() -> Any:
    """Return the demo table without its identifier and its incomplete rows.

    Returns
    -------
    polars.DataFrame
        2,934 rows: the columns of `CONFIDENTIAL`, and `branch`.

    Examples
    --------
    >>> demo_table().shape
    (2934, 7)
    """
    with resources.as_file(resources.files(__name__) / "customers.csv") as path:
        return read_csv(path).drop("customer_id").drop_nulls()


def write_demo(path: Path) -> Path:
    """Write the demo table, whole, to a CSV file and return its path.

    Parameters
    ----------
    path : Path
        An existing file is replaced.
    """
    raw = (resources.files(__name__) / "customers.csv").read_bytes()
    write_atomically(path, lambda file: file.write(raw))
    return path
