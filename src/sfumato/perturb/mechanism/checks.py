"""What every method checks: its table before the fit, its arguments, and its release afterwards, which is rounded here.

Warnings point at the caller's line, however deep inside the library they arise.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.fast import compiled_kernels
from sfumato.core.keys import Key
from sfumato.core.numbers import beyond_chance
from sfumato.core.passes import Facts
from sfumato.core.stream import RowHasher
from sfumato.core.tiles import spans, tile_rows
from sfumato.exceptions import (
    ConstantColumnWarning,
    DataError,
    HeldBackWarning,
    NoiseReuseWarning,
    ParameterError,
    UnchangedCellsWarning,
)
from sfumato.frames.frame import Frame

_OURS = str(Path(__file__).parents[2])
_BETWEEN = (_OURS, str(Path(inspect.getfile(warnings)).parent / "contextlib.py"))
# integers come back as 64-bit ones: a perturbed value may leave the range of a smaller type
TYPES: dict[str, Any] = {"integer": np.int64, "float32": np.float32, "float64": np.float64}
_LARGEST = 2.0**62


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn with the place of the first line on the stack that is not of this package or of scikit-learn."""
    level, frame = 2, inspect.currentframe()
    frame = frame.f_back if frame else None
    while frame is not None and (
        frame.f_code.co_filename.startswith(_BETWEEN) or frame.f_globals.get("__name__", "").startswith("sklearn.")
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level - 1 if frame is None else level)


def check_facts(facts: Facts, owner: str) -> None:
    """Raise for tables that no method can take, and warn about constant columns."""
    if facts.n_rows < 2:
        raise DataError(
            f"{owner}: Found array with {facts.n_rows} sample(s) "
            f"(shape=({facts.n_rows}, {facts.n_columns})) while a minimum of 2 is required "
            f"(n_samples={facts.n_rows}).",
            hint="a table of fewer than two rows has no clusters to keep",
        )
    check_size(facts, owner)
    constant = [name for name, low, high in zip(facts.names, facts.low, facts.high, strict=True) if low == high]
    if constant:
        warn_caller(
            f"{len(constant)} constant column(s): {', '.join(constant[:5])}{' ...' if len(constant) > 5 else ''}. "
            "Noise that counts in ranges or standard deviations leaves them as they are.",
            ConstantColumnWarning,
        )


def choose_key(key: Any, insecure_seed: int | None, owner: str) -> Key:
    """Return the key of a fit: the one that was given, one for tests, or a fresh one.

    Parameters
    ----------
    key : Key, optional
    insecure_seed : int, optional
        For tests only.
    owner : str
        Who fits, for errors.
    """
    if insecure_seed is not None:
        if key is not None:
            raise ParameterError(
                f"{owner}: give key or insecure_seed, not both", hint="insecure_seed is for tests only"
            )
        return Key.from_insecure_seed(insecure_seed)
    if key is None:
        return Key.generate()
    if not isinstance(key, Key):
        raise ParameterError(
            f"{owner}: key must be a sfumato.Key or None, got {type(key).__name__}",
            hint="use sfumato.Key.generate() or sfumato.Key.load(path)",
        )
    return key


def check_columns(facts: Facts, inner: str, least: int) -> None:
    """Raise for tables with fewer columns than a wrapped method needs."""
    if facts.n_columns < least:
        raise ParameterError(f"{inner} needs {least} columns, got {facts.n_columns} feature(s)")


def check_size(facts: Facts, owner: str) -> None:
    """Raise for values that cannot be squared: their squares are no numbers any more, or vanish."""
    spread = facts.high - facts.low
    small = [name for name, value in zip(facts.names, spread, strict=True) if 0 < value < 1e-304]
    if small:
        raise DataError(
            f"{owner}: the values of column {small[0]!r} differ by less than 1e-304, and noise that small vanishes",
            hint="use another unit for the column",
        )
    largest = np.maximum(-facts.low, facts.high)
    large = [name for name, value in zip(facts.names, largest, strict=True) if value > 1e150]
    if large:
        raise DataError(
            f"{owner}: column {large[0]!r} holds values beyond 1e150, which cannot be squared",
            hint="use another unit for the column",
        )


class UnchangedCells:
    """Finds columns of which most cells come out as they went in, beyond chance: rounding undoes small noise.

    Parameters
    ----------
    frame : Frame
        The table before.
    facts : Facts
        Constant columns are left out: they have a warning of their own.
    method_id : str
        In the catalogue, for advice.
    """

    def __init__(self, frame: Frame, facts: Facts, method_id: str) -> None:
        self._frame, self._method = frame, method_id
        self._changed = dict.fromkeys(np.flatnonzero(facts.high > facts.low).tolist(), 0)
        self._enough = len(frame) - len(frame) // 2  # with so many changed cells a column is fine
        self._lock = Lock()
        self._whole = frame.whole()

    @property
    def settled(self) -> bool:
        """Whether enough cells of every column have changed."""
        return all(changed >= self._enough for changed in self._changed.values())

    def look(self, start: int, stop: int, released: list[NDArray[Any]]) -> None:
        """Compare the rows start..stop-1, while they are in the cache; columns that are fine are skipped."""
        if self.settled:
            return
        after = released[0].base
        if self._whole is not None and after is not None:
            self.add(_changed(self._whole[start:stop], after[start:stop]))
            return
        for column, changed in list(self._changed.items()):
            if changed < self._enough:
                before = self._frame.columns[column][start:stop]
                count = int(np.count_nonzero(before != released[column][start:stop]))
                with self._lock:
                    self._changed[column] += count

    def add(self, different: NDArray[np.int64]) -> None:
        """Count cells of each column that somebody else has compared."""
        with self._lock:
            for column in self._changed:
                self._changed[column] += int(different[column])

    def warn(self) -> None:
        """Warn if there are such columns; call it when every row has been looked at."""
        n_rows = len(self._frame)
        few = [column for column, changed in self._changed.items() if changed < self._enough]
        same = [
            self._frame.names[column]
            for column in few
            if 2 * beyond_chance(n_rows - self._changed[column], np.asarray(self._frame.columns[column])) > n_rows
        ]
        if same:
            warn_caller(about_unchanged(same, self._method), UnchangedCellsWarning)


def _changed(before: NDArray[Any], after: NDArray[Any]) -> NDArray[np.int64]:
    """Count the cells of each column that differ: row by row, as arrays lie in memory."""
    fast = compiled_kernels(0)
    if fast is not None and all(one.dtype == np.float64 and one.flags.c_contiguous for one in (before, after)):
        counts = np.zeros(before.shape[1], dtype=np.int64)
        fast.changed_cells(before, after, counts)
        return counts
    return np.asarray(np.count_nonzero(before != after, axis=0))


def about_unchanged(names: Sequence[str], method_id: str) -> str:
    """Say which columns come out mostly as they went in, and what this method's owner can do.

    Parameters
    ----------
    names : sequence of str
        The columns.
    method_id : str
        In the catalogue.
    """
    from sfumato.perturb.catalogue import method  # its rows name the perturbers, which import this

    advice = method(method_id).hides_more
    reason = "Rounding undoes noise that is small against the step of a column: " if advice == "raise the noise" else ""
    what = f"{advice}, or choose another method" if advice else "choose another method"
    return (
        f"{len(names)} column(s) come out mostly as they went in: {', '.join(names[:5])}"
        f"{' ...' if len(names) > 5 else ''}. {reason or ''}{what if reason else what[:1].upper() + what[1:]}."
    )


def about_followed(names: Sequence[str]) -> str:
    """Say which columns mostly stay because the clusters follow them, where cells are exchanged inside clusters.

    Examples
    --------
    >>> about_followed(["sex"])[:84]
    'whoever knows the clusters of a person mostly knows sex: the kept clusters follow it'
    """
    listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return (
        f"whoever knows the clusters of a person mostly knows {listed}: the kept clusters follow "
        f"{'it' if len(names) == 1 else 'them'}. Codes that are taken for categories are followed less than numbers; "
        "a column that must not be told is better dropped"
    )


def warn_reused(count: int, start: int) -> None:
    """Warn that so many rows from `start` on were released before with other values."""
    if count:
        warn_caller(
            f"{count} row number(s) from {start} on were released before with other values: the same noise on "
            "two values cancels in their difference. Use another release name, or the row numbers of the table.",
            NoiseReuseWarning,
        )


def warn_held_back(count: int, n_rows: int) -> None:
    """Warn that so many rows of a table are not released."""
    warn_caller(f"{about_held_back(count, n_rows)}; held_back_rows() lists them", HeldBackWarning)


def about_held_back(count: int, n_rows: int) -> str:
    """Say how many rows of a table are not released, and why.

    Parameters
    ----------
    n_rows : int
        Of the whole table.

    Examples
    --------
    >>> about_held_back(3, 1000)
    '3 of 1,000 rows (0.30 %) are held back: fewer than ten people are near them'
    """
    share = f"{100 * count / n_rows:.2f} %"
    return f"{count:,} of {n_rows:,} rows ({share}) are held back: fewer than ten people are near them"


def row_hashes(frame: Frame, hasher: RowHasher) -> NDArray[np.uint64]:
    """Return a keyed hash for each row of a frame."""
    out = np.empty(len(frame), dtype=np.uint64)
    for start, stop in spans(len(frame), tile_rows(len(frame.names))):
        out[start:stop] = hasher.rows(frame.tile(start, stop))
    return out


def finish_values(values: NDArray[np.float64], kind: str, target: NDArray[Any]) -> None:
    """Write released values of one or several columns into arrays of their own type: integers by rounding half to even.

    Parameters
    ----------
    target : array of the same shape

    Examples
    --------
    >>> out = np.empty(3, dtype=TYPES["integer"])
    >>> finish_values(np.array([1.2, 2.5, -0.7]), "integer", out)
    >>> out.tolist()
    [1, 2, -1]
    """
    if kind == "integer":
        rounded = np.rint(values)
        if not (np.abs(rounded) <= _LARGEST).all():  # also false for NaN
            raise DataError("a perturbed integer does not fit in 64 bits", hint="convert the column to floats first")
        target[...] = rounded
        return
    fast = compiled_kernels(0) if kind == "float64" and values.ndim == 2 and target.T.flags.c_contiguous else None
    if fast is not None:
        finite = fast.turn_back(np.ascontiguousarray(values), target.T)
    else:
        with np.errstate(over="ignore"):
            target[...] = values
        finite = bool(np.isfinite(values if kind == "float64" else target).all())
    if not finite:
        raise does_not_fit(kind)


def does_not_fit(kind: str) -> DataError:
    """Return the error of a released value that is no number of its column's type."""
    return DataError(
        f"a perturbed value does not fit in a {kind} column", hint="use smaller parameters or another unit"
    )
