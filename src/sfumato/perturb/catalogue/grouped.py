"""Rows of methods that give groups of neighbouring rows one value."""

from __future__ import annotations

from sfumato.perturb.catalogue.breaks import LINEAR, broken_by
from sfumato.perturb.catalogue.entries import Method
from sfumato.perturb.catalogue.papers import ANC, MDAV
from sfumato.perturb.mechanism.parameters import Options, Parameter, Span

GROUPED: tuple[Method, ...] = (
    Method(
        "anc",
        "NestedClustering",
        "nested",
        "Groups three to five neighbouring rows and gives each group one value.",
        ANC,
        "table",
        5,
        invertible=False,
        keeps_distances=False,
        hides_more="make larger groups",
        parameters=(
            Parameter(
                "group_size",
                "integer",
                3,
                "smallest group; the largest is twice that less one",
                low=2,
                search=Span(3, 30, log=True),
            ),
            Parameter("n_parents", "integer", 2, "fuzzy clusters that groups do not cross", low=1, search=Span(1, 8)),
            Parameter(
                "rule",
                "choice",
                "group",
                "group: one value for a group; paper: rows equal to the centroid move elsewhere",
                choices=("group", "paper"),
            ),
            Parameter(
                "preserve_moments",
                "flag",
                False,
                "restore mean and variance of each parent and column",
                search=Options((False, True)),
            ),
        ),
        known_breaks=broken_by(
            "as-released", "moments", "quantiles", "affine-columns", "ransac", "ridge", "differencing", dense=True
        ),
        paper_parameters={"group_size": 3, "n_parents": 2, "rule": "paper"},
    ),
    Method(
        "mdav",
        "Microaggregation",
        "microaggregation",
        "Replaces groups of nearby rows by their mean.",
        MDAV,
        "table",
        4,
        invertible=False,
        keeps_distances=False,
        hides_more="make larger groups",
        parameters=(
            Parameter("group_size", "integer", 3, "smallest group", low=2, search=Span(3, 50, log=True)),
            Parameter(
                "algorithm",
                "choice",
                "blocks",
                "mdav is exact and quadratic; blocks runs it inside small blocks of near rows",
                choices=("blocks", "mdav"),
            ),
        ),
        known_breaks=broken_by(
            "as-released", "moments", "quantiles", *LINEAR, "affine-columns", "differencing", dense=True
        ),
    ),
)
