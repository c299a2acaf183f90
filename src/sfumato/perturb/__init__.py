"""The perturbation methods, as scikit-learn transformers, and their catalogue.

Importing this package is cheap: a method's module, and scikit-learn with it, is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato.perturb.catalogue import METHODS, method, methods

if TYPE_CHECKING:
    from sfumato.perturb.additive import AdditiveNoise as AdditiveNoise
    from sfumato.perturb.chaotic import ChaoticNoise as ChaoticNoise
    from sfumato.perturb.correlated import CorrelatedNoise as CorrelatedNoise
    from sfumato.perturb.enhanced import Enhanced as Enhanced
    from sfumato.perturb.guarded import Guarded as Guarded
    from sfumato.perturb.hybrid import Hybrid as Hybrid
    from sfumato.perturb.independent import IndependentNoise as IndependentNoise
    from sfumato.perturb.intervals import IntervalResampling as IntervalResampling
    from sfumato.perturb.microaggregation import Microaggregation as Microaggregation
    from sfumato.perturb.mixing import AtomMixing as AtomMixing
    from sfumato.perturb.multiplicative import MultiplicativeNoise as MultiplicativeNoise
    from sfumato.perturb.nested import NestedClustering as NestedClustering
    from sfumato.perturb.pca import PCAProjection as PCAProjection
    from sfumato.perturb.random_projection import RandomProjection as RandomProjection
    from sfumato.perturb.rotation import Rotation as Rotation
    from sfumato.perturb.scaling import Scaling as Scaling
    from sfumato.perturb.translation import Translation as Translation

__all__ = ["METHODS", "method", "methods", *(row.name for row in METHODS)]  # noqa: PLE0604

_HOMES = {row.name: row.module for row in METHODS}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"sfumato.perturb.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
