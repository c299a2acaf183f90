"""A perturber without its scikit-learn shell: what an engine needs to run any method on a table it holds.

The shell reads dataframes; an engine reads files, clusters or databases. Both ask the same rounds and the same
kernel, so that both reach the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.keys import Key
from sfumato.core.passes import Facts, Rounds
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden, Secret
from sfumato.core.stream import Streams
from sfumato.exceptions import DataError
from sfumato.perturb.mechanism.base import Perturber
from sfumato.perturb.mechanism.checks import check_facts
from sfumato.perturb.mechanism.grouping import Grouping
from sfumato.perturb.mechanism.invertible import Invertible
from sfumato.perturb.mechanism.state import load_state, save_state

Kernel = Callable[[Floats, Rows], Floats]


class KeyedMethod(Hidden):
    """One method with one key, ready for any engine.

    Parameters
    ----------
    perturber : Perturber
        Its parameters are used; not its key and columns: the engine hands it confidential columns only.
    release : str
        Name of the release.
    """

    def __init__(self, perturber: Perturber, key: Key, *, release: str = "r0") -> None:
        # one of its own: settling decimals must not change what the caller holds
        perturber = type(perturber)(**{**perturber.get_params(deep=False), "release": release})
        perturber._check_parameters()
        self._perturber = perturber
        self._key = key
        self._streams: Streams | None = None

    @property
    def perturber(self) -> Perturber:
        """The method, without its key."""
        return self._perturber

    def streams_root(self, facts: Facts) -> bytes:
        """Return the subkey of this release of a table, from which all its streams come."""
        return self._perturber._streams_for(self._key, facts.fingerprint).root

    @property
    def method(self) -> str:
        """Id of the method."""
        return self._perturber.method_id

    @property
    def tier(self) -> str:
        """Say "row" if rows are perturbed one by one, "group" if they meet in groups, "table" if they need all rows."""
        return self._perturber.tier

    @property
    def passes(self) -> int:
        """Passes over the data that a release takes, as far as the catalogue knows."""
        inner = getattr(self._perturber, "perturber", None)
        rows = [self._perturber.catalogue_row(), *([inner.catalogue_row()] if isinstance(inner, Perturber) else [])]
        # a method that needs the whole table only with these parameters takes a pass more to collect it
        return max(row.passes + (self.tier == "table" and row.tier == "row") for row in rows)

    @property
    def public(self) -> dict[str, Any]:
        """The method's parameters that may be shown."""
        return _public(self._perturber)

    @property
    def invertible(self) -> bool:
        """Whether the owner can undo it."""
        return isinstance(self._perturber, Invertible)

    @property
    def parameters(self) -> dict[str, Any]:
        """The method's parameters as plain values, secret ones included."""
        return {name: _plain(value) for name, value in self._perturber._own_parameters().items()}

    @property
    def exchanges(self) -> bool:
        """Whether rows take one another's values, missing ones included."""
        return self._perturber.exchanges

    @property
    def draws_rows(self) -> bool:
        """Whether released rows are drawn anew, and belong to nobody."""
        return self._perturber.catalogue_row().draws_rows

    @property
    def claim(self) -> tuple[float, float] | None:
        """Epsilon and delta of a method with a formal guarantee."""
        row = self._perturber.catalogue_row()
        if row.guarantee is None:
            return None
        epsilon, delta = (float(getattr(self._perturber, name)) for name in row.guarantee.parameters)
        return epsilon, delta

    def rows_drawn(self, fitted: Any) -> int | None:
        """Return how many rows are released, of methods that draw them; None for one for each row."""
        return self._perturber._rows_drawn(fitted)

    @property
    def noise_by_row(self) -> bool:
        """Whether a released row is its values and noise of its own: then an update can keep that noise."""
        return self._perturber.noise_by_row and self.tier == "row"

    @property
    def meets(self) -> bool:
        """Whether rows are released in groups; see `grouping`."""
        return self._perturber.meets

    def grouping(self, fitted: Any) -> Grouping:
        """Return how the rows of a fitted table meet, of a method that lets them."""
        assert self.meets
        grouping: Grouping = fitted
        return grouping

    def notes(self, fitted: Any) -> tuple[str, ...]:
        """Return what the method has to say to the owner about a fitted table; it tells nothing of single rows."""
        return self._perturber._notes(fitted)

    def settle(
        self,
        decimals: Mapping[str, int],
        bounds: Mapping[str, tuple[float, float]],
        kinds: Mapping[str, str] | None = None,
        gaps: Mapping[str, float] | None = None,
        relations: Sequence[str] | None = None,
    ) -> None:
        """Tell a method that finishes its own rows which decimals and bounds the release will have.

        Parameters
        ----------
        decimals, bounds, kinds : mappings from columns
            What the method's own parameters say goes first; methods without such parameters are rounded afterwards.
        gaps : mapping from columns to float
            The number that stands for a missing cell.
        relations : sequence of str, optional
            What holds in every row; None lets the method look.
        """
        known = {parameter.name for parameter in self._perturber.catalogue_row().parameters}
        held = {name: (gap,) for name, gap in (gaps or {}).items()}
        if "relations" in known:
            self._perturber._gaps = dict(gaps or {})
            if relations is not None and self._perturber.relations is None:
                self._perturber.relations = tuple(relations)
        for name, value in (("decimals", decimals), ("bounds", bounds), ("kinds", kinds), ("held", held)):
            if name in known and value:
                own = getattr(self._perturber, name)
                if own is None or name in {"kinds", "held"}:
                    setattr(self._perturber, name, {**value, **(own or {})})

    @property
    def gaps(self) -> dict[str, float]:
        """The number that stands for a missing cell of each column, as far as the method was told."""
        return dict(self._perturber._gaps)

    def check(self, facts: Facts) -> None:
        """Raise for tables that the method cannot take."""
        name, least = type(self._perturber).__name__, self._perturber.min_columns
        if facts.n_columns < least:
            raise DataError(
                f"{name} needs at least {least} confidential columns, and there is {facts.n_columns}",
                hint="protect more columns, or choose another method with -m",
            )
        check_facts(facts, name)
        if facts.n_rows < self._perturber._fewest_rows:
            raise DataError(
                f"a table of {facts.n_rows:,} rows is too small for {name}: with fewer than "
                f"{self._perturber._fewest_rows} people nobody has company, and most of them can be told",
                hint='do not hand it out, or insist: exposed="publish" releases it all the same',
            )

    def rounds(self, facts: Facts) -> Rounds:
        """Return the rounds of the method on a table."""
        self._streams = self._perturber._streams_for(self._key, facts.fingerprint)
        return self._perturber._rounds(facts, self._streams)

    def exposed_rounds(self, facts: Facts) -> Rounds | None:
        """Return the rounds that find the rows which must not be released; None for a method that releases all."""
        return self._perturber._exposed_rounds(facts, self._perturber._streams_for(self._key, facts.fingerprint))

    def copy(self) -> KeyedMethod:
        """Return the same method, to be settled otherwise."""
        return KeyedMethod(self._perturber, self._key, release=self._perturber.release)

    def resume(self, saved: Any, table: bytes) -> Any:
        """Return the fitted state of an earlier release, whose stream is used again.

        Parameters
        ----------
        saved : plain values
            See `save`.
        table : bytes
            Fingerprint of the table of that release.
        """
        self._streams = self._perturber._streams_for(self._key, table)
        return self.load(saved)

    def kernel(self, fitted: Any) -> Kernel:
        """Return the map from a tile and its rows to the released tile."""
        streams = self._streams
        assert streams is not None

        def run(tile: Floats, rows: Rows) -> Floats:
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused when it is finished
                return self._perturber._kernel(fitted, tile, rows, streams)

        return run

    def inverse(self, fitted: Any) -> Callable[[Floats], Floats]:
        """Return the map back from a released tile."""
        perturber = self._perturber
        assert isinstance(perturber, Invertible)
        return lambda tile: perturber._inverse(fitted, tile)

    def names_out(self, names: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return new column names if the released columns are not the original ones."""
        return self._perturber._names_out(names)

    def save(self, fitted: Any) -> Any:
        """Return a fitted state as plain data for the sealed receipt."""
        return save_state(fitted)

    def load(self, data: Any) -> Any:
        """Return the fitted state of plain data."""
        return load_state(data, self._perturber.catalogue_row().module)


def _plain(value: Any) -> Any:
    value = value.reveal() if isinstance(value, Secret) else value
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def _public(perturber: Perturber) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for parameter in perturber.catalogue_row().parameters:
        value = getattr(perturber, parameter.name)
        if isinstance(value, Perturber):
            out[parameter.name] = {value.method_id: _public(value)}
        elif not parameter.secret and parameter.kind not in {"bounds", "held", "relations"}:  # they tell of the values
            out[parameter.name] = _shown(value)
    return out


def _shown(value: Any) -> Any:
    """Return a public parameter as plain values; a fitted clusterer by its name, for its centres tell of the table."""
    value = _plain(value)
    if isinstance(value, list):
        return [_shown(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float | str | dict) else type(value).__name__
