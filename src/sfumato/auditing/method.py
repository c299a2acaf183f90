"""What a method says of itself: its public parameters, and the clusters that its release keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from sfumato._arrays import Integers
from sfumato.attack.atoms.regions import LADDER, clusters_of, every_rung
from sfumato.auditing.aligned import AlignedTables
from sfumato.auditing.whole.company import Company, nearest_of_all, same_clusters
from sfumato.core.secret import Hidden
from sfumato.exceptions import ParameterError
from sfumato.frames.frame import take_rows


def describe_method(method: Any) -> tuple[dict[str, Any], bool]:
    """Return what is public about a method, and whether it was run with a seed for tests."""
    if method is None:
        return {}, False
    if isinstance(method, str):
        return {"method": method}, False
    if isinstance(method, Mapping):
        return dict(method), False
    if hasattr(method, "method_id") and hasattr(method, "catalogue_row"):
        public = {
            parameter.name: getattr(method, parameter.name)
            for parameter in method.catalogue_row().parameters
            if not parameter.secret and parameter.kind != "perturber"
        }
        return {"method": method.method_id, **public}, method.insecure_seed is not None
    raise ParameterError(
        f"method must be a perturber, a method's id or a mapping, got {type(method).__name__}",
        hint='for instance method="ina", or method={"method": "adp", "scale": 0.1}',
    )


def without_held_back(original: Any, released: Any, method: Any) -> Any:
    """Return an original without the people whom a fitted method left out of its release, which has no row of them.

    Parameters
    ----------
    original, released : dataframes or arrays
    method : perturber, str or mapping, optional
        See `sfumato.audit`.
    """
    fitted = getattr(method, "__sklearn_is_fitted__", lambda: False)()
    held = list(method.held_back_rows()) if fitted and hasattr(method, "held_back_rows") else []
    if not held or len(original) - len(held) != len(released) or max(held) >= len(original):
        return original
    stay = np.ones(len(original), dtype=np.bool_)
    stay[held] = False
    return take_rows(original, stay)


class KeptClusters(Hidden):
    """The clusters that a release keeps: whoever mines it knows who shares all of them.

    Parameters
    ----------
    method : perturber, str or mapping, optional
        See `sfumato.audit`.
    categories : sequence of int
        The columns that hold codes of categories.
    """

    def __init__(self, tables: AlignedTables, method: Any, categories: Sequence[int], seed: int) -> None:
        self._tables, self._categories, self._seed = tables, categories, seed
        self._public, _ = describe_method(method)
        self._centres = _centres_of(method, len(tables.names))

    @cached_property
    def company(self) -> Company | None:
        """Who is alike by these clusters; None where a release keeps none, or nobody says so."""
        if not self._tables.same_columns or not (self._categories or self._public.get("clusterings")):
            return None
        return same_clusters(self._tables.original, self._categories, self._numbers, self._seed)

    def atoms(self) -> Integers | None:
        """Return which released rows share all of these clusters; None where a release keeps none."""
        if self.company is None or self._categories:
            return None
        released = self._tables.released
        if self._centres is not None:
            return nearest_of_all(released, self._centres, self._tables.original.std(axis=0))
        return same_clusters(released, (), self._numbers, self._seed).codes

    @property
    def _numbers(self) -> Sequence[int]:
        """The numbers of clusters."""
        n_rows = len(self._tables.original)
        ladder = LADDER in (self._public.get("clusterings") or ())
        return every_rung(n_rows) if ladder else clusters_of(self._public, n_rows)


def _centres_of(method: Any, n_columns: int) -> tuple[Any, ...] | None:
    """Return the centres that a fitted method keeps: whoever clusters its release finds them; None if it has none."""
    fitted = getattr(method, "__sklearn_is_fitted__", lambda: False)()
    if not fitted or not hasattr(method, "named_centres") or method.scaling != "std":
        return None
    centres = method.named_centres()
    return centres if all(one.shape[1:] == (n_columns,) for one in centres) else None
