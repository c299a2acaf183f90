"""What is loaded: one table, the roles of its columns, the settings tried; shared by every tab of the session."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.core.keys import Key
from sfumato.core.secret import Hidden
from sfumato.exceptions import DataError
from sfumato.perturb.catalogue import DEFAULT_METHOD

if TYPE_CHECKING:
    from sfumato.policy.guesses import KindGuess
    from sfumato.policy.overview import Overview
    from sfumato.studio.prepared import Prepared

EXCHANGE = "exchange"  # the method that takes every kind of column
ROLES = {
    "confidential": "protected",
    "keep": "released as it is",
    "identifier": "left out of the release",
}
SAMPLE_ROWS = 20_000
MIXED_ROWS = 4_000  # of a table that is exchanged, which takes its time
FEWEST_ROWS = 20
BATCH_ROWS = 40_000  # read at a time: memory before speed, the page must stay quick beside it
KINDS = {
    "continuous": "continuous numbers",
    "spiked": "numbers with a spike",
    "count": "counts or codes",
    "category": "categories",
    "ordered": "ordered categories",
    "flag": "yes or no",
    "date": "dates or times",
    "text": "free text or identifier",
}
_MOST_TRIED = 200
_MOST_LEVELS = 500  # of ordered categories


class StaleTableError(DataError):
    """A tab speaks about a table that another tab has replaced."""

    def __init__(self) -> None:
        super().__init__("another table was loaded in the meantime", hint="reload the page to work on it")


@dataclass(repr=False)
class Dataset(Hidden):
    """A loaded table.

    Attributes
    ----------
    id : str
        Names it in requests, so that a tab with an older table is told so.
    label : str
        The file's name, for people.
    path : Path
        The file that is read; the browser never sees it unless the user named it in the terminal.
    shown_path : str
        How a command line names it.
    seen : Overview
    guesses : mapping
        Column -> what it seems to hold, and why.
    roles : dict
        Column -> role.
    kinds : dict
        Column -> what its owner says it holds, as a policy knows it; columns that are as guessed are not named.
    orders : dict
        Column -> its ordered categories, from the lowest.
    is_demo : bool
        Whether it is the table that ships with the package, of which the user has no file.
    tried : list
        Settings tried and what came of them, for the trade-off plot.
    """

    id: str
    label: str
    path: Path
    shown_path: str
    seen: Overview
    guesses: Mapping[str, KindGuess]
    roles: dict[str, str]
    kinds: dict[str, str] = field(default_factory=dict)
    orders: dict[str, tuple[str, ...]] = field(default_factory=dict)
    is_demo: bool = False
    tried: list[dict[str, Any]] = field(default_factory=list)
    _prepared: dict[Any, Prepared] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def confidential(self) -> tuple[str, ...]:
        """Return the names of the columns to protect."""
        return tuple(column.name for column in self.seen.columns if self.roles[column.name] == "confidential")

    def others(self) -> tuple[str, ...]:
        """Return the confidential columns that hold anything but numbers, or are said to: only exchange takes them."""
        numeric = {column.name for column in self.seen.columns if column.numeric}
        counted = {"category", "ordered", "date"}
        return tuple(name for name in self.confidential() if name not in numeric or self.kinds.get(name) in counted)

    @property
    def default_method(self) -> str:
        """What a release takes when nothing else is said."""
        return EXCHANGE if self.others() else DEFAULT_METHOD

    def prepared(self) -> Prepared:
        """Return the sample's confidential columns, ready for previews; worked out once for each choice of columns."""
        from sfumato.studio.prepared import prepare

        names = self.confidential()
        said = {name: kind for name, kind in self.kinds.items() if name in names}
        orders = {name: order for name, order in self.orders.items() if name in said}
        with self._lock:
            kept = tuple(column.name for column in self.seen.columns if self.roles[column.name] == "keep")
            chosen = (names, tuple(said.items()), tuple(orders.items()), kept)
            if chosen not in self._prepared:
                told: dict[str, Any] = {"kinds": said, "orders": orders, "kept": kept}
                self._prepared = {chosen: prepare(self.seen.sample, names, mixed=bool(self.others()), **told)}
            return self._prepared[chosen]

    def require_method(self, settings: Mapping[str, Any]) -> None:
        """Raise if a method takes numbers only, and the table has other columns to protect."""
        others = self.others()
        if others and (settings["method"] != EXCHANGE or settings["extras"]):
            listed = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
            who = "what goes on top of it" if settings["method"] == EXCHANGE else "this method"
            raise DataError(
                f"{who} takes numbers only, and these columns hold other values: {listed}",
                hint="choose Atom exchange alone, which takes every kind of column, or drop or keep them as columns",
            )

    def set_roles(self, roles: Mapping[str, Any]) -> None:
        """Change roles; free text and identifiers are not perturbed unless somebody says what they hold.

        Parameters
        ----------
        roles : mapping
            Column -> role, for some or all columns.
        """
        columns = {column.name: column for column in self.seen.columns}
        for name, role in roles.items():
            if name not in columns or role not in ROLES:
                raise DataError("no such column or role", hint=f"roles are: {', '.join(ROLES)}")
            if role == "confidential" and self.kind(name) == "text" and not columns[name].numeric:
                raise DataError(
                    f"column {name!r} seems to hold free text or an identifier, which cannot be exchanged",
                    hint="leave it out, or say first what kind of values it holds",
                )
        changed = any(self.roles[name] != role for name, role in roles.items())
        for name, role in roles.items():
            if role == "confidential" and self.kind(name) == "text":
                self.kinds[name] = "continuous"  # numbers that differ in every row: its owner says that they are facts
        self.roles.update({name: str(role) for name, role in roles.items()})
        if changed:
            self.tried.clear()  # figures of other columns do not compare

    def kind(self, name: str) -> str:
        """Return what a column holds: as its owner says, or as it was guessed."""
        return self.kinds.get(name, self.guesses[name].kind)

    def set_kind(self, name: Any, kind: Any, order: Any = ()) -> None:
        """Say what a column holds.

        Parameters
        ----------
        kind : str
            What a policy may say of it, or what was guessed.
        order : sequence of str
            Ordered categories, from the lowest; empty for their alphabetical order.
        """
        if name not in self.guesses:
            raise DataError("no such column")
        guess = self.guesses[name]
        if kind != guess.kind and kind not in guess.choices:
            raise DataError(
                f"column {name!r} cannot hold that", hint=f"it may be said to hold: {', '.join(guess.choices)}"
            )
        levels = tuple(one for one in order if isinstance(one, str)) if isinstance(order, list | tuple) else ()
        if len(levels) > _MOST_LEVELS:
            raise DataError("these are too many categories to be ordered", hint=f"name up to {_MOST_LEVELS}")
        before = (self.kind(name), self.orders.get(name, ()))
        self.kinds.pop(name, None)
        self.orders.pop(name, None)
        if kind != guess.kind:
            self.kinds[name] = str(kind)
        if kind == "ordered" and levels:
            self.orders[name] = levels
        if kind == "text" and self.roles[name] == "confidential":
            self.roles[name] = "identifier"
        if before != (self.kind(name), self.orders.get(name, ())):
            self.tried.clear()

    def remember(self, entry: dict[str, Any]) -> None:
        """Keep settings with their figures; the same settings once."""
        self.tried[:] = [one for one in self.tried if one["settings"] != entry["settings"]][-_MOST_TRIED:]
        self.tried.append(entry)

    def to_data(self) -> dict[str, Any]:
        """Return what the page shows of it."""
        return {
            "id": self.id,
            "label": self.label,
            "rows": self.seen.n_rows,
            "sample": min(len(self.seen.sample), MIXED_ROWS) if self.others() else len(self.seen.sample),
            "columns": [
                {
                    "name": column.name,
                    "kind": self.kind(column.name),
                    "guessed": self.guesses[column.name].kind,
                    "choices": list(self.guesses[column.name].choices),
                    "order": list(self.orders.get(column.name, ())),
                    "numeric": column.numeric,
                    "missing": column.missing,
                    "distinct": column.distinct,
                    "unique": column.distinct == column.sampled > 1,
                    "role": self.roles[column.name],
                    "reason": self.guesses[column.name].reason,
                }
                for column in self.seen.columns
            ],
            "others": list(self.others()),
            "default_method": self.default_method,
            "tried": self.tried,
        }


class Session:
    """The table that is loaded, if one is."""

    def __init__(self) -> None:
        self.key = Key.generate()  # of previews only; a release has a key of its own
        self.dataset: Dataset | None = None

    def load(self, path: Path, label: str, shown_path: str, tell: Callable[[str, float], None]) -> Dataset:
        """Read a table and make it the current one.

        Parameters
        ----------
        label, shown_path : str
            See `Dataset`.
        tell : callable
            Called with (what is being done, share done).
        """
        from sfumato.files.opening import open_source
        from sfumato.policy.guesses import guess_kinds
        from sfumato.policy.overview import overview

        seen = overview(
            open_source(path, batch_rows=BATCH_ROWS),
            self.key,
            SAMPLE_ROWS,
            lambda rows, share: tell(f"{rows:,} rows read", 0.9 * share),
        )
        guesses = {guess.name: guess for guess in guess_kinds(seen.columns, seen.sample)}
        roles = {name: str(guess.role) for name, guess in guesses.items()}
        dataset = Dataset(secrets.token_hex(8), label, path, shown_path, seen, guesses, roles)
        if len(seen.sample) >= FEWEST_ROWS and dataset.confidential():
            tell("looking at the clusters", 0.95)
            dataset.prepared()
        self.dataset = dataset
        return dataset

    def current(self, dataset_id: Any) -> Dataset:
        """Return the table a request speaks about, or raise if there is another one by now."""
        if self.dataset is None or dataset_id != self.dataset.id:
            raise StaleTableError
        return self.dataset
