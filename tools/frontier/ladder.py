"""Measures releases that keep the ladder: every number of clusters, other scalings, other clusterers, named or not."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from sfumato.perturb import AtomExchange, AtomMixing
from tools.frontier.likely import STARTS, LikelyMiner
from tools.frontier.miner import rescaled
from tools.frontier.others import OTHER_CLUSTERERS, Others
from tools.frontier.tables import Floats, Table

__all__ = ["LADDER_METHODS", "MOST_ROWS", "PARTS", "ladder_part"]

LADDER_METHODS = {"mix": AtomMixing, "exchange": AtomExchange}
MOST_ROWS = 5_000  # larger tables are sampled: nineteen numbers of clusters take long
_FEW_ROWS, _TOP, _SMALL_TOP = 2_000, 20, 12  # where the ladder of a small table ends
_SOME = (3, 5, 8, 12)  # numbers of clusters with which other scalings are looked at
_NEAREST_ROWS = 2_000
_MUCH = 0.06  # excess with which a single number of clusters counts as lost
_RANGES: dict[str, dict[str, Any]] = {
    "not named": {},
    "with std": {"other_scalings": ("range",)},
    "alone": {"scaling": "range"},
}
PARTS = ("k-means", *(f"ranges {way}" for way in _RANGES), *OTHER_CLUSTERERS)


def ladder_part(table: Table, method: str, key: int, part: str) -> dict[str, Any]:
    """Return some of the figures of releases that keep the ladder, with one key.

    Parameters
    ----------
    part : str
        One of `PARTS`, which can be measured side by side: every number of clusters, ranges that are not named or named
        in one of two ways, or another clusterer, not named and named.
    """
    warnings.simplefilter("ignore")
    values = _some(table)
    if part == "k-means":
        return _k_means(values, method, key)
    if part in OTHER_CLUSTERERS:
        return {part: _clusterer(values, method, key, part)}
    way = part.removeprefix("ranges ")
    _, released, left = _released(values, method, key, "ladder", **_RANGES[way])
    miner = LikelyMiner(values[left])
    return {
        f"{whose} range, {way}": float(np.mean(miner.excess(released, _SOME, "range", own=own)))
        for whose, own in (("owner's", False), ("own", True))
    }


def _k_means(values: Floats, method: str, key: int) -> dict[str, Any]:
    made, released, left = _released(values, method, key, "ladder")
    original = values[left]
    miner = LikelyMiner(original)
    ks = range(2, (_TOP if len(values) >= _FEW_ROWS else _SMALL_TOP) + 1)
    by_k = miner.excess(released, ks, "std", own=False)
    some = [by_k[k - 2] for k in _SOME]
    state = made._fitted_state().fitted  # noqa: SLF001 - atoms are for the owner and for us
    found = getattr(state, "found", state)
    return {
        "rows": len(values),
        "starts": STARTS,
        "held back": len(values) - len(left),
        "atoms": len(found.atoms) / len(left),
        "residual": found.joined.residual,
        "excess": float(np.mean(by_k)),
        "worst": float(np.max(by_k)),
        "worst k": int(ks[int(np.argmax(by_k))]),
        "lost k": int(np.count_nonzero(np.array(by_k) > _MUCH)),
        "every k": len(by_k),
        "excess z": float(np.mean(miner.excess(released, _SOME, "std", own=True))),
        "excess std": float(np.mean(some)),
        "linked": _nearest(original, released),
    }


def _clusterer(values: Floats, method: str, key: int, name: str) -> dict[str, Any]:
    _, released, left = _released(values, method, key, "ladder")
    original = values[left]
    others = Others(rescaled(original, original, "std"))
    return {
        "clusters": others.clusters(name),
        "floor": others.reference(name)[1],
        "not named": others.excess(name, rescaled(released, original, "std")),
        "named": _named(values, method, key, name),
    }


def _some(table: Table) -> Floats:
    """Return the rows that are measured."""
    return table.values[np.sort(np.random.default_rng(0).permutation(len(table.values))[:MOST_ROWS])]


def _released(values: Floats, method: str, key: int, clusterings: Any, **more: Any) -> tuple[Any, Floats, Any]:
    """Return the method, the release, and the numbers of the rows that are in it."""
    made = LADDER_METHODS[method](clusterings, insecure_seed=key, **more)
    released = np.asarray(made.fit_transform(values), dtype=np.float64)
    return made, released, np.setdiff1d(np.arange(len(values)), np.asarray(made.held_back_rows(), dtype=np.int64))


def _named(values: Floats, method: str, key: int, name: str) -> float:
    _, released, left = _released(values, method, key, ("ladder", name))
    original = values[left]
    return Others(rescaled(original, original, "std")).excess(name, rescaled(released, original, "std"))


def _nearest(original: Floats, released: Floats) -> float:
    """Return the share of people whose nearest released row is their own."""
    before, after = rescaled(original, original, "std"), rescaled(released, original, "std")
    some = np.random.default_rng(0).permutation(len(before))[:_NEAREST_ROWS]
    squares = (after * after).sum(axis=1)
    nearest = [int(np.argmin(squares - 2 * after @ before[one])) for one in some]
    return float(np.mean(np.array(nearest) == some))
