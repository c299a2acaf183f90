"""One instance of every method of the catalogue, for the common tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.perturb import AdditiveNoise, Enhanced, Guarded, IntervalResampling, Rotation, Translation, methods

# parameters under which a method behaves on any table: constants of the common tests, not of the papers
SETTINGS: dict[str, dict[str, Any]] = {
    "one-d": {"min_radius": 0.1},
    "mix": {"clusterings": (2, 3)},
    "exchange": {"clusterings": (2, 3), "draws": 2},
    "dp": {"bounds": (-1e5, 1e5), "count": "public"},
}


def instance(method_id: str, **more: Any) -> Any:
    row = next(row for row in methods() if row.id == method_id)
    if method_id == "guard":
        return Guarded(AdditiveNoise(scale=0.5), clusterings=(2, 3), **more)
    if row.wraps:
        return Enhanced(Translation(), fraction=0.3, **more)
    return row.load()(**SETTINGS.get(method_id, {}), **more)


def variants(**more: Any) -> list[Any]:
    """Return instances that reach every branch of every kernel, of all methods whose release the key repeats.

    The noise of the private mixture is fresh at every fit: tests/perturb/test_private.py is about it.
    """
    from sfumato import perturb as p

    every = [instance(row.id, **more) for row in methods() if not row.draws_rows]
    return [
        *every,
        p.Rotation(scale="std", **more),
        p.Rotation(scale="range", **more),
        p.AdditiveNoise(distribution="uniform", relative=False, **more),
        p.AdditiveNoise(distribution="laplace", **more),
        p.MultiplicativeNoise(distribution="uniform", **more),
        p.ChaoticNoise(source="orbit", **more),
        p.IndependentNoise(noise="ball", alpha="std", **more),
        IntervalResampling(n_clusters=4, final_merge="static", min_radius=0.25, **more),
        p.NestedClustering(rule="paper", preserve_moments=True, **more),
        p.NestedClustering(preserve_moments=True, **more),
        p.Microaggregation(algorithm="mdav", **more),
        p.PCAProjection(n_components=2, **more),
        Enhanced(Rotation(), fraction=0.2, distributions=[("uniform", -1.0, 2.0)] * 5, **more),
        Enhanced(p.NestedClustering(), fraction=0.2, **more),
        p.AtomMixing(clusterings=(2, 3), exact_centres=True, scaling="range", spread=1.0, **more),
        p.AtomMixing(clusterings=(2, 4), guard=False, scaling=None, **more),
        p.AtomMixing(clusterings=(3,), decimals=1, **more),
        Guarded(p.NestedClustering(), clusterings=(2,), **more),
        p.AtomMixing(draws=1, **more),
        p.AtomMixing(clusterings=(2, 4), other_scalings=("range", "raw"), draws=1, **more),
        p.AtomExchange(clusterings=(2, 5, 9), min_atom=12, draws=1, **more),
        p.AtomExchange(draws=1, detail={"level": "coarse", "rows": 12}, **more),
        p.AtomExchange(clusterings=(2, 4), exact_centres=True, scaling="gower", together=[("x0", "x4")], **more),
    ]


def table(n_rows: int = 700, seed: int = 0) -> np.ndarray:
    """Return a table with clusters, skew, whole numbers and five columns."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(4, 5)) * 6
    rows = centres[rng.integers(0, 4, n_rows)] + rng.normal(size=(n_rows, 5))
    rows[:, 2] *= rows[:, 2]  # skewed; exp would differ between processors
    rows[:, 3] = np.rint(rows[:, 3] * 3)
    rows[:, 4] *= 1000.0
    return rows


def describe(perturber: Any) -> str:
    return repr(perturber).replace("\n", " ")[:80]


def on_ladder(perturber) -> bool:
    """Tell whether a perturber keeps every rung: it does what others do, twenty times over."""
    return perturber.get_params().get("clusterings") == "ladder"
