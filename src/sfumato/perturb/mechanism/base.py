"""The scikit-learn shell that every perturber shares.

A method says three things: its *rounds* (which summaries it wants and what it makes of them), its *kernel*
(what happens to a block of rows), and, if it can be undone, its *inverse*. This class does the rest:
parameters, keys, tables of any library, streams, rounding of integer columns, and keeping secrets secret.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import validate_data

from sfumato._arrays import Floats
from sfumato.core.fast import compiled_kernels
from sfumato.core.keys import Key, canonical_bytes
from sfumato.core.numbers import whole_number
from sfumato.core.passes import Answer, Facts, Rounds, run_rounds, survey
from sfumato.core.rows import RowRange, Rows, without
from sfumato.core.sharing import shared_by
from sfumato.core.stream import STREAM_VERSION, Ledger, RowHasher, Streams, release_streams
from sfumato.core.tiles import tile_rows, workers
from sfumato.core.variates import AtOnce
from sfumato.exceptions import DataError, ParameterError
from sfumato.frames.frame import Frame, as_library, read_frame
from sfumato.perturb.catalogue import method
from sfumato.perturb.catalogue.entries import Method
from sfumato.perturb.mechanism.checks import (
    UnchangedCells,
    check_facts,
    check_size,
    choose_key,
    row_hashes,
    warn_held_back,
    warn_reused,
)
from sfumato.perturb.mechanism.parameters import check_parameter, check_release_name
from sfumato.perturb.mechanism.reading import Reading, read_batches, read_table
from sfumato.perturb.mechanism.releasing import Kernel, release_rows
from sfumato.perturb.mechanism.shown import Shown
from sfumato.perturb.mechanism.state import FittedState, SecretState


class Perturber(Shown, SecretState, OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
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
    exchanges: ClassVar[bool] = False  # whether rows take one another's values: then equal cells are no defect
    noise_by_row: ClassVar[bool] = False  # whether a row is its values and noise of its own: then updates keep it
    meets: ClassVar[bool] = False  # whether rows are released in groups: then the fitted state is a `Grouping`

    _gaps: Mapping[str, float] = MappingProxyType({})  # what stands for a missing cell, told by whoever reads the table

    key: Key | None
    release: str
    insecure_seed: int | None
    columns: Sequence[str | int] | None

    # ---- what a method says of itself -------------------------------------------------------------------

    @abstractmethod
    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        """Yield the summaries the method wants and return its fitted state."""

    def _whole_rounds(self, facts: Facts, streams: Streams) -> Rounds:
        """Do the same for a table in memory: methods whose rows meet in groups release it here."""
        return self._rounds(facts, streams)

    def _exposed_rounds(self, facts: Facts, streams: Streams) -> Rounds | None:
        """Yield the summaries that find rows which must not be released, and return their numbers, sorted.

        None: the method releases every row.
        """
        return None

    @property
    def _fewest_rows(self) -> int:
        """How many rows a table has at least that is handed out."""
        return 0

    def _rows_drawn(self, fitted: Any) -> int | None:
        """Return how many rows are released, of methods that draw them; None for one for each row."""
        return None

    @abstractmethod
    def _kernel(self, fitted: Any, tile: Floats, rows: Rows, streams: Streams) -> Floats:
        """Return the released tile; may overwrite the one it is given."""

    def _at_once(self, fitted: Any, fast: Any, streams: Streams) -> AtOnce | None:
        """Return the kernel of a whole piece of an array in one compiled call; None where there is none.

        It gives the same bits as `_kernel`, without tiles between the two arrays.
        """
        return None

    def _names_out(self, names: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return new column names if the released columns are not the original ones."""
        return None

    @property
    def tier(self) -> str:
        """Say "row" if rows are perturbed one by one, "group" if they meet in groups, "table" if they need all rows.

        Wrappers ask the method inside.
        """
        inner = getattr(self, "perturber", None)
        return self.catalogue_row().tier if inner is None else str(inner.tier)

    @classmethod
    def catalogue_row(cls) -> Method:
        """Return the method's row in the catalogue."""
        return method(cls.method_id)

    # ---- fitting ----------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, threads: int | None = None, n_jobs: int | None = None) -> Self:
        """Learn what the method needs to know about a table.

        Parameters
        ----------
        X : dataframe or array of shape (n, d)
            The table, whole.
        y : ignored
            Present for scikit-learn's sake. Default: None.
        threads, n_jobs : int, optional
            Workers; the result does not depend on it. `n_jobs` is scikit-learn's name for it, and -1 means one for each
            processor. Default: one for each processor that the process may use.
        """
        shared = workers(threads, n_jobs)
        with shared_by(shared):
            self._fit_frame(read_frame(X, self.columns, finite=False), shared)
        return self._forgotten()

    def fit_transform(self, X: Any, y: Any = None, *, threads: int | None = None, n_jobs: int | None = None) -> Any:
        """Fit on a table and perturb it: `fit`, then `transform`, reading the table a few times less.

        Parameters
        ----------
        X : dataframe or array of shape (n, d)
            The table, whole.
        y : ignored
            Present for scikit-learn's sake. Default: None.
        threads, n_jobs : int, optional
            Workers; the result does not depend on it. `n_jobs` is scikit-learn's name for it, and -1 means one for each
            processor. Default: one for each processor that the process may use.
        """
        frame = read_frame(X, self.columns, finite=False)
        shared = workers(threads, n_jobs)
        with shared_by(shared):
            warn_reused(self._fit_frame(frame, shared), 0)
        state = self._state
        if len(state.held_back):
            frame = frame.without(state.held_back)
        released = self._release(frame, state, state.streams, shared)
        self._forgotten()
        return released

    def _fit_frame(self, frame: Frame, threads: int) -> int:
        hashes = self._fit(read_table(frame, threads)).hashes
        assert hashes is not None
        validate_data(self, X=frame.native, skip_check_array=True)
        # the rows of the fitted table are known: any other value under their numbers is noticed at once
        return self._state.ledger.reused(0, hashes)

    def fit_batches(
        self,
        batches: Iterable[Any] | Callable[[], Iterable[Any]],
        *,
        threads: int | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Fit on a table that comes in batches, in order, with the result of one call of `fit` on the whole.

        Parameters
        ----------
        batches : iterable of tables that can be read again, or a function that returns one
            The method reads it several times.
        threads, n_jobs : int, optional
            Workers; the result does not depend on it. `n_jobs` is scikit-learn's name for it, and -1 means one for each
            processor. Default: one for each processor that the process may use.
        """
        shared = workers(threads, n_jobs)
        with shared_by(shared):
            table = read_batches(batches, self.columns, shared, type(self).__name__)
            self._fit(table)
        validate_data(self, X=table.shape.native, skip_check_array=True)
        return self._forgotten()

    def _fit(self, table: Reading) -> Reading:
        """Fit, and return the table of the rows that are released."""
        self._check_parameters()
        names = table.shape.names
        if len(names) < self.min_columns:
            raise DataError(
                f"{type(self).__name__}: Found array with {len(names)} feature(s) "
                f"(shape=({len(table.shape)}, {len(names)})) while a minimum of {self.min_columns} is required.",
                hint="choose more columns",
            )
        key = choose_key(self.key, self.insecure_seed, type(self).__name__)
        hasher = RowHasher(key.derive("fingerprint", STREAM_VERSION), names)
        facts = table.survey(hasher)
        if not np.isfinite([facts.low, facts.high]).all():
            table.shape.require_finite()  # says which cell
        check_facts(facts, type(self).__name__)
        streams = self._streams_for(key, facts.fingerprint)
        held = self._held_back(facts, streams, table.fill)
        if len(held):
            table = table.without(held)
            facts = table.survey(hasher)
            streams = self._streams_for(key, facts.fingerprint)
        fitted = run_rounds(self._whole_rounds(facts, streams), table.fill, facts.n_rows)
        drawn = self._rows_drawn(fitted)
        if drawn is not None and drawn < facts.n_rows:  # the fit has seen all; only as many are released
            held = np.arange(drawn, facts.n_rows, dtype=np.int64)
            table = table.without(held)
            facts = table.survey(hasher)
            streams = self._streams_for(key, facts.fingerprint)
        settings = self._settings()
        ledger = Ledger()
        if self.__sklearn_is_fitted__():
            before = self._state
            if (before.key, before.settings, before.facts.fingerprint) == (key, settings, facts.fingerprint):
                ledger = before.ledger  # the same stream again: what it has been used for still counts
        self._state = FittedState(key, hasher, facts, settings, streams, fitted, ledger, held)
        return table

    def _held_back(self, facts: Facts, streams: Streams, answer: Answer) -> NDArray[np.int64]:
        """Return the numbers of the rows that must not be released."""
        rounds = self._exposed_rounds(facts, streams)
        if rounds is None:
            return np.empty(0, dtype=np.int64)
        held: NDArray[np.int64] = run_rounds(rounds, answer, facts.n_rows)
        if len(held):
            warn_held_back(len(held), facts.n_rows)
        return held

    def _check_parameters(self) -> None:
        for parameter in self.catalogue_row().parameters:
            check_parameter(parameter, getattr(self, parameter.name), owner=type(self).__name__)
        check_release_name(self.release, owner=type(self).__name__)

    def _streams_for(self, key: Key, fingerprint: bytes) -> Streams:
        return release_streams(
            key, release=self.release, method=self.method_id, parameters=self._own_parameters(), table=fingerprint
        )

    def _settings(self) -> bytes:
        """Return what decides a stream besides key and table, to notice parameters that change after the fit."""
        return canonical_bytes([self.release, self.method_id, self._own_parameters()])

    def _own_parameters(self) -> dict[str, Any]:
        values = {parameter.name: getattr(self, parameter.name) for parameter in self.catalogue_row().parameters}
        return {
            name: {value.method_id: value._own_parameters()} if isinstance(value, Perturber) else value
            for name, value in values.items()
        }

    def _notes(self, fitted: Any) -> tuple[str, ...]:
        """Return what the owner should know of a fitted table."""
        return ()

    # ---- releasing --------------------------------------------------------------------------------------

    def transform(
        self, X: Any, *, row_start: int | None = None, threads: int | None = None, n_jobs: int | None = None
    ) -> Any:
        """Perturb a table.

        Parameters
        ----------
        X : dataframe or array of shape (n, d)
            The fitted table, another table of the same columns (it gets noise of its own), or, with
            `row_start`, a batch of the fitted table.
        row_start : int, optional
            Absolute number of the first row of a batch of the fitted table.
        threads, n_jobs : int, optional
            Workers; the result does not depend on it. `n_jobs` is scikit-learn's name for it, and -1 means one for each
            processor. Default: one for each processor that the process may use.

        Returns
        -------
        table of the kind of X
            Other columns, order and index kept; integer columns rounded to integers.
        """
        state = self._fitted_state()
        shared = workers(threads, n_jobs)
        if row_start is not None:
            row_start = whole_number(row_start, "row_start", low=0)
        frame = self._read_like_fit(X, state, row_start or 0)
        if len(state.held_back) and (row_start is not None or len(frame) == state.facts.n_rows + len(state.held_back)):
            frame = frame.without(state.held_back)
            row_start = None if row_start is None else without(state.held_back, row_start, row_start)[1]
        streams = self._streams_of(frame, state, row_start, shared)
        return self._release(frame, state, streams, shared)

    def held_back_rows(self) -> tuple[int, ...]:
        """Return the numbers of the rows of the fitted table that are not released: the first row is 0.

        Only methods that keep clusterings hold rows back: those for which a clustering has next to no company.
        """
        return tuple(self._fitted_state().held_back.tolist())

    def used_key(self) -> Key:
        """Return the key of the fitted object (the fresh one when `key` was None)."""
        return self._fitted_state().key

    def _read_like_fit(self, X: Any, state: FittedState, row_start: int) -> Frame:
        frame = read_frame(X, self.columns, row_start=row_start)
        validate_data(self, X=frame.native, reset=False, skip_check_array=True)
        if frame.names != state.facts.names:
            raise DataError(
                f"{type(self).__name__}: the columns are {', '.join(frame.names)}, "
                f"but it was fitted on {', '.join(state.facts.names)}",
                hint="fit it on this table, or bring the columns into the order of the fit",
            )
        if len(frame) == 0:
            raise DataError("Found array with 0 sample(s) while a minimum of 1 is required.")
        return frame

    def _streams_of(self, frame: Frame, state: FittedState, row_start: int | None, threads: int) -> Streams:
        if row_start is None:
            hashes = np.empty(len(frame), dtype=np.uint64)
            facts = survey([frame], frame.names, frame.kinds, state.hasher, threads=threads, hashes=hashes)
            check_size(facts, type(self).__name__)
            if facts.fingerprint != state.facts.fingerprint:
                # another table needs noise of its own, bound to both: fitted elsewhere it has another scale
                return self._streams_for(state.key, state.facts.fingerprint + facts.fingerprint)
        elif self.tier == "table":
            raise ParameterError(
                f"{type(self).__name__}: row_start is for methods that perturb each row by itself; "
                "here a row depends on its neighbours",
                hint="pass the whole table to transform, without row_start",
            )
        start, n_rows = row_start or 0, state.facts.n_rows
        if start + len(frame) > n_rows:
            raise ParameterError(
                f"rows {start} to {start + len(frame) - 1} are not in the fitted table of {n_rows} rows",
                hint="row_start is for batches of the fitted table; leave it out to perturb another table",
            )
        if row_start is not None:
            hashes = row_hashes(frame, state.hasher)
        warn_reused(state.ledger.reused(start, hashes), start)
        return state.streams

    def _release(self, frame: Frame, state: FittedState, streams: Streams, threads: int) -> Any:
        fast = compiled_kernels(0)
        plain = type(frame.rows) is RowRange and frame.plain(0, 0) is not None
        at_once = self._at_once(state.fitted, fast, streams) if plain and fast is not None and fast.WORDS else None
        return self._map(frame, state, partial(self._kernel, state.fitted, streams=streams), threads, at_once)

    def _map(
        self, frame: Frame, state: FittedState, kernel: Kernel, threads: int, at_once: AtOnce | None = None
    ) -> Any:
        names = self._names_out(frame.names)
        kinds = state.facts.kinds if names is None else ("float64",) * len(names)
        same = names is None and not self.exchanges
        unchanged = UnchangedCells(frame, state.facts, self.method_id) if same else None
        rows_per_tile = max(1, len(frame)) if self.tier == "table" else tile_rows(len(frame.names))
        released = release_rows(frame, kinds, kernel, at_once, unchanged, rows_per_tile=rows_per_tile, threads=threads)
        wanted = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        rebuilt = frame.rebuild(released, names)
        return as_library(rebuilt, wanted) if wanted in {"pandas", "polars"} else rebuilt

    # ---- scikit-learn -----------------------------------------------------------------------------------

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the released columns.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of the fitted table, which must be those. Default: None.
        """
        every = super().get_feature_names_out(input_features)
        names = self._fitted_state().facts.names
        new = self._names_out(names)
        if new is None:
            return every
        return np.array([*(name for name in every if name not in names), *new], dtype=object)
