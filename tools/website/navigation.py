"""Which page stands where in the site. A page of docs/ that is not named here stands under "More"."""

from __future__ import annotations

from collections.abc import Iterable

#: heading -> pages, as they stand on the left
SECTIONS = {
    "Begin": ("guide/tour", "guide/install", "studio"),
    "How to": (
        "guide/policy",
        "guide/keys",
        "guide/mixed-tables",
        "guide/choosing-a-method",
        "guide/reading-a-report",
        "guide/recipes",
        "other-tools",
        "databases",
        "spark",
        "collaboration",
        "scaling",
        "reliability",
    ),
    "Concepts": (
        "concepts/grades",
        "concepts/which-method",
        "concepts/for-your-miner",
        "concepts/for-your-lawyer",
        "attacks",
        "guard",
        "dp",
        "limitations",
    ),
    "Notebooks": ("notebooks/steward", "notebooks/analyst", "notebooks/researcher"),
    "Reference": (
        "reference/python/index",
        "reference/commands",
        "reference/policy",
        "reference/methods",
        "reference/attacks",
        "reference/metrics",
        "reference/formats",
    ),
    "Measured": ("frontier", "exposed", "benchmarks", "reproduction"),
    "Project": ("project/design", "project/contributing", "project/security", "project/changelog"),
}


def toctrees(pages: Iterable[str]) -> str:
    """Return what puts the pages on the left, in MyST Markdown.

    Parameters
    ----------
    pages : iterable of str
        All pages of docs/, without their endings.

    Examples
    --------
    >>> toctrees(["index", "guide/tour", "a/new"]).splitlines()[-7:]
    ['```{toctree}', ':hidden:', ':caption: More', '', 'a/new', '```', '']
    """
    named = {"index", *(page for section in SECTIONS.values() for page in section)}
    more = tuple(sorted(set(pages) - named))
    blocks = []
    for heading, listed in (SECTIONS | ({"More": more} if more else {})).items():
        blocks += ["```{toctree}", ":hidden:", f":caption: {heading}", "", *listed, "```", ""]
    return "\n".join([*blocks, ""])
