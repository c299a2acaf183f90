"""The private mixture: rows drawn from a mixture that is fitted with differential privacy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.core.keys import Key, derive
from sfumato.core.passes import Answer, Facts, Rounds
from sfumato.core.rows import Rows
from sfumato.core.stream import Streams
from sfumato.exceptions import DataError, ParameterError
from sfumato.frames.frame import Frame
from sfumato.perturb.mechanism.base import Perturber
from sfumato.perturb.mechanism.reading import Reading
from sfumato.perturb.mechanism.state import FittedState
from sfumato.perturb.private.counting import FAILURE, beyond_rounds
from sfumato.perturb.private.drawing import draw_rows
from sfumato.perturb.private.fitting import Mixture, Setting, mixture_rounds
from sfumato.perturb.private.noise import epsilon_of


class PrivateMixture(Perturber):
    """Draw new rows from a mixture that is fitted with (epsilon, delta)-differential privacy.

    Clipped values are counted and summed as whole numbers, discrete Gaussian noise of OpenDP is added, and everything
    after that, centres, covariances, categories and the rows themselves, is made of the noisy numbers alone. No
    released row belongs to a person of the table. docs/dp.md has the proof and what it does not cover.

    The noise is fresh at every fit: the same key does not give the same release again, and every fit spends epsilon
    once more.

    Parameters
    ----------
    epsilon : number
        How much one person may change the odds of any release, as a power of e. Default: 1.0.
    delta : number
        The chance that is left out of it; far below one in the number of people. Default: 1e-6.
    bounds : mapping from columns to (low, high), or one pair for all, optional
        Where the values of a column lie, known without looking at the table; values beyond are moved to the bounds.
        Of a column of categories: (0, number of the last one).
    search_bounds : bool
        Whether bounds that nobody gives are found privately, for a tenth of the budget. Default: False.
    count : "private" or "public"
        Whether the number of rows is noisy, too, or taken for known: then the guarantee is about people who are
        replaced, not left out, and all noise is twice as large. Default: "private".
    rows_per_person : int
        How many rows of a person count, with a record id; without one every row is a person. Default: 1.
    centres : int, optional
        How many centres rows are drawn around, from 4 to 64; by default as many as the noisy number of people carries.
    kinds : mapping from columns to str, optional
        "category" for columns that hold numbers of categories; the others hold numbers.
    key, release, insecure_seed, columns
        See `Perturber`. They decide nothing of the noise.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.random.default_rng(0).normal(size=(5000, 2)) + [[0.0, 10.0]]
    >>> made = PrivateMixture(epsilon=3.0, bounds=(-20.0, 20.0)).fit_transform(table)
    >>> bool(len(made) < 5000), bool(np.abs(made.mean(axis=0) - [0.0, 10.0]).max() < 0.5)
    (True, True)
    """

    method_id: ClassVar[str] = "dp"
    exchanges: ClassVar[bool] = True  # a cell that is equal to the original one is chance

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        bounds: Mapping[str, Sequence[float]] | Sequence[float] | None = None,
        search_bounds: bool = False,
        count: str = "private",
        rows_per_person: int = 1,
        kinds: Mapping[str, str] | None = None,
        *,
        centres: int | None = None,
        key: Key | None = None,
        release: str = "r0",
        insecure_seed: int | None = None,
        columns: Sequence[str | int] | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.search_bounds = search_bounds
        self.count = count
        self.rows_per_person = rows_per_person
        self.kinds = kinds
        self.centres = centres
        self.key = key
        self.release = release
        self.insecure_seed = insecure_seed
        self.columns = columns

    def bounds_of(self, name: str) -> tuple[float, float] | None:
        """Return the bounds of a column; None if they are to be found privately.

        Parameters
        ----------
        name : str
            The column.
        """
        given: Any = self.bounds
        if isinstance(given, Mapping):
            given = given.get(name)
        if given is None:
            if self.search_bounds:
                return None
            raise ParameterError(
                f"PrivateMixture: the bounds of column {name!r} are not known, and the table itself must not tell them",
                hint=f"[column.{name}] bounds = [low, high] in the policy, or bounds={{{name!r}: (low, high)}}; "
                "search_bounds=True finds them privately, for a tenth of the budget",
            )
        low, high = float(given[0]), float(given[1])
        if not (np.isfinite([low, high]).all() and low < high):
            raise ParameterError(
                f"PrivateMixture: the bounds of column {name!r} must be two numbers, the smaller first",
                hint="bounds are where a column's values can lie, known without looking at the table",
            )
        return low, high

    def _is_category(self, name: str) -> bool:
        return (self.kinds or {}).get(name) == "category"

    def _columns_of(self, names: Sequence[str]) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
        """Return the places of columns of numbers, and those of categories with how many each has."""
        numbers = tuple(place for place, name in enumerate(names) if not self._is_category(name))
        levels = []
        for place, name in enumerate(names):
            if self._is_category(name):
                bounds = self.bounds_of(name)
                if bounds is None:
                    raise ParameterError(
                        f"PrivateMixture: the categories of column {name!r} are not known",
                        hint=f"bounds={{{name!r}: (0, number of the last category)}}",
                    )
                levels.append((place, int(bounds[1]) + 1))
        if not numbers:
            raise DataError(
                "PrivateMixture: every column holds categories, and clusters are found in numbers",
                hint="protect at least one column of numbers, or choose another method",
            )
        return numbers, tuple(levels)

    def _fit(self, table: Reading) -> Reading:
        if table.shape.names != table.shape.all_names:
            raise ParameterError(
                "PrivateMixture: rows are drawn anew, and columns that pass through would be those of the old ones",
                hint="leave columns=... out, and give a table of nothing but the columns to be drawn",
            )
        return super()._fit(table)

    def _release(self, frame: Frame, state: FittedState, streams: Streams, threads: int) -> Any:
        return super()._release(frame.unnamed(), state, streams, threads)

    def _exposed_rounds(self, facts: Facts, streams: Streams) -> Rounds | None:
        return beyond_rounds(int(self.rows_per_person))

    def _held_back(self, facts: Facts, streams: Streams, answer: Answer) -> NDArray[np.int64]:
        return np.empty(0, dtype=np.int64)  # a table in memory has no record ids: every row is a person

    def _rows_drawn(self, fitted: Mixture) -> int | None:
        return fitted.rows

    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        # of the facts nothing is used but the names of the columns: all else is about the rows
        numbers, levels = self._columns_of(facts.names)
        bounds = np.array([self.bounds_of(facts.names[place]) or (np.nan, np.nan) for place in numbers])
        setting = Setting(
            numbers,
            bounds[:, 0],
            bounds[:, 1],
            levels,
            rows=int(self.rows_per_person) * (1 if self.count == "private" else 2),
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            private_count=self.count == "private",
            centres=self.centres,
        )
        return (yield from mixture_rounds(setting))

    def _kernel(self, fitted: Mixture, tile: Floats, rows: Rows, streams: Streams) -> Floats:
        # nothing of the tile but its shape: the row's number and a fresh seed decide
        return draw_rows(fitted, rows, Streams(derive(fitted.seed, "draw", streams.root)), len(tile))

    def _notes(self, fitted: Mixture) -> tuple[str, ...]:
        spent = epsilon_of(fitted.spent, self.delta * (1.0 - FAILURE))
        most = int(self.rows_per_person)
        whose = ("a row" if most == 1 else f"any {most} rows") + ", or a person with a record id"
        told = f"differentially private: epsilon {spent:.3g} of {self.epsilon:g}, delta {self.delta:g}, for {whose}"
        return (f"{told}; rows are drawn anew and belong to nobody",)
