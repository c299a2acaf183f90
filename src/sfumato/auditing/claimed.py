"""A formal guarantee against its own shadow runs: what the catalogue claims, and what the noise is proved to spend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from sfumato.exceptions import MissingComponentError
from sfumato.perturb.catalogue import methods
from sfumato.report.model import Frozen

_RUNS = {"quick": 600, "normal": 3000, "thorough": 20_000}


class Claimed(Frozen):
    """A claim of the catalogue, and what shadow runs find of it."""

    claim: str
    unit: str = Field(description="whom it protects")
    proof: str = Field(description="where it is proved")
    epsilon: float
    delta: float
    measured: float | None = Field(description="epsilon that is spent at least, by shadow runs; null if not tried")
    runs: int = Field(description="shadow runs with the person, and as many without")
    status: Literal["not exceeded", "exceeded", "not tried"]

    @property
    def words(self) -> str:
        """One or two sentences for the verdict."""
        said = f"The release claims {self.claim} with epsilon {self.epsilon:g} and delta {self.delta:g} for {self.unit}"
        if self.measured is None:
            return f"{said}; the claim was not put to the test, because OpenDP is not installed."
        found = f"{self.runs:,} shadow runs of all its measurements prove that at least {self.measured:.2f} is spent"
        if self.status == "exceeded":
            return f"{said}. It does not hold: {found}."
        return f"{said}; {found}, which does not exceed it."


def claims_drawn_rows(name: str | None) -> bool:
    """Tell whether a method says that released rows belong to nobody.

    Parameters
    ----------
    name : str, optional
        Id of the method.
    """
    return any(row.draws_rows for row in methods() if row.id == name)


def measure_claim(name: str | None, public: Mapping[str, Any], effort: str) -> Claimed | None:
    """Return the claim of a method and what shadow runs find of it; None for methods that claim nothing.

    Parameters
    ----------
    name : str, optional
        Id of the method.
    public : mapping
        Its parameters. Without those that say how strong the claim is, there is none.
    effort : str
        How many shadow runs: see `sfumato.audit`.
    """
    row = next((one for one in methods() if one.id == name), None)
    if row is None or row.guarantee is None or any(public.get(one) is None for one in row.guarantee.parameters):
        return None
    told, runs = row.guarantee, _RUNS[effort]
    epsilon, delta = (float(public[one]) for one in told.parameters)
    try:
        measured: float | None = told.test(public, runs)
    except MissingComponentError:
        measured = None
    status: Any = "not tried" if measured is None else "exceeded" if measured > epsilon else "not exceeded"
    return Claimed(
        claim=told.claim,
        unit=told.unit,
        proof=told.proof,
        epsilon=epsilon,
        delta=delta,
        measured=measured,
        runs=runs,
        status=status,
    )
