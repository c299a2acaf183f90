"""The perturbation methods, as scikit-learn transformers, and their catalogue.

Importing this package is cheap: a method's module, and scikit-learn with it, is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato._lazy import lazy_names
from sfumato.perturb.catalogue import METHODS, method, methods

if TYPE_CHECKING:
    from sfumato.perturb.perturbers.additive import AdditiveNoise as AdditiveNoise
    from sfumato.perturb.perturbers.chaotic import ChaoticNoise as ChaoticNoise
    from sfumato.perturb.perturbers.correlated import CorrelatedNoise as CorrelatedNoise
    from sfumato.perturb.perturbers.enhanced import Enhanced as Enhanced
    from sfumato.perturb.perturbers.exchange import AtomExchange as AtomExchange
    from sfumato.perturb.perturbers.guarded import Guarded as Guarded
    from sfumato.perturb.perturbers.hybrid import Hybrid as Hybrid
    from sfumato.perturb.perturbers.independent import IndependentNoise as IndependentNoise
    from sfumato.perturb.perturbers.intervals import IntervalResampling as IntervalResampling
    from sfumato.perturb.perturbers.microaggregation import Microaggregation as Microaggregation
    from sfumato.perturb.perturbers.mixing import AtomMixing as AtomMixing
    from sfumato.perturb.perturbers.multiplicative import MultiplicativeNoise as MultiplicativeNoise
    from sfumato.perturb.perturbers.nested import NestedClustering as NestedClustering
    from sfumato.perturb.perturbers.pca import PCAProjection as PCAProjection
    from sfumato.perturb.perturbers.private import PrivateMixture as PrivateMixture
    from sfumato.perturb.perturbers.random_projection import RandomProjection as RandomProjection
    from sfumato.perturb.perturbers.rotation import Rotation as Rotation
    from sfumato.perturb.perturbers.scaling import Scaling as Scaling
    from sfumato.perturb.perturbers.translation import Translation as Translation

__all__ = ["METHODS", "method", "methods", *(row.name for row in METHODS)]  # noqa: PLE0604

_HOMES = {row.name: f"perturbers.{row.module}" for row in METHODS}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
