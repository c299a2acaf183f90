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

if TYPE_CHECKING:
    from sfumato.policy.overview import Overview
    from sfumato.studio.prepared import Prepared

ROLES = {
    "confidential": "protected",
    "keep": "released as it is",
    "identifier": "left out of the release",
}
SAMPLE_ROWS = 20_000
FEWEST_ROWS = 20
BATCH_ROWS = 40_000  # read at a time: memory before speed, the page must stay quick beside it
KINDS = {
    "integer": "whole numbers",
    "number": "numbers",
    "flag": "true or false",
    "date": "dates",
    "text": "text",
}
_MOST_TRIED = 200


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
    reasons : mapping
        Column -> why its role was guessed.
    roles : dict
        Column -> role.
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
    reasons: Mapping[str, str]
    roles: dict[str, str]
    is_demo: bool = False
    tried: list[dict[str, Any]] = field(default_factory=list)
    _prepared: dict[tuple[str, ...], Prepared] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def confidential(self) -> tuple[str, ...]:
        """Return the names of the columns to protect."""
        return tuple(column.name for column in self.seen.columns if self.roles[column.name] == "confidential")

    def prepared(self) -> Prepared:
        """Return the sample's confidential columns, ready for previews; worked out once for each choice of columns."""
        from sfumato.studio.prepared import prepare

        names = self.confidential()
        with self._lock:
            if names not in self._prepared:
                self._prepared = {names: prepare(self.seen.sample, names)}
            return self._prepared[names]

    def set_roles(self, roles: Mapping[str, Any]) -> None:
        """Change roles; a text column cannot be confidential.

        Parameters
        ----------
        roles : mapping
            Column -> role, for some or all columns.
        """
        kinds = {column.name: column for column in self.seen.columns}
        for name, role in roles.items():
            if name not in kinds or role not in ROLES:
                raise DataError("no such column or role", hint=f"roles are: {', '.join(ROLES)}")
            if role == "confidential" and not kinds[name].numeric:
                raise DataError(
                    f"column {name!r} holds {KINDS[kinds[name].kind]}, and only numbers can be perturbed",
                    hint="leave it out, or keep it as it is if it tells nothing about a person",
                )
        if any(self.roles[name] != role for name, role in roles.items()):
            self.roles.update({name: str(role) for name, role in roles.items()})
            self.tried.clear()  # figures of other columns do not compare

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
            "sample": len(self.seen.sample),
            "columns": [
                {
                    "name": column.name,
                    "kind": KINDS[column.kind],
                    "numeric": column.numeric,
                    "missing": column.missing,
                    "distinct": column.distinct,
                    "unique": column.distinct == column.sampled > 1,
                    "role": self.roles[column.name],
                    "reason": column.odd or self.reasons[column.name],
                }
                for column in self.seen.columns
            ],
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
        from sfumato.policy.overview import overview
        from sfumato.policy.roles import guess_roles

        seen = overview(
            open_source(path, batch_rows=BATCH_ROWS),
            self.key,
            SAMPLE_ROWS,
            lambda rows, share: tell(f"{rows:,} rows read", 0.9 * share),
        )
        guesses = guess_roles([column.traits for column in seen.columns])
        roles = {guess.name: str(guess.role) for guess in guesses}
        reasons = {guess.name: guess.reason for guess in guesses}
        dataset = Dataset(secrets.token_hex(8), label, path, shown_path, seen, reasons, roles)
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
