"""How hard an audit tries: counts of rows, starts and cells, never seconds, so that every machine says the same."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sfumato.attack.engine.result import Result
from sfumato.exceptions import ParameterError, SfumatoWarning, nearest_name

CLUSTERS = tuple(range(2, 9))


@dataclass(frozen=True)
class Effort:
    """A row of `EFFORTS`.

    Attributes
    ----------
    name : str
    work : float
        Cells that one attack may look at.
    targets : int
        Most rows whose values an attack is asked for.
    clusters : tuple of int
        Numbers of clusters for utility.
    utility : mapping
        Options of `measure_utility`.
    """

    name: str
    work: float
    targets: int
    clusters: tuple[int, ...]
    utility: Mapping[str, int]


def _utility(**options: int) -> Mapping[str, int]:
    return MappingProxyType(options)


_ROWS = (
    Effort("quick", 4e8, 500, CLUSTERS, _utility(repetitions=2, max_rows=10_000, ward_rows=1_000)),
    Effort("normal", 4e9, 2_000, CLUSTERS, _utility()),
    Effort("thorough", 4e10, 10_000, tuple(range(2, 21)), _utility(repetitions=10, max_rows=200_000, ward_rows=5_000)),
)
EFFORTS = {row.name: row for row in _ROWS}


def effort_named(name: str, *, seconds: float | None = None) -> Effort:
    """Return an effort by its name.

    Parameters
    ----------
    name : str
        "quick", "normal" or "thorough".
    seconds : float, optional
        A time budget as older versions took it: has no meaning any more, and warns.

    Examples
    --------
    >>> effort_named("quick").targets
    500
    """
    if seconds is not None:
        text = 'seconds has no meaning any more: audits count their work; use effort="quick" or effort="thorough"'
        warnings.warn(text, SfumatoWarning, stacklevel=3)
    if name not in EFFORTS:
        raise ParameterError(
            f"effort must be one of {', '.join(EFFORTS)}, got {name!r}", hint=nearest_name(name, EFFORTS)
        )
    return EFFORTS[name]


def left_out(effort: Effort, n_rows: int, results: Sequence[Result], about_utility: Sequence[str]) -> tuple[str, ...]:
    """Return what an audit of this effort did not look at, one sentence each.

    Parameters
    ----------
    effort : Effort
    n_rows : int
        Rows of the table.
    results : sequence of Result
        Of all attacks.
    about_utility : sequence of str
        What utility has to say.
    """
    told = []
    if n_rows > effort.targets:
        told.append(f"values were guessed for {effort.targets:,} of {n_rows:,} rows, drawn at random")
    people = [result.known for result in results if result.goal == "links" and result.rate is not None]
    if people and max(people) < n_rows:
        told.append(f"links were sought for at most {max(people):,} of {n_rows:,} people, drawn at random")
    stopped = list(dict.fromkeys(result.attack for result in results if result.status == "timed out"))
    if stopped:
        told.append(f"stopped when their work was used up ({effort.work:,.0f} cells): {', '.join(stopped)}")
    return (*told, *about_utility)
