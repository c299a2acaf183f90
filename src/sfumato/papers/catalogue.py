"""The papers, by name; a paper's module is loaded when it is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from sfumato.exceptions import ParameterError, nearest_name
from sfumato.papers.result import Reproduction


@dataclass(frozen=True)
class Paper:
    """A paper that can be reproduced.

    Attributes
    ----------
    name : str
        What one types.
    module : str
        Where its experiments are.
    about : str
    files : tuple of str
        Data it needs.
    share : float
        Share of the time that all five take, for the progress.
    """

    name: str
    module: str
    about: str
    files: tuple[str, ...]
    share: float

    def load(self) -> Callable[..., Reproduction]:
        """Return the function that reproduces it."""
        run: Callable[..., Reproduction] = import_module(f"sfumato.papers.{self.module}").reproduce
        return run


_PAPERS = (
    Paper("gdtm", "gdtm", "geometric transformations (Oliveira, Zaiane 2003)", (), 0.35),
    Paper(
        "chaotic",
        "chaotic",
        "chaotic distortion (Li, Xu, Chu, Wang 2007)",
        ("census.csv", "housing_corrected.csv", "tarragona.csv", "wages.csv"),
        0.10,
    ),
    Paper("ina", "ina", "independent noise (Wang, Zheng, Liao 2008)", (), 0.35),
    Paper(
        "one-d",
        "one_d",
        "1-d clustering (Cui, Wong, Cheung)",
        ("wine.csv", "breast_cancer_wisconsin.csv", "shuttle.csv.gz", "musk2.csv.gz"),
        0.15,
    ),
    Paper("anc", "anc", "nested clustering (Rajalakshmi, Anandha Mala)", ("adult.csv.gz",), 0.05),
)


def papers() -> tuple[Paper, ...]:
    """Return all papers.

    Examples
    --------
    >>> [entry.name for entry in papers()]
    ['gdtm', 'chaotic', 'ina', 'one-d', 'anc']
    """
    return _PAPERS


def paper(name: str) -> Paper:
    """Return a paper by its name.

    Examples
    --------
    >>> paper("ina").about
    'independent noise (Wang, Zheng, Liao 2008)'
    """
    names = [entry.name for entry in _PAPERS]
    if name in names:
        return _PAPERS[names.index(name)]
    raise ParameterError(
        f"no paper {name!r}; there are {', '.join(names)}",
        hint=nearest_name(name, names) or "choose one of these, or --all",
    )
