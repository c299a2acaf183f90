"""The two reference tables on which claims about methods are tested."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_wine

from sfumato.perturb import AdditiveNoise, Enhanced, Guarded, Rotation


def wine() -> np.ndarray:
    return load_wine().data


def dense() -> np.ndarray:
    """1,500 people, whole years and whole dollars: many rows, two columns."""
    rng = np.random.default_rng(5)
    age = rng.integers(18, 90, 1500).astype(float)
    return np.column_stack([age, np.rint(age * 500 + rng.normal(0, 9000, 1500) + 20_000)])


# the papers' own settings where they fit any table; drawn by the key where the paper's belong to its own two columns
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "chaotic": [{"source": "orbit"}, {"source": "keyed"}],
    "one-d": [{"n_clusters": 24, "min_radius": 0.0}, {"n_clusters": 24, "min_radius": 0.25}],
    "anc": [{"rule": "paper"}, {"rule": "group"}],
    "dp": [{"bounds": (0.0, 2000.0), "count": "public"}],
}


def perturber(row: Any, settings: dict[str, Any], seed: int) -> Any:
    if row.id == "guard":
        return Guarded(AdditiveNoise(scale=1.0), insecure_seed=seed)
    if row.wraps:
        return Enhanced(Rotation(scale="std"), 0.1, insecure_seed=seed)
    return row.load()(insecure_seed=seed, **settings)


def public(row: Any, made: Any) -> dict[str, Any]:
    return {p.name: getattr(made, p.name) for p in row.parameters if not p.secret and p.kind != "perturber"}
