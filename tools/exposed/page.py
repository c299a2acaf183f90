"""The page: what is measured in each section, and its figures."""

from __future__ import annotations

from collections.abc import Sequence

from tools.exposed import measure

__all__ = ["page"]

Rows = Sequence[Sequence[str]]

_HEADS = {
    "membership": "table|method|rows|AUC, all|told, all|AUC, farthest|told, farthest|control",
    "planted": "table|method|rows|found|found without them|held back, mean",
    "difference": "table|method|rows|cells, all|guessing|cells, farthest|guessing there",
    "company": "table|method|rows|held back|smallest|linked|span|excess without|excess|residual without|residual",
    "overlaps": "people of an earlier release|a second release",
    "history": "rows|size of the history|times that a row is hashed",
}


def _table(section: str, rows: Rows) -> list[str]:
    head = _HEADS[section].split("|")
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(row)} |" for row in rows), ""]


def page(found: dict[str, list[list[str]]], shadows: int, one_draw: int = measure.ONE_DRAW) -> str:
    """Return the page.

    Parameters
    ----------
    found : dict
        The lines of each section.
    shadows : int
        Releases that were made for each question of membership.
    one_draw : int
        Rows from which these releases have one draw.
    """
    (low, high), each = measure.LENGTHS, measure.PLANTED // measure.KEYS
    parts = [
        "# The exposed few: what releases tell of those who stand out",
        "",
        "Made by `make exposed` from real runs with the defaults of `mix` and `exchange`; nothing is typed by hand.",
        "*Clusters*, *one cloud* (seven columns that hang together) and *skewed* (three columns with long tails) are",
        "made tables of numbers.",
        "",
        "## Who is in the table",
        f"{shadows} shadow releases by somebody who knows the method and all other records. *AUC*: .5 is guessing.",
        "*Told*: members who are told where 1 in 100 others is taken for one. *Farthest*: one person in a hundred,",
        "those farthest from the middle. *Control*: members drawn anew, afterwards. Wanted of the farthest: at most",
        f".60, and 3 %. Tables of {one_draw:,} rows and more are released with `draws=1`, to take less time.",
        "",
        *_table("membership", found["membership"]),
        "## Planted outliers",
        f"{measure.PLANTED} lone people, 8 to 16 deviations from the middle, {each} in each of {measure.KEYS}",
        "releases with keys of their own. *Found*: one of the farthest released rows lies in their direction (cosine",
        f"at least {measure.COSINE}) at {low} to {high} times their distance; beside it the same without them.",
        "",
        *_table("planted", found["planted"]),
        "## Two releases that differ by one person",
        "Cells of the missing person that the difference of sums gives within .05 deviations, against the best of",
        "three guesses. Wanted: at most two points above guessing.",
        "",
        *_table("difference", found["difference"]),
        "## Company, small atoms, and what it costs",
        "*Held back*: rows that are not released. *Smallest*: people of the smallest cluster of all kept clusterings.",
        f"*Linked*: people of atoms of fewer than {measure.SMALL} rows whose nearest released row is their own, in",
        "brackets what guessing in their atom gets, and of all others. *Span*: half records that are completed,",
        "against a regression, of those whom the attack reaches.",
        f"*Excess*: rows that k-means (k = {', '.join(map(str, measure.KS))}) puts elsewhere, beyond what two runs on",
        'the original disagree on. *Without*: `exposed="publish"` and sums that are not moved.',
        "",
        *_table("company", found["company"]),
        "## The history of releases",
        *_table("overlaps", found["overlaps"]),
        *_table("history", found["history"]),
    ]
    return "\n".join(parts)
