"""Attacks that are known to undo methods, and what each takes to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_KNOWS = {  # attack -> what the attacker must know, cheapest first
    "as-released": "nothing",
    "lattice": "nothing",
    "orbit": "nothing",
    "moments": "public means",
    "orbit-range": "public ranges",
    "quantiles": "public distributions",
    "orbit-known": "1 record",
    "affine-columns": "2 records",
    "affine": "d + 1 records",
    "trilateration": "d + 1 records",
    "shaped-affine": "d + 2 records",
    "distances": "d + 2 people",
    "ransac": "3d + 6 records",
    "ridge": "3d + 6 records",
    "group-affine": "a tenth of the records",
    "curves": "a tenth of the records",
    "differencing": "most of a group",
    "nearest": "full records",
    "fellegi-sunter": "full records",
    "ranks": "full records",
    "views": "full records",
    "near-copies": "full records",
    "directions": "full records and d + 2 others' rows",
    "forward": "full records and a tenth of the others' rows",
    "invariants": "full records and a tenth of the others' rows",
    "likelihood": "full records",
    "clip-slack": "full records and named centres",
    "atom-likelihood": "full records and true moments",
}

LINKS = ("nearest", "fellegi-sunter", "ranks", "views")
IN_ATOMS = ("clip-slack", "atom-likelihood")
LINEAR = ("affine", "ransac", "ridge", "shaped-affine", "group-affine")
BY_COLUMN = ("moments", "quantiles", "affine-columns")


@dataclass(frozen=True)
class Break:
    """An attack that is known to undo a method: its lift over guessing is above one half.

    Each is a test on a reference table: Wine (178 x 13) or, for dense tables, 1,500 whole-numbered rows of two columns.

    Attributes
    ----------
    attack : str
        Id in the catalogue of attacks.
    cost : str
        What the attacker must know.
    when : mapping
        Parameters under which it holds; empty means always.
    dense : bool
        Whether it holds on dense tables of few columns only.
    """

    attack: str
    cost: str
    when: Mapping[str, Any] = field(default_factory=dict)
    dense: bool = False

    @property
    def text(self) -> str:
        """The break in words, for tables."""
        condition = "".join(f", with {name}={value}" for name, value in self.when.items())
        return f"{self.cost} ({self.attack}{condition}{', dense tables of few columns' if self.dense else ''})"


def broken_by(*attacks: str, dense: bool = False, **when: Any) -> tuple[Break, ...]:
    """Return a break for each attack, the cheapest first.

    Parameters
    ----------
    dense, **when
        See `Break`.
    """
    return tuple(Break(attack, cost, when, dense) for attack, cost in _KNOWS.items() if attack in attacks)
