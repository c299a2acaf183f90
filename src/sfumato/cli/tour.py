"""The tour: every method on the demo table, what it keeps and what it hides."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from sfumato._arrays import Floats
from sfumato.auditing.model import Audit
from sfumato.core.keys import Key
from sfumato.datasets import CONFIDENTIAL, demo_table
from sfumato.exceptions import SfumatoWarning
from sfumato.files.entire import read_table
from sfumato.files.opening import open_source
from sfumato.metrics import hiding_failure, min_variance_security, misclassification_rate
from sfumato.perturb.catalogue import methods
from sfumato.perturb.catalogue.entries import Method
from sfumato.pipeline.audited import audit_files
from sfumato.pipeline.release import release
from sfumato.receipts.body import original_rows, release_places
from sfumato.receipts.shown import Receipt

DRAWS = 1  # of the usual six: the first draw, untried; a demo shall not take a minute
# what release_demo does, as typed
FLAGS = ("-m", "exchange", "--set", f"draws={DRAWS}", "--id", "customer_id", "--force")
_SHOWN = 5  # rows
_K = 5  # the table was made with five kinds of customers


@dataclass(frozen=True)
class Line:
    """One method on the demo table.

    Attributes
    ----------
    id, name : str
    misclassified : float
        Share of rows that k-means puts into another cluster than before.
    security : float
        Smallest Var(x - y)/Var(x) of the columns.
    unchanged : float
        Share of rows released as they are.
    breaks : str
        The cheapest attack that undoes it.
    """

    id: str
    name: str
    misclassified: float
    security: float
    unchanged: float
    breaks: str


def tour(key: Key, on_line: Callable[[Line], None] | None = None) -> list[Line]:
    """Run every method on the numbers of the demo table, with its default parameters, but for those that take long.

    Parameters
    ----------
    on_line : callable, optional
        Called with each line as it is ready.
    """
    table = demo_table()
    original = table.select(CONFIDENTIAL).to_numpy().astype(np.float64)
    before = _clusters(original)
    lines = []
    for row, perturber in _perturbers(key):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SfumatoWarning)
            released = perturber.fit_transform(table).select(CONFIDENTIAL).to_numpy().astype(np.float64)
        held = perturber.held_back_rows()
        left = np.delete(original, held, axis=0)
        line = Line(
            row.id,
            row.name,
            misclassification_rate(_clusters(left) if held else before, _clusters(released)),
            min_variance_security(left, released),
            hiding_failure(left, released),
            next((one.text for one in row.known_breaks if not one.when), "none known to us"),
        )
        lines.append(line)
        if on_line is not None:
            on_line(line)
    return lines


def release_demo(
    table: Path, target: Path, key: Path, progress: Callable[[str, float], None] | None = None
) -> tuple[Receipt, Audit]:
    """Release the demo table, texts and dates and all, with the method that takes them, and attack the release.

    Parameters
    ----------
    table : Path
        See `sfumato.datasets.write_demo`.
    target : Path
        The file to write; an existing one is replaced.
    key : Path
        The key file; an existing one is used.
    progress : callable, optional
    """
    done = release(
        table,
        target,
        key=key,
        identifier=["customer_id"],
        method="exchange",
        parameters={"draws": DRAWS},
        force=True,
    )
    body = done.body
    found = audit_files(
        open_source(table),
        open_source(target),
        Key.load(key),
        body,
        trusted=True,
        clusters=range(4, 7),
        progress=progress,
    )
    return done, found


def rows_before_and_after(table: Path, done: Receipt) -> str:
    """Return the first rows of the demo table, and below each the row that stands in its place in the release.

    Nobody but the holder of the key knows which row that is, and nobody in this table exists.

    Parameters
    ----------
    done : Receipt
        Of its release.
    """
    assert done.key_path is not None
    before = read_table(table).select(done.body.released_columns)
    after = read_table(done.target)
    rows = original_rows(done.body, np.arange(_SHOWN))
    places = release_places(Key.load(done.key_path), done.body, np.arange(_SHOWN))
    lines = [["", *before.columns]]
    for row, place in zip(rows, places, strict=True):
        lines.append(["before", *_texts(before.row(int(row)))])
        lines.append(["after", *_texts(after.row(int(place)))])
    widths = [max(len(cells[column]) for cells in lines) for column in range(len(lines[0]))]
    shown = ["  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) for cells in lines]
    told = f"{_SHOWN} customers, and the rows in their place (only the key knows which ones they are):"
    return "\n".join([told, *(line.rstrip() for line in shown)])


def _texts(cells: Sequence[Any]) -> list[str]:
    return ["-" if cell is None else str(cell) for cell in cells]


def _perturbers(key: Key) -> Iterator[tuple[Method, Any]]:
    for row in methods():
        if row.row_preserving and not row.wraps and not row.draws_rows:  # drawn rows have no row of the table
            yield row, row.load()(key=key, columns=list(CONFIDENTIAL), **row.quick)


def _clusters(table: Floats) -> NDArray[np.int32]:
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    labels: NDArray[np.int32] = KMeans(_K, n_init=10, random_state=0).fit_predict(scaled)
    return labels
