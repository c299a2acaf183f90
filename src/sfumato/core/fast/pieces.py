"""A whole piece of an array in one call: what a pass or a kernel does with its rows, some hundred at a time.

The rows are turned into columns that stay in the cache, worked on, and turned back. Nothing of the size of the piece
is allocated, and the interpreter's lock is asked for once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.fast.compile import compiled
from sfumato.core.fast.key_stream import WORDS, key_stream
from sfumato.core.fast.laws import add_table_law, add_uniform, draw_in_clusters, table_law
from sfumato.core.fast.products import add_product
from sfumato.core.fast.scores import whole_step
from sfumato.core.fast.summing import changed_cells, hash_rows, lane_sum, turn_back, turn_rows

# cells and rows that are turned at a time; columns 4,096 bytes apart would share their places in the cache
_CELLS, _MOST = 1 << 14, 504


@compiled
def _rows_at_a_time(d: int) -> int:
    return min(_MOST, max(8, _CELLS // d // 8 * 8))


@compiled
def _turned(rows: Any, start: int, most: int, tile: Any) -> int:
    part = rows[start : start + most]
    turn_rows(part, tile)
    return len(part)


@compiled
def _fold(values: Any, count: int, least: Any, most: Any) -> int:
    """Write the smallest and the largest of some values to the first places; return how many are no numbers.

    Halves are laid on one another: unlike one value after the other, that is done several at once.
    """
    missing = 0
    for i in range(count):
        missing += np.isnan(values[i])
        least[i] = most[i] = values[i]
    while count > 1:
        half = (count + 1) // 2
        for i in range(count - half):
            one, other = least[i], least[half + i]
            least[i] = other if other < one else one  # noqa: FURB136  # one instruction for several
            one, other = most[i], most[half + i]
            most[i] = other if other > one else one  # noqa: FURB136
        count = half
    return missing


@compiled
def _scratch(d: int) -> Any:
    step = _rows_at_a_time(d)
    return np.empty((d, step)), np.empty(step + 2 * WORDS, dtype=np.uint64), step


@compiled
def look_at_rows(
    rows: Any, multipliers: Any, spread: Any, lanes: Any, first: Any, low: Any, high: Any, hashes: Any, sums: Any
) -> None:
    """Do what `passes.Survey` does with a tile: ranges, the rows' hashes, and both lanes of their sum."""
    n, d = rows.shape
    step = _rows_at_a_time(d)
    tile, labels = np.empty((d, step)), np.empty(step, dtype=np.uint64)
    least, most = np.empty(step), np.empty(step)
    missing = np.zeros(d, dtype=np.int64)
    for start in range(0, n, step):
        m = _turned(rows, start, step, tile)
        for column in range(d):
            missing[column] += _fold(tile[column], m, least, most)
            low[column], high[column] = min(low[column], least[0]), max(high[column], most[0])
        here = hashes[start : start + m]
        hash_rows(tile, multipliers, spread, here)
        for i in range(m):
            labels[i] = np.uint64(first + start + i)
        for lane in range(2):
            sums[lane] += lane_sum(here, labels[:m], lanes[lane, 0], lanes[lane, 1], lanes[lane, 2])
    for column in range(d):
        if missing[column] > 0:
            low[column] = high[column] = np.nan
        low[column] += 0.0  # which of -0.0 and 0.0 is smaller depends on the order of the rows
        high[column] += 0.0


@compiled
def _steps(values: Any, count: int, middle: float, unit: float, steps: Any) -> Any:
    total, rest, square = np.int64(0), np.int64(0), np.int64(0)
    for i in range(count):
        scaled = (values[i] - middle) / unit
        nearest = np.rint(scaled)
        number = np.int64(nearest)
        steps[i] = np.int32(number)
        total += number
        square += number * number
        rest += np.int64(np.rint((scaled - nearest) * 2.0**22))
    return total, rest, square


@compiled
def moments_of_rows(rows: Any, middle: Any, unit: Any, cross: bool, sums: Any, rests: Any, products: Any) -> None:
    """Add the steps of whole rows, their rests and their products or squares; see `core.summaries.Moments`."""
    n, d = rows.shape
    step = _rows_at_a_time(d)
    tile = np.empty((d, step))
    steps = np.empty((d if cross else 1, step), dtype=np.int32)
    for start in range(0, n, step):
        m = _turned(rows, start, step, tile)
        for column in range(d):
            found = _steps(tile[column], m, middle[column], unit[column], steps[column if cross else 0])
            sums[column] += found[0]
            rests[column] += found[1]
            if not cross:
                products[0, column] += found[2]
        if cross:
            for a in range(d):
                _add_dots(steps, a, m, products)


@compiled
def _add_dots(steps: Any, a: int, m: int, products: Any) -> None:
    """Add the products of a column with itself and the columns before it, four of them a sweep."""
    one = steps[a]
    b = 0
    while b + 4 <= a + 1:
        w, x, y, z = steps[b], steps[b + 1], steps[b + 2], steps[b + 3]
        to_w, to_x, to_y, to_z = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        for i in range(m):
            value = np.int64(one[i])
            to_w += value * np.int64(w[i])
            to_x += value * np.int64(x[i])
            to_y += value * np.int64(y[i])
            to_z += value * np.int64(z[i])
        products[a, b] += to_w
        products[a, b + 1] += to_x
        products[a, b + 2] += to_y
        products[a, b + 3] += to_z
        b += 4
    while b <= a:
        other, total = steps[b], np.int64(0)
        for i in range(m):
            total += np.int64(one[i]) * np.int64(other[i])
        products[a, b] += total
        b += 1


@compiled
def _written(tile: Any, before: Any, after: Any, changed: Any) -> bool:
    finite = turn_back(tile, after)
    if len(changed) > 0:  # there is room for the counts: somebody asks
        changed_cells(before, after, changed)
    return finite


@compiled
def add_noise_to_rows(
    rows: Any, out: Any, keys: Any, first: int, uniform: bool, table: Any, scales: Any, changed: Any
) -> bool:
    """Write rows with noise of a law in every cell; tell whether all of them are finite, and count changed cells."""
    n, d = rows.shape
    tile, words, step = _scratch(d)
    finite = True
    for start in range(0, n, step):
        m = _turned(rows, start, step, tile)
        for column in range(d):
            skip = key_stream(keys[column], first + start, m, words)
            if uniform:
                add_uniform(tile[column, :m], words[skip : skip + m], scales[column])
            else:
                add_table_law(tile[column, :m], words[skip : skip + m], table, scales[column])
        finite &= _written(tile, rows[start : start + m], out[start : start + m], changed)
    return finite


@compiled
def add_correlated_to_rows(rows: Any, out: Any, keys: Any, first: int, table: Any, factor: Any, changed: Any) -> bool:
    """Write rows with factor times independent variates added; see `add_noise_to_rows`."""
    n, d = rows.shape
    step = _rows_at_a_time(d)
    tile, noise = np.zeros((d, step)), np.zeros((d, step))
    words = np.empty(step + 2 * WORDS, dtype=np.uint64)
    finite = True
    for start in range(0, n, step):
        m = _turned(rows, start, step, tile)
        for column in range(d):
            skip = key_stream(keys[column], first + start, m, words)
            table_law(words[skip : skip + m], table, noise[column, :m])
        add_product(factor, noise, tile)
        finite &= _written(tile, rows[start : start + m], out[start : start + m], changed)
    return finite


@compiled
def draw_rows_in_clusters(
    rows: Any, out: Any, keys: Any, first: int, ends: Any, cluster_of: Any, means: Any, radii: Any, changed: Any
) -> bool:
    """Write rows whose cells are drawn anew in the clusters of their columns; see `add_noise_to_rows`."""
    n, d = rows.shape
    tile, words, step = _scratch(d)
    finite = True
    for start in range(0, n, step):
        m = _turned(rows, start, step, tile)
        for column in range(d):
            skip = key_stream(keys[column], first + start, m, words)
            low, high = ends[column, 0], ends[column, 1]
            here = words[skip : skip + m]
            draw_in_clusters(tile[column, :m], here, low, high, cluster_of[column], means[column], radii[column])
        finite &= _written(tile, rows[start : start + m], out[start : start + m], changed)
    return finite


@compiled
def normal_steps(keys: Any, first: int, table: Any, unit: float, largest: float, out: Any) -> None:
    """Write normal numbers of columns, shape (d, n), in whole steps: those of the rows from `first` on."""
    d, n = out.shape
    words = np.empty(_MOST + 2 * WORDS, dtype=np.uint64)
    for column in range(d):
        for start in range(0, n, _MOST):
            here = out[column, start : start + _MOST]
            skip = key_stream(keys[column], first + start, len(here), words)
            table_law(words[skip : skip + len(here)], table, here)
            for i in range(len(here)):
                here[i] = whole_step(here[i], unit, largest)
