"""The scikit-learn shell that every perturber shares.

A method says three things: its *rounds* (which summaries it wants and what it makes of them), its *kernel*
(what happens to a block of rows), and, if it can be undone, its *inverse*. This class does the rest:
parameters, keys, tables of any library, streams, rounding of integer columns, and keeping secrets secret.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from sfumato.core.fingerprint import RowHasher
from sfumato.core.keys import Key
from sfumato.core.ledger import Ledger
from sfumato.core.plan import Facts, Rounds, run_kernel, run_rounds, survey, tile_rows
from sfumato.core.rows import Rows
from sfumato.core.secret import Secret
from sfumato.core.stream import STREAM_VERSION, Streams, release_streams
from sfumato.exceptions import (
    ConstantColumnWarning,
    DataError,
    NoiseReuseWarning,
    ParameterError,
    SecretStateError,
)
from sfumato.perturb.catalogue import method
from sfumato.perturb.entries import Method
from sfumato.perturb.finish import empty_column, finish_column
from sfumato.perturb.parameters import check_parameter
from sfumato.table.frames import Frame, as_library, read_frame

__all__ = ["Invertible", "Perturber"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _State:
    """Everything a fitted perturber knows; one private object, because scikit-learn prints what ends in `_`."""

    key: Key
    hasher: RowHasher
    facts: Facts
    kinds: tuple[str, ...]
    streams: Streams
    fitted: Any
    ledger: Ledger

    def __repr__(self) -> str:
        return "<hidden>"


class Perturber(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of all perturbation methods.

    Parameters
    ----------
    key : Key, optional
        The secret; None makes a fresh one at each fit, kept in the fitted object (`used_key`).
    release : str
        Name of the release, mixed into every stream.
    insecure_seed : int, optional
        For tests only: a key made from an integer, which anyone can find by trying.
    columns : sequence of str or int, optional
        The columns to perturb, by name or position; the others pass through as they are. None takes all.
    """

    method_id: ClassVar[str]
    min_columns: ClassVar[int] = 1

    key: Key | None
    release: str
    insecure_seed: int | None
    columns: Sequence[str | int] | None

    # ---- what a method says of itself -------------------------------------------------------------------

    @abstractmethod
    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        """Yield the summaries the method wants and return its fitted state."""

    @abstractmethod
    def _kernel(self, fitted: Any, tile: Floats, rows: Rows, streams: Streams) -> Floats:
        """Return the released tile; may overwrite the one it is given."""

    def _names_out(self, names: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return new column names if the released columns are not the original ones."""
        return None

    @property
    def tier(self) -> str:
        """Say "row" if each row is perturbed by itself, "table" if rows depend on one another."""
        return self.catalogue_row().tier

    @classmethod
    def catalogue_row(cls) -> Method:
        """Return the method's row in the catalogue."""
        return method(cls.method_id)

    # ---- fitting ----------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, threads: int = 1) -> Self:
        """Learn what the method needs to know about a table.

        Parameters
        ----------
        X : dataframe or array of shape (n, d)
        y : ignored
        threads : int
            Workers; the result does not depend on it.

        Returns
        -------
        self
        """
        frame = read_frame(X, self.columns)
        validate_data(self, X=frame.native, skip_check_array=True)
        return self._fit(lambda: [frame], frame, threads)

    def fit_batches(self, batches: Iterable[Any] | Callable[[], Iterable[Any]], *, threads: int = 1) -> Self:
        """Fit on a table that comes in batches, in order, with the result of one call of `fit` on the whole.

        Parameters
        ----------
        batches : iterable of tables that can be read again, or a function that returns one
            The method reads it several times.
        threads : int

        Returns
        -------
        self
        """
        if not callable(batches) and iter(batches) is batches:
            raise ParameterError(
                f"{type(self).__name__}: fit_batches reads the table several times, and an iterator can be read once",
                hint="pass a list, or a function that starts a new iteration: fit_batches(lambda: read('file.csv'))",
            )

        def read() -> Iterable[Frame]:
            start = 0
            for table in batches() if callable(batches) else batches:
                frame = read_frame(table, self.columns, row_start=start, what=f"the batch at row {start}")
                start += len(frame)
                yield frame

        first: Frame | None = None
        kinds: tuple[str, ...] = ()
        for frame in read():
            if first is None:
                first, kinds = frame, frame.kinds
                validate_data(self, X=frame.native, skip_check_array=True)
            elif frame.names != first.names:
                raise DataError(f"the batches do not have the same columns: {frame.names} after {first.names}")
            kinds = tuple(a if a == b else "float64" for a, b in zip(kinds, frame.kinds, strict=True))
        if first is None:
            raise DataError("no batches: the table is empty", hint="check the source")
        return self._fit(read, Frame(first.names, kinds, [], first.rows, first.all_names, None), threads)

    def _fit(self, read: Callable[[], Iterable[Frame]], shape: Frame, threads: int) -> Self:
        self._check_parameters()
        if len(shape.names) < self.min_columns:
            raise DataError(
                f"{type(self).__name__}: Found array with {len(shape.names)} feature(s) "
                f"(shape=({len(shape)}, {len(shape.names)})) while a minimum of {self.min_columns} is required.",
                hint="choose more columns",
            )
        key = self._choose_key()
        hasher = RowHasher(key.derive("fingerprint", STREAM_VERSION), shape.names)
        facts = survey(read(), shape.names, shape.integer, hasher, threads=threads)
        self._check_facts(facts)
        streams = self._streams_for(key, facts.fingerprint)
        fitted = run_rounds(self._rounds(facts, streams), read, facts.n_rows, threads=threads)
        self._state = _State(key, hasher, facts, shape.kinds, streams, fitted, Ledger())
        return self

    def _check_parameters(self) -> None:
        for parameter in self.catalogue_row().parameters:
            check_parameter(parameter, getattr(self, parameter.name), owner=type(self).__name__)
        if not isinstance(self.release, str):
            raise ParameterError(
                f"{type(self).__name__}: release must be a name (str), got {type(self.release).__name__}"
            )

    def _check_facts(self, facts: Facts) -> None:
        if facts.n_rows < 2:
            raise DataError(
                f"{type(self).__name__}: Found array with {facts.n_rows} sample(s) "
                f"(shape=({facts.n_rows}, {facts.n_columns})) while a minimum of 2 is required "
                f"(n_samples={facts.n_rows}).",
                hint="a table of fewer than two rows has no clusters to keep",
            )
        largest = np.maximum(-facts.low, facts.high)
        large = [name for name, value in zip(facts.names, largest, strict=True) if value > 1e150]
        if large:
            raise DataError(
                f"{type(self).__name__}: column {large[0]!r} holds values beyond 1e150, which cannot be squared",
                hint="use another unit for the column",
            )
        constant = [name for name, low, high in zip(facts.names, facts.low, facts.high, strict=True) if low == high]
        if constant:
            warnings.warn(
                f"{len(constant)} constant column(s): {', '.join(constant[:5])}{' ...' if len(constant) > 5 else ''}. "
                "Noise that counts in ranges or standard deviations leaves them as they are.",
                ConstantColumnWarning,
                stacklevel=4,
            )

    def _choose_key(self) -> Key:
        if self.insecure_seed is not None:
            if self.key is not None:
                raise ParameterError(
                    f"{type(self).__name__}: give key or insecure_seed, not both",
                    hint="insecure_seed is for tests only",
                )
            return Key.from_insecure_seed(self.insecure_seed)
        if self.key is None:
            return Key.generate()
        if not isinstance(self.key, Key):
            raise ParameterError(
                f"{type(self).__name__}: key must be a sfumato.Key or None, got {type(self.key).__name__}",
                hint="use sfumato.Key.generate() or sfumato.Key.load(path)",
            )
        return self.key

    def _streams_for(self, key: Key, fingerprint: bytes) -> Streams:
        return release_streams(
            key, release=self.release, method=self.method_id, parameters=self._own_parameters(), table=fingerprint
        )

    def _own_parameters(self) -> dict[str, Any]:
        values = {parameter.name: getattr(self, parameter.name) for parameter in self.catalogue_row().parameters}
        return {
            name: {value.method_id: value._own_parameters()} if isinstance(value, Perturber) else value
            for name, value in values.items()
        }

    # ---- releasing --------------------------------------------------------------------------------------

    def transform(self, X: Any, *, row_start: int | None = None, threads: int = 1) -> Any:
        """Perturb a table.

        Parameters
        ----------
        X : dataframe or array of shape (n, d)
            The fitted table, another table of the same columns (it gets noise of its own), or, with
            `row_start`, a batch of the fitted table.
        row_start : int, optional
            Absolute number of the first row of a batch of the fitted table.
        threads : int
            Workers; the result does not depend on it.

        Returns
        -------
        table of the kind of X
            Other columns, order and index kept; integer columns rounded to integers.
        """
        state = self._fitted_state()
        frame = self._read_like_fit(X, state, row_start or 0)
        streams = self._streams_of(frame, state, row_start)
        return self._map(frame, state, lambda tile, rows: self._kernel(state.fitted, tile, rows, streams), threads)

    def used_key(self) -> Key:
        """Return the key of the fitted object (the fresh one when `key` was None)."""
        return self._fitted_state().key

    def _read_like_fit(self, X: Any, state: _State, row_start: int) -> Frame:
        if row_start < 0:
            raise ParameterError(f"row_start must be 0 or more, got {row_start}")
        frame = read_frame(X, self.columns, row_start=row_start)
        validate_data(self, X=frame.native, reset=False, skip_check_array=True)
        if frame.names != state.facts.names:
            raise DataError(
                f"{type(self).__name__}: the columns are {', '.join(frame.names)}, "
                f"but it was fitted on {', '.join(state.facts.names)}",
                hint="fit it on this table, or bring the columns into the order of the fit",
            )
        if len(frame) == 0:
            raise DataError(
                f"Found array with 0 sample(s) (shape=(0, {len(frame.names)})) while a minimum of 1 is required."
            )
        return frame

    def _streams_of(self, frame: Frame, state: _State, row_start: int | None) -> Streams:
        if row_start is None:
            facts = survey([frame], frame.names, frame.integer, state.hasher)
            if facts.fingerprint != state.facts.fingerprint:
                # another table: with the fitted stream the difference of the two releases would have no noise
                return self._streams_for(state.key, facts.fingerprint)
        elif self.tier == "table":
            raise ParameterError(
                f"{type(self).__name__}: row_start is for methods that perturb each row by itself; "
                "here a row depends on its neighbours",
                hint="pass the whole table to transform, without row_start",
            )
        start = row_start or 0
        hashes = [state.hasher.rows(frame.tile(a, min(a + 65536, len(frame)))) for a in range(0, len(frame), 65536)]
        reused = state.ledger.reused(start, np.concatenate(hashes))
        if reused:
            warnings.warn(
                f"{reused} row number(s) from {start} on were released before with other values: the same noise on "
                "two values cancels in their difference. Use another release name, or the row numbers of the table.",
                NoiseReuseWarning,
                stacklevel=4,
            )
        return state.streams

    def _map(self, frame: Frame, state: _State, kernel: Callable[[Floats, Rows], Floats], threads: int) -> Any:
        names = self._names_out(frame.names)
        kinds = state.kinds if names is None else ("float64",) * len(names)
        released = [empty_column(kind, len(frame)) for kind in kinds]

        def write(start: int, stop: int, tile: Floats) -> None:
            for values, kind, target in zip(tile, kinds, released, strict=True):
                finish_column(values, kind, target[start:stop])

        rows_per_tile = len(frame) if self.tier == "table" else tile_rows(len(frame.names))
        run_kernel(kernel, frame, write, rows_per_tile=rows_per_tile, threads=threads)
        wanted = get_config()["transform_output"]
        wanted = getattr(self, "_sklearn_output_config", {}).get("transform", wanted)
        rebuilt = frame.rebuild(released, names)
        return as_library(rebuilt, wanted) if wanted in {"pandas", "polars"} else rebuilt

    # ---- scikit-learn -----------------------------------------------------------------------------------

    def _fitted_state(self) -> _State:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet.\nhint: call fit or fit_transform first"
            )
        return self._state

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in vars(self)

    def __setattr__(self, name: str, value: Any) -> None:
        # scikit-learn prints parameters: the ones that undo a release are held so that they do not show
        if value is not None and not isinstance(value, Secret) and name in _secret_names(type(self)):
            value = Secret(value)
        super().__setattr__(name, value)

    def __getstate__(self) -> Any:
        if self.__sklearn_is_fitted__():
            _refuse_pickle(type(self).__name__)
        return super().__getstate__()


class Invertible(Perturber):
    """A perturber that its owner can undo."""

    @abstractmethod
    def _inverse(self, fitted: Any, tile: Floats) -> Floats:
        """Return the original tile; may overwrite the one it is given."""

    def inverse_transform(self, X: Any) -> Any:
        """Return the originals of a released table (floats to rounding error; integers rounded).

        Parameters
        ----------
        X : released table

        Returns
        -------
        table of the kind of X
        """
        state = self._fitted_state()
        frame = self._read_like_fit(X, state, 0)
        return self._map(frame, state, lambda tile, _rows: self._inverse(state.fitted, tile), 1)


def _secret_names(cls: type[Perturber]) -> frozenset[str]:
    if "method_id" not in vars(cls) and not hasattr(cls, "method_id"):
        return frozenset()
    return frozenset(parameter.name for parameter in cls.catalogue_row().parameters if parameter.secret)


def _refuse_pickle(name: str) -> NoReturn:
    raise SecretStateError(
        f"a fitted {name} cannot be pickled: the pickle would hold the key and statistics of the originals",
        hint="pickle it unfitted, or keep the key with key.save(path): the same key gives the same release again",
    )
