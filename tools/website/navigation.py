"""Which page stands where in the site. A page of docs/ that is not named here is an error of the build."""

from __future__ import annotations

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
        "databases",
        "spark",
        "collaboration",
        "scaling",
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
    "Measured": ("frontier", "benchmarks", "reproduction"),
    "Project": ("project/design", "project/contributing", "project/security", "project/changelog"),
}


def toctrees() -> str:
    """Return what puts the pages on the left, in MyST Markdown."""
    blocks = []
    for heading, pages in SECTIONS.items():
        blocks += ["```{toctree}", ":hidden:", f":caption: {heading}", "", *pages, "```", ""]
    return "\n".join(blocks)
