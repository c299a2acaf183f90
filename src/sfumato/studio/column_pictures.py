"""Single columns before and after, as counts, and a few rows of the release: what a person looks at last."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._arrays import Floats
from sfumato.studio.prepared import Prepared

SHOWN_ROWS = 20
_BINS = 40
_MOST_BARS = 15
_MOST_LETTERS = 60


def column_pictures(prepared: Prepared, released: Floats) -> list[dict[str, Any]]:
    """Return each column before and after: a histogram of numbers, or bars of categories, ranks and dates.

    Parameters
    ----------
    released : array of shape (n, d)
        The first rows, released.
    """
    out = []
    columns = zip(prepared.names, prepared.points.T, released.T, prepared.counted.gaps, strict=True)
    for name, left, right, gap in columns:
        if name in prepared.counted.coding.codes:
            out.append({"name": name, **_bars(prepared, name, left, right)})
            continue
        if gap is not None:
            left, right = left[left != gap], right[right != gap]
        out.append({"name": name, **_histogram(left, right)})
    return out


def _histogram(left: Floats, right: Floats) -> dict[str, Any]:
    low, high = np.quantile(np.concatenate([left, right]), [0.002, 0.998])
    if not high > low:
        low, high = low - 0.5, low + 0.5
    edges = np.linspace(low, high, _BINS + 1)
    counts = [np.histogram(np.clip(part, low, high), edges)[0].tolist() for part in (left, right)]
    return {"low": float(low), "high": float(high), "before": counts[0], "after": counts[1]}


def _bars(prepared: Prepared, name: str, left: Floats, right: Floats) -> dict[str, Any]:
    """Return counts by value: the most frequent categories, or ranks and dates in their order."""
    codes = prepared.counted.coding.codes[name]
    values = codes.numbers
    texts = [str(level)[:_MOST_LETTERS] for level in codes.levels.to_list()]
    parts = [part if codes.gap is None else part[part != codes.gap] for part in (left, right)]
    counts = [np.bincount(np.searchsorted(values, part), minlength=len(values)) for part in parts]
    gone = [len(left) - len(parts[0]), len(right) - len(parts[1])]
    labels, before, after = _grouped(texts, counts, ordered=codes.kind != "category")
    if any(gone):
        labels, before, after = [*labels, "missing"], [*before, gone[0]], [*after, gone[1]]
    return {"labels": labels, "before": before, "after": after}


def _grouped(texts: list[str], counts: list[Any], *, ordered: bool) -> tuple[list[str], list[int], list[int]]:
    before, after = (part.astype(int) for part in counts)
    if len(texts) <= _MOST_BARS:
        return texts, before.tolist(), after.tolist()
    if ordered:  # neighbours share a bar
        parts = np.array_split(np.arange(len(texts)), _MOST_BARS)
        labels = [f"{texts[part[0]]} to {texts[part[-1]]}" for part in parts]
        return labels, [int(before[part].sum()) for part in parts], [int(after[part].sum()) for part in parts]
    order = np.argsort(-before, kind="stable")
    first, rest = order[: _MOST_BARS - 1], order[_MOST_BARS - 1 :]
    labels = [*(texts[place] for place in first), f"{len(rest)} others"]
    return (
        labels,
        [*before[first].tolist(), int(before[rest].sum())],
        [*after[first].tolist(), int(after[rest].sum())],
    )


def some_rows(prepared: Prepared, released: Floats, *, same_columns: bool) -> dict[str, Any]:
    """Return a few released rows as text, cell by cell; rows of the sample stand in random order.

    Parameters
    ----------
    same_columns : bool
        Whether released columns are the original ones.
    """
    rows = released[:SHOWN_ROWS]
    if not same_columns:
        names = [f"component {i + 1}" for i in range(released.shape[1])]
        return {"columns": names, "rows": [[f"{value:.4g}" for value in row] for row in rows]}
    table = prepared.counted.cells(rows)
    columns = [_texts(cells, decimals) for cells, decimals in zip(table.iter_columns(), prepared.decimals, strict=True)]
    return {"columns": list(table.columns), "rows": [list(row) for row in zip(*columns, strict=True)]}


def _texts(cells: Any, decimals: int | None) -> list[str]:
    """Return cells as a file would write them, long ones cut; a number of any digits has six."""

    def text(cell: Any) -> str:
        if cell is None:
            return ""
        if isinstance(cell, int | float) and not isinstance(cell, bool):
            return f"{cell:.6g}" if decimals is None else f"{cell:.{decimals}f}"
        return str(cell)[:_MOST_LETTERS]

    return [text(cell) for cell in cells.to_list()]
