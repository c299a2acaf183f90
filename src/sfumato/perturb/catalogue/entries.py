"""A row of the catalogue of methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from sfumato.perturb.catalogue.breaks import Break
from sfumato.perturb.catalogue.papers import Paper
from sfumato.perturb.mechanism.parameters import Parameter


@dataclass(frozen=True)
class Guarantee:
    """A claim that is proved, not only attacked.

    Attributes
    ----------
    claim : str
    parameters : tuple of str
        Names of the parameters that say how strong it is.
    unit : str
        Whom it protects.
    proof : str
        Where the proof is written.
    tested_by : str
        Module whose `tested_claim(parameters, runs)` returns the epsilon that shadow runs prove at least.
    """

    claim: str
    parameters: tuple[str, ...]
    unit: str
    proof: str = "docs/dp.md"
    tested_by: str = "sfumato.perturb.private.claim"

    def test(self, parameters: Mapping[str, Any], runs: int) -> float:
        """Return the epsilon that shadow runs prove at least.

        Parameters
        ----------
        parameters : mapping
            Of the method.
        runs : int
            With a person, and as many without.
        """
        return float(import_module(self.tested_by).tested_claim(parameters, runs))


@dataclass(frozen=True)
class Method:
    """One row of the catalogue.

    Attributes
    ----------
    id : str
        Short name for the command line ("rdp").
    name : str
        Name of the class in `sfumato.perturb`.
    module : str
        Module that holds the class.
    summary : str
        One line in plain words.
    paper : Paper
    tier : str
        "row": each row by itself, any size of table; "group": rows meet in groups of bounded size, any size of table;
        "table": rows depend on one another, in memory.
    passes : int
        Passes over a file that a release takes at most, the first look and the releasing one included; for methods
        that try several draws on small tables, those of a large one.
    invertible : bool
        Whether the owner, with the key, gets the originals back.
    keeps_distances : bool
        Whether distances between rows stay (with default parameters).
    row_preserving : bool
        Whether released columns mean the same as the original ones.
    parameters : tuple of Parameter
        Its own parameters.
    known_breaks : tuple of Break
    paper_parameters : mapping
        The paper's own settings.
    wraps : bool
        Whether it wraps another method.
    inner : str
        The method it wraps when nobody says which, for comparisons; of wrappers only.
    hides_from_key_holders : bool
        Whether a released row says no more about its original to who has the key: it is drawn anew, not moved.
    hides_more : str
        What makes it hide more, as advice; empty if only another method does.
    guarantee : Guarantee, optional
        What is proved of it.
    draws_rows : bool
        Whether released rows belong to nobody: no row of the release is a row of the table.
    """

    id: str
    name: str
    module: str
    summary: str
    paper: Paper
    tier: str
    passes: int
    invertible: bool
    keeps_distances: bool
    parameters: tuple[Parameter, ...]
    known_breaks: tuple[Break, ...]
    paper_parameters: Mapping[str, Any] = field(default_factory=dict)
    row_preserving: bool = True
    wraps: bool = False
    inner: str = "adp"
    hides_from_key_holders: bool = False
    hides_more: str = ""
    guarantee: Guarantee | None = None
    draws_rows: bool = False

    @property
    def quick(self) -> dict[str, Any]:
        """Values of parameters for a first look, where the defaults would take long."""
        return {parameter.name: parameter.quick for parameter in self.parameters if parameter.quick is not None}

    def load(self) -> type[Any]:
        """Import and return the class."""
        cls: type[Any] = getattr(import_module(f"sfumato.perturb.perturbers.{self.module}"), self.name)
        return cls
