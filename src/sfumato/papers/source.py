"""Title and citation of a paper, from the catalogue of methods: they stand in one place only."""

from __future__ import annotations

from sfumato.perturb.catalogue import method


def source(method_id: str) -> tuple[str, str]:
    """Return the title and the citation of the paper that a method comes from.

    Parameters
    ----------
    method_id : str
        Of the catalogue of methods.

    Examples
    --------
    >>> source("one-d")[1]
    'Y. Cui, W. K. Wong, D. W. Cheung, Database Systems for Advanced Applications (DASFAA), 2009'
    """
    paper = method(method_id).paper
    return paper.title, f"{paper.authors}, {paper.venue}, {paper.year}"
