"""What a release asks the histories of its owner, and what it says of earlier releases of the same people."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.people import GAP, People, PeopleSketch, column_groups, said_by
from sfumato.core.relations import MISSING
from sfumato.core.secret import Hidden
from sfumato.core.stream import RowHasher
from sfumato.exceptions import ParameterError
from sfumato.files.coded import CodedColumns
from sfumato.files.source import Described
from sfumato.pipeline.history import Earlier, History, Past
from sfumato.policy.model import Roles

_MOST_NOTES = 10
_FEW_PEOPLE, _FEW_SHARE = 3, 0.01  # so few people more, fewer or changed are told by a difference
REPEATED = (
    "this table was released before with other noise: whoever has both releases can average them. "
    "Hand out one of them only, or repeat the first with its key, method and parameters."
)


class LookBack(Hidden):
    """The histories that a release is looked up in: its own, and others of its owner that are only read.

    Parameters
    ----------
    own : History
        Is told of the release when it stands.
    others : sequence of paths
        Folders of other keys.
    """

    def __init__(self, own: History, others: Sequence[str | os.PathLike[str]] = ()) -> None:
        self._own = own
        self._others = [History(Path(folder).absolute()) for folder in others]
        for one in self._others:
            if not one.exists:
                raise ParameterError(
                    f"{one.folder}: no history of releases there", hint="name the folder of the keys of those releases"
                )
        self._others = [one for one in self._others if one.folder != own.folder.absolute()]
        self._asked: list[History] = []

    def hashers(self, names: Sequence[str]) -> list[RowHasher]:
        """Return the hasher of whole tables; nothing if the key of the history cannot be read."""
        own = self._own.hasher(names)
        return [] if own is None else [own]

    def sketches(self, table: Described, roles: Roles) -> list[PeopleSketch]:
        """Return what hashes the people of a table, once for each history; its missing cells are NaN."""
        self._asked = [one for one in (self._own, *self._others) if one.subkey is not None]
        out = []
        for one in self._asked:
            assert one.subkey is not None
            groups = one.wanted(roles.confidential, roles.record_id)
            meanings = _meanings(table, roles.confidential, one.subkey)
            out.append(PeopleSketch(one.subkey, roles.confidential, groups, meanings))
        return out

    def past(self, people: Sequence[People], table: bytes | None, noises: Collection[bytes]) -> Past:
        """Return what all histories know; see `History.look_back`.

        Parameters
        ----------
        people : sequence of People
            From `sketches`, in their order.
        """
        hashed = dict(zip(map(id, self._asked), people, strict=True))
        total = Past()
        for one in (self._own, *self._others):
            nobody = People(0, {})
            known = one.look_back(hashed.get(id(one), nobody), table if one is self._own else None, noises)
            total.repeated += known.repeated
            total.earlier += known.earlier
            total.problems += known.problems
        return total

    def note(self, table: bytes, noise: bytes, people: Sequence[People], name: str) -> bool:
        """Tell the own history of a release; see `History.add`."""
        mine = next((one for asked, one in zip(self._asked, people, strict=True) if asked is self._own), None)
        if mine is not None and self._own.subkey is not None:
            persons = [one for one in mine.groups if one.kind == "person"]
            columns = next(one.columns for one in mine.groups if one.kind == "whole")  # its own come first
            record_id = persons[0].columns[0] if persons else None
            own = column_groups(self._own.subkey, columns, record_id)
            mine = People(mine.n_rows, {group: mine.groups[group] for group in own})
        return self._own.add(table, noise, mine, name)

    def forget(self, table: bytes, noise: bytes) -> None:
        """Take a release out of the own history again."""
        self._own.forget(table, noise)


def _meanings(table: Described, names: Sequence[str], subkey: bytes) -> dict[str, tuple[Floats, Floats]]:
    """Return what the codes of columns stand for: numbers that are the same in every table."""
    coded: CodedColumns = getattr(table, "coded", CodedColumns())
    out = {}
    for name, codes in coded.codes.items():
        if name not in names or (codes.kind != "category" and codes.reason != "ordered"):
            continue  # dates are numbers already
        pairs = sorted(codes.by_text().items(), key=lambda pair: pair[1])
        said = said_by(subkey, [text for text, _ in pairs])
        said[[text == MISSING for text, _ in pairs]] = GAP
        out[name] = (np.array([number for _, number in pairs]), said)
    return out


def warning_of(past: Past) -> str | None:
    """Return what to say of earlier releases of the same people; None if there is none."""
    if past.repeated:
        others = max(len(past.earlier), past.repeated)
        return REPEATED if others == 1 else f"{REPEATED} {_averaged(others)}"
    if not past.earlier:
        return None
    most = max(past.earlier, key=lambda one: one.overlap.people)
    overlap, k = most.overlap, len(past.earlier)
    where = f"an earlier release with other noise ({most.name})" if k == 1 else f"{k} earlier releases with other noise"
    said = f"{_count(overlap.people, exact=overlap.exact)} of {overlap.new:,} people of this table are in {where}: "
    return f"{said}{_averaged(k)}{_differences(past.earlier)} Hand out one of them only, or update it (as_of)."


def notes_of(past: Past) -> list[str]:
    """Return one line for each earlier release of people of a table."""
    lines = [
        f"{one.name}: {_count(one.overlap.people, exact=one.overlap.exact)} of {one.overlap.new:,} people of this "
        "table are in that release, too"
        for one in past.earlier
    ]
    more = len(lines) - _MOST_NOTES
    return lines if more <= 0 else [*lines[:_MOST_NOTES], f"and {more} more earlier releases of people of this table"]


def _averaged(earlier: int) -> str:
    left = 100 / math.sqrt(earlier + 1)
    return f"whoever averages the {earlier + 1} releases is left with about {left:.0f} % of the noise."


def _differences(earlier: Sequence[Earlier]) -> str:
    """Say whom the difference of two releases would tell of: a few people more, fewer or changed."""
    said = []
    for what, words in (
        ("added", "It was released before without {} of these people"),
        ("dropped", "It was released before with {} {people} more"),
        ("changed", "It was released before with other values of {} {people}"),
    ):
        counts = [getattr(one.overlap, what) for one in earlier if one.overlap.exact]
        least = min((count for count in counts if count > 0), default=0)
        limit = max(_FEW_PEOPLE, _FEW_SHARE * max((one.overlap.new for one in earlier), default=0))
        if 0 < least <= limit:
            people, whom = ("person", "that person") if least == 1 else ("people", "those people")
            said.append(f" {words.format(f'{least:,}', people=people)}: subtracting the two tells about {whom}.")
    return "".join(said)


def _count(people: int, *, exact: bool) -> str:
    return f"{people:,}" if exact else f"about {_rounded(people):,}"


def _rounded(people: int) -> int:
    """Return a number of three digits: an estimate has no more.

    Examples
    --------
    >>> _rounded(3987), _rounded(12)
    (3990, 12)
    """
    step = int(10 ** max(len(str(people)) - 3, 0))
    return round(people / step) * step


def problems_of(problems: Sequence[str]) -> str:
    """Return what to say of histories that may not know every release."""
    rest = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return (
        f"{problems[0]}{rest}. A repeated release may go unnoticed: bring the history back from a backup, or move it "
        "and its key away to begin a new one."
    )
