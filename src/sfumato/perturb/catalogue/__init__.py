"""The catalogue of methods: what each is, what it takes, what it claims, and who breaks it.

It is data. The command line, the studio, the docs and the common tests are made from it, so a new method is
one file and one row here, in the module of its kind; `rows.py` gathers them.
"""

from __future__ import annotations

from sfumato.exceptions import ParameterError, nearest_name
from sfumato.perturb.catalogue.entries import Method
from sfumato.perturb.catalogue.rows import METHODS

__all__ = ["DEFAULT_METHOD", "METHODS", "method", "methods"]

DEFAULT_METHOD = "mix"  # what a release uses when nothing else is said


def methods() -> tuple[Method, ...]:
    """Return the catalogue: every method with its parameters, claims and known breaks.

    Examples
    --------
    >>> [row.id for row in methods() if row.invertible]
    ['tdp', 'sdp', 'rdp', 'hdp']
    """
    return METHODS


def method(name: str) -> Method:
    """Return the row of a method, by id ("rdp") or class name ("Rotation").

    Parameters
    ----------
    name : str
        Id (`rdp`) or class name (`Rotation`).

    Examples
    --------
    >>> method("rdp").name
    'Rotation'
    """
    for row in METHODS:
        if name in {row.id, row.name}:
            return row
    ids = [row.id for row in METHODS]
    near = nearest_name(name, ids + [row.name for row in METHODS])
    raise ParameterError(f"no method {name!r}", hint=f"{near + ' ' if near else ''}methods are: {', '.join(ids)}")
