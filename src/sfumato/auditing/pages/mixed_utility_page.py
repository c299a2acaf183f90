"""What a mixed table is still good for: the same figures as text and as blocks of the owner's page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.auditing.pages.text import percent
from sfumato.report.blocks import Block, Column, Paragraph, Table

if TYPE_CHECKING:
    from sfumato.auditing.whole.mixed_utility import MixedUtility


def mixed_lines(mixed: MixedUtility) -> list[str]:
    """Return the figures as lines of text."""
    return ["", "Utility of categories and numbers together", *(f"  {text}" for text in _facts(mixed))]


def mixed_blocks(mixed: MixedUtility) -> list[Block]:
    """Return the figures as blocks of a page."""
    blocks: list[Block] = [Paragraph(f"{text[0].upper()}{text[1:]}.") for text in _facts(mixed)]
    heads = (
        Column("clusters", numeric=True),
        Column("by"),
        Column("release", "people in another cluster; less is better", numeric=True),
        Column("second run on the original", "what the clusterer loses anyway", numeric=True),
    )
    rows = tuple((str(one.k), one.clusterer, percent(one.release), percent(one.floor)) for one in mixed.clusters)
    blocks.append(Table("Clusters of categories and numbers together.", heads, rows))
    if mixed.models:
        heads = (
            Column("category"),
            Column("trained on the original", "other people's rows told right", numeric=True),
            Column("trained on the release", "the closer the better", numeric=True),
            Column("most frequent value", numeric=True),
        )
        told = tuple((one.column, *map(percent, (one.original, one.release, one.majority))) for one in mixed.models)
        blocks.append(Table("Models that tell a category, tried on original rows.", heads, told))
    ends = (Column("column"), Column("distance", "0 the same distribution, 1 another; less is better", numeric=True))
    apart = tuple((one.column, f"{one.distance:.3f}") for one in mixed.distances.columns)
    blocks.append(Table("Every column before and after.", ends, apart))
    return blocks


def _facts(mixed: MixedUtility) -> list[str]:
    """Return sentences about clusters, pairs of columns and models."""
    apart = mixed.distances
    facts = [f"k-prototypes puts {percent(mixed.excess)} of the people elsewhere, beyond a second run, mean over k"]
    tree = [one.release for one in mixed.clusters if one.floor is None]
    if tree:
        mean = percent(sum(tree) / len(tree))
        facts.append(f"a tree of average linkage over Gower's distance puts {mean} elsewhere, mean over k")
    if apart.pairs_mean is not None:
        facts.append(
            f"pairs of categories: total variation {apart.pairs_mean:.3f} on average, {apart.pairs_max:.3f} at most"
        )
    if apart.correlations_mean is not None:
        changed = f"{apart.correlations_mean:.3f} on average, {apart.correlations_max:.3f} at most"
        facts.append(f"correlations of numbers change by {changed}")
    if mixed.accuracy_lost is not None:
        facts.append(f"a model trained on the release tells {percent(mixed.accuracy_lost)} fewer categories right")
    return facts
