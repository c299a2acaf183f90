"""What a slider shows: the sample perturbed, its picture at once, then clusters, then attacks, then the verdict."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import numpy as np

from sfumato._arrays import Floats
from sfumato.auditing.order.unordered import as_many_rows
from sfumato.auditing.session import AuditSession
from sfumato.core.keys import Key
from sfumato.exceptions import DataError
from sfumato.files.entire import number_frame
from sfumato.perturb.catalogue import method
from sfumato.studio.column_pictures import column_pictures, some_rows
from sfumato.studio.events import Stream
from sfumato.studio.prepared import Prepared, main_directions
from sfumato.studio.price import price_words
from sfumato.studio.settings import CLUSTERS, perturber_of
from sfumato.studio.warned import collect_warnings

MANY_PASSES = 8
_QUICK_ROWS = 600
_BATCH_ROWS = 5_000
_PAUSE = 0.4  # seconds


def before(prepared: Prepared, axes: Sequence[str] | None, k: int) -> dict[str, Any]:
    """Return the original's picture: points on the axes, coloured by cluster.

    Parameters
    ----------
    k : int
        Number of clusters.
    """
    points = _on_axes(prepared, prepared.points, axes)
    return {
        "points": _packed(points),
        "range": _range(points),
        "labels": base64.b64encode(prepared.labels(_allowed(k)).astype(np.uint8).tobytes()).decode(),
    }


def preview(
    prepared: Prepared,
    settings: dict[str, Any],
    key: Key,
    axes: Sequence[str] | None,
    k: int,
    stream: Stream,
    *,
    picture_only: bool = False,
    n_rows: int | None = None,
) -> dict[str, Any] | None:
    """Perturb the sample and send what comes of it, the quickest first.

    Parameters
    ----------
    settings : dict
        From `checked_settings`.
    axes, k
        See `before`.
    picture_only : bool
        Send the points and nothing else: the same release on other axes.
    n_rows : int, optional
        Rows of the whole table, if they are more.

    Returns
    -------
    dict or None
        Settings and figures, for the trade-off plot.
    """
    row = method(settings["method"])
    same = row.row_preserving
    # a method of many passes shows the first rows at once, and all of them when they are ready
    slow = max([row.passes, *(method(extra).passes for extra in settings["extras"])]) >= MANY_PASSES
    drawn = row.draws_rows  # which learns from few rows what few rows tell: no first look
    every = len(prepared.points)
    for rows in (
        [_QUICK_ROWS, every] if slow and not drawn and every > 2 * _QUICK_ROWS and not picture_only else [every]
    ):
        released, notes = _perturb(prepared, settings, key, rows, stream)
        points = _on_axes(prepared, released, axes) if same else released @ main_directions(released)
        picture = {"type": "scatter", "points": _packed(points), "range": _range(points), "same_axes": same}
        stream.send({**picture, **_colours(prepared, released, _allowed(k), drawn=drawn)})
        if picture_only:
            return None
        first = prepared.agreement(released, _allowed(k), same_columns=same, drawn=drawn)
        stream.send({"type": "clusters", **asdict(first)})
        if rows < every:
            stream.rest(_PAUSE)
    stream.send({"type": "notes", "notes": notes})
    stream.send({"type": "histograms", "columns": column_pictures(prepared, released) if same else []})
    stream.send({"type": "rows", **some_rows(prepared, released, same_columns=same)})
    agreements = [first]
    for other in CLUSTERS:
        if other != k:
            stream.check()
            agreements.append(prepared.agreement(released, other, same_columns=same, drawn=drawn))
            colours = _colours(prepared, released, other, drawn=drawn)
            stream.send({"type": "clusters", **asdict(agreements[-1]), **colours})
    price: dict[str, Any] = {}
    if drawn:
        told = price_words(perturber_of(settings, key, list(prepared.names)), agreements, every, n_rows)
        stream.send({"type": "price", **told})
        price = {"price": {name: told[name] for name in ("epsilon", "cost", "moved")}}
    figures = _judge(_attack(prepared, released, perturber_of(settings, key, list(prepared.names)), same, stream))
    lost = [max(0.0, one.misclassified - one.floor) for one in agreements]
    figures["excess"] = float(np.mean(lost))
    entry = {"settings": settings, **figures, **price}
    stream.send({"type": "verdict", **entry})
    return entry


def _perturb(
    prepared: Prepared, settings: dict[str, Any], key: Key, rows: int, stream: Stream
) -> tuple[Floats, list[str]]:
    """Return the first rows, released, and what the method warns of."""
    perturber = perturber_of(settings, key, list(prepared.names))
    if prepared.mixed:
        perturber.set_params(kinds=prepared.counted.kinds, held=prepared.counted.coding.held)
    _use_known_clusterings(perturber, prepared)
    perturber.set_params(**method(perturber.method_id).quick)  # the release takes its time
    if "exposed" in perturber.get_params(deep=False):
        perturber.set_params(exposed="publish")  # all rows are shown here; who is held back, the release finds
    table = prepared.table[:rows]

    def batches() -> Iterator[Any]:
        for start in range(0, rows, _BATCH_ROWS):
            stream.check()  # every pass is a chance to stop
            yield table[start : start + _BATCH_ROWS]

    with collect_warnings() as notes:
        released = perturber.fit_batches(batches).transform(table).to_numpy().astype(np.float64)
    if method(settings["method"]).row_preserving:
        released = prepared.rounded(released)
    return released, sorted(notes)


def _colours(prepared: Prepared, released: Floats, k: int, *, drawn: bool) -> dict[str, Any]:
    """Return the colours of released rows that belong to nobody: the nearest cluster of the original."""
    if not drawn:
        return {}
    return {"labels": {k: base64.b64encode(prepared.nearest(released, k).astype(np.uint8).tobytes()).decode()}}


def _use_known_clusterings(perturber: Any, prepared: Prepared) -> None:
    """Hand over the clusterings that are known already: naming them anew takes most of a preview's time.

    Of the ladder these are the rungs that a preview looks at; the release keeps all of them.
    """
    for parameter in perturber.catalogue_row().parameters:
        value = getattr(perturber, parameter.name)
        if parameter.kind == "perturber":
            _use_known_clusterings(value, prepared)
        elif parameter.kind == "clusterings" and perturber.scaling == "std":
            given = [value] if isinstance(value, str) else value
            wanted = tuple(k for one in given for k in (CLUSTERS if one == "ladder" else (one,)))
            if not prepared.mixed and all(k in CLUSTERS or isinstance(k, str) for k in wanted):
                wanted = tuple(
                    k if isinstance(k, str) else SimpleNamespace(cluster_centers_=prepared.centres(k)) for k in wanted
                )
            setattr(perturber, parameter.name, wanted)


def _attack(prepared: Prepared, released: Floats, perturber: Any, same: bool, stream: Stream) -> AuditSession:
    """Attack the release of the sample, and send what each attack finds."""
    names = prepared.names if same else [f"component {i}" for i in range(released.shape[1])]
    original, order = prepared.points, None
    if perturber.catalogue_row().draws_rows:  # as many rows as the noise lets out, which belong to nobody
        original, released, _ = as_many_rows(original, released)
        order = "not known"
    frames, kept = [number_frame(prepared.names, original), number_frame(names, released)], prepared.kept
    if kept is not None and len(kept) == len(original) == len(released) and order is None:
        frames = [frame.hstack(kept) for frame in frames]  # attackers join on them
    session = AuditSession(
        *frames,
        method=perturber,
        order=order,
        categories=[prepared.names[column] for column in prepared.counted.categories] if same else (),
        kept=() if kept is None or frames[0].width == len(prepared.names) else kept.columns,
        effort="quick",
        max_targets=1000,
    )
    every = len(session.attacks)
    stream.check()
    for done, (row, result) in enumerate(session.attack(), start=1):
        stream.check()
        stream.send(
            {
                "type": "attack",
                "id": row.id,
                "name": row.name,
                "summary": row.summary,
                "knows": _knows(row.rung, row.goal, result.known),
                "goal": row.goal,
                "status": result.status,
                "reason": result.reason,
                "known": result.known,
                "rate": result.rate,
                "guessing": None if result.rate is None else max(result.baseline or 0.0, result.control or 0.0),
                "lift": result.lift_low,
                "done": done,
                "of": every,
            }
        )
    return session


def _knows(rung: int, goal: str, known: int) -> str:
    """Return what the attacker must know, in words."""
    if goal == "links":
        return "a person's full record"
    if known:
        return f"{known:,} {'person' if known == 1 else 'people'}"
    return {0: "nothing but the release", 1: "public figures"}.get(rung, "a sample of the people")


def _judge(session: AuditSession) -> dict[str, Any]:
    judgement, privacy, results = session.grade(curve=False), session.privacy(), session.results
    links = [result.rate for result in results if result.goal == "links" and result.rate is not None]
    values = [result.rate for result in results if result.goal == "values" and result.rate is not None]
    return {
        "grade": judgement.grade,
        "verdict": judgement.verdict,
        "residual": privacy.median_residual,
        "weakest": privacy.min_residual,
        "unchanged": privacy.unchanged_rows,
        "recovered": max(values, default=None),
        "linked": max(links, default=None),
    }


def _on_axes(prepared: Prepared, values: Floats, axes: Sequence[str] | None) -> Floats:
    if axes is None:
        return prepared.directions(values)
    if len(axes) != 2 or not set(axes) <= set(prepared.names):
        raise DataError("the axes must be two confidential columns")
    return values[:, [prepared.names.index(name) for name in axes]]


def _packed(points: Floats) -> str:
    return base64.b64encode(np.ascontiguousarray(points, dtype="<f4").tobytes()).decode()


def _range(points: Floats) -> list[list[float]]:
    """Return the range of each axis without the last far-off rows, so that one row cannot squeeze the picture."""
    low, high = np.quantile(points, [0.0005, 0.9995], axis=0)
    return [[float(a), float(b)] for a, b in zip(low, high, strict=True)]


def _allowed(k: Any) -> int:
    if k not in CLUSTERS:
        raise DataError(f"the number of clusters must be one of {', '.join(map(str, CLUSTERS))}")
    return int(k)
