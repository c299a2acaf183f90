"""Measures one release: what the miner finds, who links it, what is left to guess."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl

import sfumato as sf
from sfumato.attack.linkage.best import best_linkage
from sfumato.perturb import AtomMixing
from tools.frontier.miner import NAMED, OTHERS, Miner, rescaled, shared_starts
from tools.frontier.tables import Table

__all__ = [
    "measure_as_tuned",
    "measure_excess",
    "measure_mixing",
    "measure_setting",
    "measure_tuned",
]

_QUICK_ROWS = 5_000
_ATTACKS = ["as-released", "affine", "affine-columns", "ransac", "ridge", "moments", "quantiles", "atom-mean"]


def _named_labels(table: Table, centres: Any) -> dict[int, Any]:
    points = rescaled(table.values, table.values, "std")
    out = {}
    for named in centres:
        start = rescaled(named, table.values, "std")
        scores = points @ start.T - (start * start).sum(axis=1) / 2
        out[len(named)] = scores.argmax(axis=1)
    return out


def _privacy(table: Table, released: Any, labels: dict[int, Any], method: str, parameters: dict[str, Any]) -> dict:
    same = released.shape == table.values.shape
    found = sf.audit(table.values, released, method=method, attacks=_ATTACKS, utility=False)
    residual = [column.residual for column in found.privacy.columns if column.residual is not None]
    record: dict[str, Any] = {"residual": float(np.median(residual)) if residual else None}
    if same:
        link = best_linkage(table.values, released, labels, method=method, parameters=parameters)
        record |= {"linkage": link.rate, "linked by": link.attack, "chance": link.chance, "atoms": link.atoms}
    return record


def _as_stored(table: Table) -> pl.DataFrame:
    """Return the table with whole numbers in columns of whole numbers, as an owner would read it from a file."""
    columns = zip(table.columns, table.values.T, strict=True)
    return pl.DataFrame({name: v.astype(np.int64) if table.decimals.get(name) == 0 else v for name, v in columns})


def measure_mixing(table: Table, miner: Miner, key: int, *, exact: bool, deep: bool) -> dict[str, Any]:
    """Return the figures of atom mixing for one key; `deep` adds the miner's rescalings and the privacy."""
    quick = len(table.values) < _QUICK_ROWS
    warnings.simplefilter("ignore")
    frame = pl.DataFrame(dict(zip(table.columns, table.values.T, strict=True)))
    method = AtomMixing(NAMED, exact_centres=exact, insecure_seed=key, exposed="publish")
    released = method.fit_transform(frame).to_numpy()
    centres = method.named_centres()
    rounded = AtomMixing(NAMED, exact_centres=exact, insecure_seed=key, decimals=table.decimals, exposed="publish")
    finished = rounded.fit_transform(_as_stored(table)).to_numpy().astype(np.float64)
    same = set(np.flatnonzero((finished == table.values).all(axis=1)))
    excess = miner.excess(released, NAMED, "std", own=False)
    stable = [e for e, k in zip(excess, NAMED, strict=True) if miner.floor("std", k) < 0.01]
    record: dict[str, Any] = {
        "shared": max(shared_starts(table.values, released, centres)),
        "shared rounded": max(shared_starts(table.values, finished, rounded.named_centres())),
        "excess": float(np.mean(excess)),
        "excess stable": float(np.mean(stable)) if stable else None,
        "unlisted": len(same - set(rounded.disclosed_rows())),
        "listed": len(rounded.disclosed_rows()),
        "unrepaired": len(rounded.unrepaired_rows()),
    }
    if quick or deep:
        record["excess rounded"] = float(np.mean(miner.excess(finished, NAMED, "std", own=False)))
    labels = _named_labels(table, centres)
    link = best_linkage(table.values, released, labels)
    record |= {"linkage": link.rate, "linked by": link.attack, "chance": link.chance, "atoms": link.atoms}
    if deep or not exact:
        record["excess z"] = float(np.mean(miner.excess(released, NAMED, "std", own=True)))
    if deep:
        record["excess min-max"] = float(np.mean(miner.excess(released, NAMED, "range", own=True)))
        record["excess others"] = float(np.mean(miner.excess(released, OTHERS, "std", own=False)))
        record["ward"] = miner.ward(released, NAMED)
        record["residual"] = _privacy(table, released, labels, "mix", {"clusterings": NAMED})["residual"]
    return record


def measure_setting(table: Table, miner: Miner, perturber: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of another method."""
    warnings.simplefilter("ignore")
    released = np.asarray(perturber.fit_transform(table.values), dtype=np.float64)
    naming = AtomMixing(NAMED, insecure_seed=0, exposed="publish").fit(table.values).named_centres()
    record: dict[str, Any] = {}
    if released.shape == table.values.shape:
        record["shared"] = max(shared_starts(table.values, released, naming))
        excess = miner.excess(released, NAMED, "std", own=False)
        record["excess"] = float(np.mean(excess))
        record["excess z"] = float(np.mean(miner.excess(released, NAMED, "std", own=True)))
        record["excess others"] = float(np.mean(miner.excess(released, OTHERS, "std", own=False)))
        record["ward"] = miner.ward(released, NAMED)
    else:
        record["excess"] = float(np.mean(miner.excess_of_other_columns(released, NAMED)))
    return record | _privacy(table, released, _named_labels(table, naming), perturber.method_id, parameters)


def measure_as_tuned(table: Table, miner: Miner) -> dict[str, Any]:
    """Return the excess of atom mixing with the miner of the tuned methods, three keys."""
    warnings.simplefilter("ignore")
    releases = (AtomMixing(NAMED, insecure_seed=key, exposed="publish").fit_transform(table.values) for key in range(3))
    return {"excess": float(np.mean([miner.excess(released, NAMED, "std", own=False) for released in releases]))}


def measure_excess(table: Table, miner: Miner, perturber: Any) -> dict[str, Any]:
    """Return the excess of a method that keeps the columns."""
    warnings.simplefilter("ignore")
    released = np.asarray(perturber.fit_transform(table.values), dtype=np.float64)
    return {"excess": float(np.mean(miner.excess(released, NAMED, "std", own=False)))}


def measure_tuned(
    table: Table, miner: Miner, perturber: Any, most: float, parameters: dict[str, Any]
) -> dict[str, Any]:
    """Return excess and residual security of a method of the papers, the latter only if it keeps enough."""
    warnings.simplefilter("ignore")
    released = np.asarray(perturber.fit_transform(table.values), dtype=np.float64)
    if released.shape != table.values.shape:
        return {"reason": "other columns"}
    record: dict[str, Any] = {"excess": float(np.mean(miner.excess(released, NAMED, "std", own=False)))}
    if record["excess"] > most:
        return record
    found = sf.audit(table.values, released, method=perturber.method_id, attacks=_ATTACKS, utility=False)
    residual = [column.residual for column in found.privacy.columns if column.residual is not None]
    return record | {"residual": float(np.median(residual)), "parameters": parameters}
