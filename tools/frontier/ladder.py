"""Measures releases that keep the ladder: every number of clusters, other scalings, other clusterers, named or not."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from sfumato.perturb import AtomExchange, AtomMixing
from tools.frontier.miner import Miner, rescaled
from tools.frontier.others import OTHER_CLUSTERERS, Others
from tools.frontier.tables import Floats, Table

__all__ = ["LADDER_METHODS", "MOST_ROWS", "measure_clusterers", "measure_ladder"]

LADDER_METHODS = {"mix": AtomMixing, "exchange": AtomExchange}
MOST_ROWS = 5_000  # larger tables are sampled: nineteen numbers of clusters take long
_FEW_ROWS, _TOP, _SMALL_TOP = 2_000, 20, 12  # where the ladder of a small table ends
_SOME = (3, 5, 8, 12)  # numbers of clusters with which other scalings are looked at
_NEAREST_ROWS = 2_000


def measure_ladder(table: Table, method: str, key: int, *, seeds: int, n_init: int) -> dict[str, Any]:
    """Return the figures of one release that keeps the ladder, and of releases that keep another clusterer as well.

    Parameters
    ----------
    seeds, n_init : int
        Runs of the miner, and starts of each.
    """
    warnings.simplefilter("ignore")
    began = time.process_time()
    values = _some(table)
    made, released, left = _released(values, method, key, "ladder")
    original = values[left]
    miner = Miner(original, seeds=seeds, n_init=n_init)
    ks = range(2, (_TOP if len(values) >= _FEW_ROWS else _SMALL_TOP) + 1)
    by_k = miner.excess(released, ks, "std", own=False, signed=True)
    state = made._fitted_state().fitted  # noqa: SLF001 - atoms are for the owner and for us
    found = getattr(state, "found", state)
    record: dict[str, Any] = {
        "rows": len(values),
        "held back": len(values) - len(left),
        "atoms": len(found.atoms) / len(left),
        "residual": found.joined.residual,
        "excess": float(np.mean(by_k)),
        "worst": float(np.max(by_k)),
        "worst k": int(ks[int(np.argmax(by_k))]),
        "excess z": float(np.mean(miner.excess(released, _SOME, "std", own=True, signed=True))),
        "excess std": float(np.mean(miner.excess(released, _SOME, "std", own=False, signed=True))),
        "linked": _nearest(original, released),
    }
    record |= _ranges(values, method, key, seeds=seeds, n_init=n_init)
    record |= _clusterers(values, method, key, original, released)
    return record | {"seconds": time.process_time() - began}


def measure_clusterers(table: Table, method: str, key: int) -> dict[str, Any]:
    """Return those figures of `measure_ladder` that are about other clusterers."""
    warnings.simplefilter("ignore")
    values = _some(table)
    _, released, left = _released(values, method, key, "ladder")
    return _clusterers(values, method, key, values[left], released)


def _some(table: Table) -> Floats:
    """Return the rows that are measured."""
    return table.values[np.sort(np.random.default_rng(0).permutation(len(table.values))[:MOST_ROWS])]


def _clusterers(values: Floats, method: str, key: int, original: Floats, released: Floats) -> dict[str, Any]:
    others = Others(rescaled(original, original, "std"))
    return {
        name: {
            "clusters": others.clusters(name),
            "floor": others.reference(name)[1],
            "not named": others.excess(name, rescaled(released, original, "std")),
            "named": _named(values, method, key, name),
        }
        for name in OTHER_CLUSTERERS
    }


def _released(values: Floats, method: str, key: int, clusterings: Any, **more: Any) -> tuple[Any, Floats, Any]:
    """Return the method, the release, and the numbers of the rows that are in it."""
    made = LADDER_METHODS[method](clusterings, insecure_seed=key, **more)
    released = np.asarray(made.fit_transform(values), dtype=np.float64)
    return made, released, np.setdiff1d(np.arange(len(values)), np.asarray(made.held_back_rows(), dtype=np.int64))


def _named(values: Floats, method: str, key: int, name: str) -> float:
    _, released, left = _released(values, method, key, ("ladder", name))
    original = values[left]
    return Others(rescaled(original, original, "std")).excess(name, rescaled(released, original, "std"))


def _ranges(values: Floats, method: str, key: int, *, seeds: int, n_init: int) -> dict[str, float]:
    """Return the excess of miners who scale by ranges: not named, named beside the ladder, and instead of it."""
    out = {}
    ways = {"not named": {}, "with std": {"other_scalings": ("range",)}, "alone": {"scaling": "range"}}
    for label, more in ways.items():
        _, released, left = _released(values, method, key, "ladder", **more)
        miner = Miner(values[left], seeds=seeds, n_init=n_init)
        for whose, own in (("owner's", False), ("own", True)):
            excess = miner.excess(released, _SOME, "range", own=own, signed=True)
            out[f"{whose} range, {label}"] = float(np.mean(excess))
    return out


def _nearest(original: Floats, released: Floats) -> float:
    """Return the share of people whose nearest released row is their own."""
    before, after = rescaled(original, original, "std"), rescaled(released, original, "std")
    some = np.random.default_rng(0).permutation(len(before))[:_NEAREST_ROWS]
    squares = (after * after).sum(axis=1)
    nearest = [int(np.argmin(squares - 2 * after @ before[one])) for one in some]
    return float(np.mean(np.array(nearest) == some))
