"""The clusters before and after, as a section of a page; the public summary shows it too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.auditing.densities import Densities
from sfumato.auditing.pages.mixed_utility_page import mixed_blocks
from sfumato.auditing.pages.text import cost_words, percent, rescaling_lines, utility_rows
from sfumato.report.bars import Pair, pairs_chart
from sfumato.report.blocks import Block, Column, Items, Paragraph, Picture, Section, Table
from sfumato.report.density import density_chart

if TYPE_CHECKING:
    from sfumato.auditing.utility.result import Utility
    from sfumato.auditing.whole.mixed_utility import MixedUtility

_TITLE = "What the release is still good for"
_COLUMNS = (
    Column("clusters", numeric=True),
    Column("release", "rows in another cluster; less is better", numeric=True),
    Column("second run on the original", "what k-means loses anyway", numeric=True),
    Column("shared starts", "both from the same centres; less is better", numeric=True),
)


def utility_section(
    useful: Utility | None, densities: Densities | None = None, mixed: MixedUtility | None = None
) -> Section:
    """Return the clusters before and after.

    Parameters
    ----------
    densities : Densities, optional
        Pictures of the table and the release, for the owner.
    mixed : MixedUtility, optional
        Figures of a table with categories, for the owner.
    """
    blocks: list[Block] = []
    if useful is None:
        blocks.append(Paragraph("The clusters were not measured."))
    elif not (rows := utility_rows(useful)):
        blocks.append(Paragraph("There are too few different rows for clusters."))
    else:
        blocks.append(Paragraph(_words(useful)))
        if useful.rescaled:
            blocks.append(Items(tuple(rescaling_lines(useful))))
        figures = [one for one in useful.excesses if one.scaling == useful.headline_scaling]
        chart = pairs_chart(
            [Pair(str(one.k), one.release, one.floor) for one in figures],
            first="k-means on the release",
            second="a second run on the original",
            title="Rows in another cluster than on the original (%, less is better)",
        )
        caption = "Where both bars are high, the table itself has no stable clusters of that number."
        blocks += [
            Picture(chart, caption),
            Table(f"k-means on {useful.rows_measured:,} rows.", _COLUMNS, tuple(rows)),
        ]
    if mixed is not None:
        blocks += mixed_blocks(mixed)
    if densities is not None:
        panels = [("the original", densities.before), ("the release", densities.after)]
        words = (
            "Where the rows lie, seen along the two main directions of the original. Same shapes in the same places "
            "mean that the structure has survived. Places with fewer than five rows are left empty."
        )
        if densities.moved:
            words += " The release lies elsewhere, so it is seen along its own main directions."
        blocks.append(Picture(density_chart(panels), words))
    return Section(_TITLE, tuple(blocks))


def _words(useful: Utility) -> str:
    text = (
        f"k-means, started anew on the release, puts {percent(useful.excess_mean)} of the rows into another cluster "
        "than on the original, beyond what a second run on the original does (mean over the numbers of clusters)."
    )
    if useful.excess_low is not None:
        text += (
            f" Measured again from other starts it is {percent(useful.excess_low)} to {percent(useful.excess_high)}."
        )
    if useful.shared_max is not None:
        text += f" From the same starting centres it is at most {percent(useful.shared_max)}."
    if useful.cost_mean is not None:
        words = cost_words(useful.cost_mean)
        text += f" Released rows belong to nobody, so people go to the nearest centre: {words}."
    return text
