"""What an executor is told for one pass, as plain values, and what it makes of them.

It holds subkeys of this one release and pass, never the key: the survey gets the subkeys of fingerprints, the rounds
and the last pass the root of the release's streams, and the last pass the subkey of the shuffle. It travels sealed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.core.marks import Marker, Marks
from sfumato.core.passes import Facts, Survey
from sfumato.core.people import PeopleSketch
from sfumato.core.relations import parse_relation
from sfumato.core.stream import RowHasher, Streams
from sfumato.core.summaries import Summary, Together
from sfumato.files.schema import ColumnRules, NumberColumn
from sfumato.perturb.mechanism.keyed import KeyedMethod
from sfumato.perturb.mechanism.recipe import Replay, perturber_of, recipe_of
from sfumato.pipeline.engines.engine import Cells
from sfumato.pipeline.engines.last_pass import WriteJob
from sfumato.pipeline.fills import Medians
from sfumato.pipeline.undo import undo_map
from sfumato.policy.model import Roles


def cells_data(cells: Cells) -> dict[str, Any]:
    """Return how raw rows become numbers, as plain values."""
    roles = cells.roles
    return {
        "roles": [roles.identifier, roles.keep, roles.confidential, roles.record_id],
        "rules": {name: _rules_data(rules) for name, rules in cells.rules.items()},
        "what": cells.what,
        "id_subkey": cells.id_subkey,
        "fills": cells.fills,
        "held_back": cells.held_back,
        "persons": cells.persons,
        "by_number": cells.by_number,
    }


def cells_of(data: Mapping[str, Any]) -> Cells:
    """Return the cells of plain values."""
    rules = {name: _rules_of(one) for name, one in data["rules"].items()}
    told = (data["id_subkey"], data["fills"], data["persons"])
    return Cells(
        Roles(*data["roles"]), rules, data["what"], *told, held_back=data["held_back"], by_number=data["by_number"]
    )


def summary_data(summary: Summary) -> dict[str, Any]:
    """Return a summary of the passes before a method's rounds, empty, as plain values."""
    if isinstance(summary, Together):
        return {"together": [summary_data(part) for part in summary.parts]}
    if isinstance(summary, Survey):
        return {"survey": summary.hasher.plain()}
    if isinstance(summary, Marks):
        return {"marks": summary.marker.plain()}
    if isinstance(summary, PeopleSketch):
        return {"people": summary.plain()}
    assert isinstance(summary, Medians), "only surveys, people, marks and medians come before the rounds"
    return {"medians": summary.ranges}


def first_summary(data: Mapping[str, Any]) -> Summary:
    """Return the empty summary of plain values."""
    if "together" in data:
        return Together([first_summary(part) for part in data["together"]])
    if "survey" in data:
        subkey, names = data["survey"]
        return Survey(RowHasher(subkey, names), len(names))
    if "marks" in data:
        return Marks(Marker(*data["marks"]))
    if "people" in data:
        return PeopleSketch.of_plain(data["people"])
    return Medians(*data["medians"])


def rounds_data(keyed: KeyedMethod, facts: Facts) -> dict[str, Any]:
    """Return a method with its subkey and the facts of the table, as plain values."""
    return {
        "recipe": recipe_of(keyed.perturber),
        "gaps": keyed.gaps,
        "root": keyed.streams_root(facts),
        "names": facts.names,
        "kinds": facts.kinds,
        "n_rows": facts.n_rows,
        "low": facts.low,
        "high": facts.high,
    }


def replay_of(data: Mapping[str, Any]) -> Replay:
    """Return the rounds of a method, at their beginning."""
    facts = Facts(data["names"], data["kinds"], data["n_rows"], data["low"], data["high"], b"")
    return Replay(perturber_of(data["recipe"]), facts, Streams(data["root"]), data["gaps"], finding=data["finding"])


def job_data(job: WriteJob) -> dict[str, Any]:
    """Return the last pass as plain values, without its kernel."""
    columns = [
        [one.name, one.dtype is not None, one.kind, one.decimals, one.fewest, one.low, one.high, _rules_data(one.rules)]
        for one in job.columns
    ]
    return {
        "rows_per_tile": job.rows_per_tile,
        "columns": columns,
        "order": job.order,
        "same_columns": job.same_columns,
        "invertible": job.invertible,
        "order_subkey": job.order_subkey,
        "n_rows": job.n_rows,
        "hasher": job.hasher.plain(),
        "gaps": job.gaps,
        "relations": [one.text for one in job.relations],
    }


def job_of(data: Mapping[str, Any], replay: Replay, types: Mapping[str, Any], fills: Any) -> WriteJob:
    """Return the last pass of plain values.

    Parameters
    ----------
    replay : Replay
        With its rounds done.
    types : mapping
        Types of the columns of the table.
    fills : array, optional
        What stands for missing cells.
    """
    columns = tuple(
        NumberColumn(name, types[name] if typed else None, kind, decimals, fewest, 0, low, high, _rules_of(rules))
        for name, typed, kind, decimals, fewest, low, high, rules in data["columns"]
    )
    return WriteJob(
        kernel=replay.kernel,
        rows_per_tile=data["rows_per_tile"],
        columns=columns,
        order=tuple(data["order"]),
        same_columns=data["same_columns"],
        invertible=data["invertible"],
        undo=None if replay.inverse is None else undo_map(replay.inverse, fills),
        order_subkey=data["order_subkey"],
        n_rows=data["n_rows"],
        hasher=RowHasher(*data["hasher"]),
        gaps=data["gaps"],
        relations=tuple(parse_relation(text) for text in data["relations"]),
    )


def _rules_data(rules: ColumnRules) -> list[Any]:
    bounds = None if rules.bounds is None else [float(np.float64(one)) for one in rules.bounds]
    return [rules.decimals, bounds, list(rules.missing_values)]


def _rules_of(data: list[Any]) -> ColumnRules:
    decimals, bounds, missing = data
    return ColumnRules(decimals, None if bounds is None else (bounds[0], bounds[1]), tuple(missing))
