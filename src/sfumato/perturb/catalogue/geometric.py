"""Rows of methods that move, stretch, turn or project all rows alike."""

from __future__ import annotations

from sfumato.perturb.catalogue.breaks import BY_COLUMN, LINEAR, LINKS, broken_by
from sfumato.perturb.catalogue.entries import Method
from sfumato.perturb.catalogue.papers import GDTM, LIU
from sfumato.perturb.mechanism.parameters import Options, Parameter, Span


def _drawn(name: str, kind: str, text: str) -> Parameter:
    return Parameter(name, kind, None, f"{text}; None lets the key draw", optional=True, secret=True)


GEOMETRIC: tuple[Method, ...] = (
    Method(
        "tdp",
        "Translation",
        "translation",
        "Adds one secret offset to each column.",
        GDTM,
        "row",
        2,
        invertible=True,
        keeps_distances=True,
        parameters=(_drawn("offsets", "numbers", "what is added to each column"),),
        known_breaks=broken_by(
            *BY_COLUMN, *LINEAR, "curves", "trilateration", "distances", *LINKS, "directions", "forward", "invariants"
        ),
        paper_parameters={"offsets": [-3.0, 6235.0]},
    ),
    Method(
        "sdp",
        "Scaling",
        "scaling",
        "Multiplies each column by a secret factor.",
        GDTM,
        "row",
        2,
        invertible=True,
        keeps_distances=False,
        parameters=(_drawn("factors", "numbers", "what each column is multiplied by; never 0"),),
        known_breaks=broken_by("lattice", *BY_COLUMN, *LINEAR, "curves", *LINKS, "directions", "forward", "invariants"),
        paper_parameters={"factors": [0.93, 0.89]},
    ),
    Method(
        "rdp",
        "Rotation",
        "rotation",
        "Rotates pairs of columns by secret angles.",
        GDTM,
        "row",
        3,
        invertible=True,
        keeps_distances=True,
        parameters=(
            _drawn("angles", "numbers", "degrees, clockwise, one for each pair"),
            _drawn("pairs", "pairs", "which columns turn together"),
            Parameter(
                "scale",
                "choice",
                None,
                "unit in which the columns are rotated: their range or standard deviation; None rotates raw values",
                choices=("range", "std"),
                optional=True,
                search=Options((None, "range", "std")),
            ),
        ),
        known_breaks=(
            *broken_by(*LINEAR, "trilateration", "distances", "directions", "forward", "invariants"),
            *broken_by("lattice", dense=True),
        ),
        paper_parameters={"angles": 356.71},
    ),
    Method(
        "hdp",
        "Hybrid",
        "hybrid",
        "Adds, multiplies or rotates: an operation of its own for each column.",
        GDTM,
        "row",
        2,
        invertible=True,
        keeps_distances=False,
        parameters=(_drawn("operations", "operations", "('add', e), ('mult', e) or ('rotate', angle, other column)"),),
        known_breaks=broken_by(*LINEAR, "curves", "views", "directions", "forward", "invariants"),
        paper_parameters={"operations": [("add", -3.0), ("mult", 0.92)]},
    ),
)

PROJECTIONS: tuple[Method, ...] = (
    Method(
        "pca",
        "PCAProjection",
        "pca",
        "Keeps the largest principal components and drops the rest.",
        LIU,
        "row",
        3,
        invertible=False,
        keeps_distances=False,
        parameters=(
            Parameter(
                "n_components",
                "number or integer",
                0.99,
                "share of the variance to keep, or number of components",
                search=Span(0.5, 0.999),
            ),
        ),
        known_breaks=(
            *broken_by("views", "directions", "forward", "invariants"),
            *broken_by("as-released", *BY_COLUMN, *LINEAR, "trilateration", dense=True),
        ),
        paper_parameters={"n_components": 0.99},
    ),
    Method(
        "rp",
        "RandomProjection",
        "random_projection",
        "Projects onto fewer, secret directions.",
        LIU,
        "row",
        2,
        invertible=False,
        keeps_distances=False,
        row_preserving=False,
        parameters=(
            Parameter(
                "n_components",
                "integer",
                None,
                "number of directions; None takes half of the columns",
                low=1,
                optional=True,
            ),
        ),
        known_breaks=(*broken_by("forward", "invariants"), *broken_by(*LINEAR, "trilateration", dense=True)),
    ),
)
