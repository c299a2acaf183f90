"""The rows of the catalogue, one for each method."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sfumato.perturb.catalogue.entries import Break, Method, Paper
from sfumato.perturb.mechanism.parameters import Options, Parameter, Span

GDTM = Paper(
    "gdtm",
    "S. R. M. Oliveira, O. R. Zaïane",
    "Geometric Data Transformation for Privacy Preserving Clustering",
    "Technical report TR 03-12, University of Alberta",
    2003,
)
CHAOTIC = Paper(
    "chaotic",
    "J. Li, Y. Xu, C.-H. Chu, Y. Wang",
    "Privacy Preserving K-means Clustering with Chaotic Distortion",
    "International Conference on Electronic Business (ICEB)",
    2007,
)
INA = Paper(
    "ina",
    "Z. Wang, Y. Zheng, H. Liao",
    "Independent Noise Algorithm for Privacy Preserving Clustering",
    "Computer Engineering (in Chinese)",
    2008,
)
ONE_D = Paper(
    "one-d",
    "Y. Cui, W. K. Wong, D. W. Cheung",
    "Privacy-Preserving Clustering with High Accuracy and Low Time Complexity",
    "Database Systems for Advanced Applications (DASFAA)",
    2009,
)
ANC = Paper(
    "anc",
    "V. Rajalakshmi, G. S. Anandha Mala",
    "Anonymization Based on Nested Clustering for Privacy Preservation in Data Mining",
    "Indian Journal of Computer Science and Engineering",
    2013,
)
HUANG = Paper(
    "huang",
    "Z. Huang, W. Du, B. Chen",
    "Deriving Private Information from Randomized Data",
    "ACM SIGMOD",
    2005,
)
LIU = Paper(
    "liu",
    "K. Liu, H. Kargupta, J. Ryan",
    "Random Projection-Based Multiplicative Data Perturbation for Privacy Preserving Distributed Data Mining",
    "IEEE Transactions on Knowledge and Data Engineering 18(1)",
    2006,
)
MDAV = Paper(
    "mdav",
    "J. Domingo-Ferrer, V. Torra",
    "Ordinal, Continuous and Heterogeneous k-Anonymity through Microaggregation",
    "Data Mining and Knowledge Discovery 11",
    2005,
)

SFUMATO = Paper(
    "sfumato",
    "the sfumato maintainers",
    "Atom mixing and the cluster guard",
    "this software, docs/guard.md",
    2026,
)

_NOISES = ("normal", "uniform", "laplace")
_KNOWS = {  # attack -> what the attacker must know, cheapest first
    "as-released": "nothing",
    "lattice": "nothing",
    "orbit": "nothing",
    "moments": "public means",
    "orbit-range": "public ranges",
    "quantiles": "public distributions",
    "orbit-known": "1 record",
    "affine-columns": "2 records",
    "affine": "d + 1 records",
    "trilateration": "d + 1 records",
    "distances": "d + 2 people",
    "ransac": "3d + 6 records",
    "ridge": "3d + 6 records",
    "differencing": "most of a group",
    "nearest": "full records",
    "fellegi-sunter": "full records",
    "ranks": "full records",
    "likelihood": "full records",
    "clip-slack": "full records and named centres",
    "atom-likelihood": "full records and true moments",
}


def _broken_by(*attacks: str, dense: bool = False, **when: Any) -> tuple[Break, ...]:
    return tuple(Break(attack, cost, when, dense) for attack, cost in _KNOWS.items() if attack in attacks)


_LINKS = ("nearest", "fellegi-sunter", "ranks")
_IN_ATOMS = ("clip-slack", "atom-likelihood")
_LINEAR = ("affine", "ransac", "ridge")
_BY_COLUMN = ("moments", "quantiles", "affine-columns")


def _drawn(name: str, kind: str, text: str) -> Parameter:
    return Parameter(name, kind, None, f"{text}; None lets the key draw", optional=True, secret=True)


_CLUSTERINGS = Parameter(
    "clusterings",
    "clusterings",
    "ladder",
    "what to keep: the ladder (k-means with every number of clusters to 20), numbers of clusters, or fitted clusterers",
)
_DETAIL = Parameter(
    "detail",
    "detail",
    "medium",
    "how finely the ladder may cut the table: coarse, medium or fine, or limits of one's own",
)
_SCALING = Parameter(
    "scaling",
    "choice",
    "std",
    "space in which the clusterings are named: standard deviations, ranges, or None for raw values",
    choices=("std", "range"),
    optional=True,
)
_FINISHING = (
    Parameter("decimals", "decimals", None, "decimals of the released columns; integers have none", optional=True),
    Parameter("bounds", "bounds", None, "smallest and largest value of a column", optional=True),
)


METHODS: tuple[Method, ...] = (
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
        known_breaks=_broken_by(*_BY_COLUMN, *_LINEAR, "trilateration", "distances", *_LINKS),
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
        known_breaks=_broken_by("lattice", *_BY_COLUMN, *_LINEAR, *_LINKS),
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
        known_breaks=(*_broken_by(*_LINEAR, "trilateration", "distances"), *_broken_by("lattice", dense=True)),
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
        known_breaks=_broken_by(*_LINEAR),
        paper_parameters={"operations": [("add", -3.0), ("mult", 0.92)]},
    ),
    Method(
        "adp",
        "AdditiveNoise",
        "additive",
        "Adds independent noise to every cell.",
        GDTM,
        "row",
        3,
        invertible=False,
        keeps_distances=False,
        parameters=(
            Parameter(
                "scale",
                "numbers",
                0.1,
                "standard deviation of the noise",
                low=0.0,
                open_low=True,
                search=Span(0.01, 2.0, log=True),
            ),
            Parameter("distribution", "choice", "normal", "law of the noise", choices=_NOISES, search=Options(_NOISES)),
            Parameter("relative", "flag", True, "whether scale counts in standard deviations of the column"),
        ),
        known_breaks=_broken_by(*_LINKS, "likelihood", *_IN_ATOMS),
        paper_parameters={"scale": 10.0, "relative": False},
    ),
    Method(
        "mdp",
        "MultiplicativeNoise",
        "multiplicative",
        "Multiplies every cell by noise around 1.",
        GDTM,
        "row",
        2,
        invertible=False,
        keeps_distances=False,
        parameters=(
            Parameter(
                "scale",
                "numbers",
                0.1,
                "standard deviation of the factor",
                low=0.0,
                open_low=True,
                search=Span(0.01, 1.0, log=True),
            ),
            Parameter(
                "distribution", "choice", "normal", "law of the factor", choices=_NOISES, search=Options(_NOISES)
            ),
        ),
        known_breaks=_broken_by(*_LINKS),
    ),
    Method(
        "cov",
        "CorrelatedNoise",
        "correlated",
        "Adds normal noise with the covariance of the data.",
        HUANG,
        "row",
        3,
        invertible=False,
        keeps_distances=False,
        parameters=(
            Parameter(
                "scale",
                "number",
                1.0,
                "size of the noise in units of the data's own",
                low=0.0,
                open_low=True,
                search=Span(0.02, 2.0, log=True),
            ),
        ),
        known_breaks=_broken_by("likelihood"),
        paper_parameters={"scale": 1.0},
    ),
    Method(
        "chaotic",
        "ChaoticNoise",
        "chaotic",
        "Adds noise with the law of the logistic map, a tenth of each column's range.",
        CHAOTIC,
        "row",
        2,
        invertible=False,
        keeps_distances=False,
        parameters=(
            Parameter(
                "amplitude",
                "number",
                0.1,
                "share of the column's range",
                low=0.0,
                open_low=True,
                search=Span(0.01, 1.0, log=True),
            ),
            Parameter(
                "source",
                "choice",
                "keyed",
                "keyed draws from the secret stream; orbit is the paper's, and is broken",
                choices=("keyed", "orbit"),
            ),
        ),
        known_breaks=(
            *_broken_by("orbit", "orbit-range", "orbit-known", source="orbit"),
            *_broken_by(*_LINKS, "likelihood", *_IN_ATOMS),
        ),
        paper_parameters={"amplitude": 0.1, "source": "orbit"},
    ),
    Method(
        "ina",
        "IndependentNoise",
        "independent",
        "Adds more noise in the middle of clusters and less at their edges.",
        INA,
        "row",
        3,
        invertible=False,
        keeps_distances=False,
        parameters=(
            Parameter(
                "beta",
                "number",
                5,
                "how fine the reference points are",
                low=0.0,
                open_low=True,
                search=Span(1.0, 40.0, log=True),
            ),
            Parameter(
                "sample_size",
                "integer",
                200,
                "rows from which the references are made",
                low=2,
                search=Span(50, 1000, log=True),
            ),
            Parameter(
                "alpha",
                "choice",
                "range",
                "unit of each column",
                choices=("range", "std"),
                search=Options(("range", "std")),
            ),
            Parameter(
                "noise",
                "choice",
                "box",
                "box is the paper's; ball never changes a row's nearest reference",
                choices=("box", "ball"),
                search=Options(("box", "ball")),
            ),
        ),
        known_breaks=_broken_by(*_LINKS, "likelihood", "atom-likelihood"),
        paper_parameters={"beta": 5, "sample_size": 200, "noise": "box"},
    ),
    Method(
        "one-d",
        "IntervalResampling",
        "intervals",
        "Clusters each column by itself and draws every value anew inside its interval.",
        ONE_D,
        "row",
        3,
        invertible=False,
        hides_from_key_holders=True,
        keeps_distances=False,
        parameters=(
            Parameter("n_clusters", "integer", 24, "clusters for each column", low=1, search=Span(2, 60, log=True)),
            Parameter(
                "n_intervals",
                "integer",
                None,
                "first intervals for each column; None takes half the number of rows, at most 100,000",
                low=1,
                high=10_000_000,
                optional=True,
            ),
            Parameter(
                "final_merge",
                "choice",
                "greedy",
                "last merging: greedy updates distances, static sorts them once",
                choices=("greedy", "static"),
            ),
            Parameter(
                "min_radius",
                "number",
                0.0,
                "smallest radius of a draw, in standard deviations of the column; 0.25 is the hardened setting",
                low=0.0,
                search=Span(0.0, 1.0),
            ),
        ),
        known_breaks=(
            *_broken_by("as-released", "moments", "quantiles", "affine-columns", min_radius=0.0),
            *_broken_by(*_LINKS, *_IN_ATOMS),
        ),
        paper_parameters={"n_clusters": 24},
    ),
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
        known_breaks=_broken_by(
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
        known_breaks=_broken_by(
            "as-released", "moments", "quantiles", *_LINEAR, "affine-columns", "differencing", dense=True
        ),
    ),
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
        known_breaks=_broken_by("as-released", *_BY_COLUMN, *_LINEAR, "trilateration", dense=True),
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
        known_breaks=_broken_by(*_LINEAR, "trilateration", dense=True),
    ),
    Method(
        "mix",
        "AtomMixing",
        "mixing",
        "Mixes each row with its like, inside the regions of the clusterings that are to be kept.",
        SFUMATO,
        "row",
        12,
        invertible=False,
        hides_from_key_holders=True,
        keeps_distances=False,
        parameters=(
            _CLUSTERINGS,
            _DETAIL,
            Parameter(
                "min_atom",
                "integer",
                5,
                "smallest group of like rows whose mean is kept",
                low=2,
                search=Span(3, 20, log=True),
            ),
            Parameter(
                "exact_centres", "flag", False, "keep every named centre exactly, which publishes rows that are alone"
            ),
            _SCALING,
            Parameter("guard", "flag", True, "whether rows are held in the regions of their clusters"),
            Parameter(
                "spread",
                "number",
                None,
                "share of the scatter inside groups that is kept; None takes 0.8 on the ladder and 0.6 otherwise",
                optional=True,
                low=0.1,
                high=1.0,
                search=Span(0.3, 1.0),
            ),
            Parameter(
                "draws",
                "integer",
                6,
                "releases that are tried on small tables, to keep the best one; also the care in naming the clusters",
                low=1,
                quick=1,
            ),
            *_FINISHING,
        ),
        known_breaks=(),
    ),
    Method(
        "exchange",
        "AtomExchange",
        "exchange",
        "Lets rows exchange single values with their like; for tables with categories, codes and gaps.",
        SFUMATO,
        "group",
        7,
        invertible=False,
        keeps_distances=False,
        parameters=(
            replace(
                _CLUSTERINGS,
                help="what to keep: the ladder (k-means with every number of clusters to 20, and k-prototypes), "
                "numbers of clusters, k-prototypes with its number, or fitted clusterers",
            ),
            _DETAIL,
            Parameter("kinds", "kinds", None, "what the columns hold: continuous, count or category", optional=True),
            Parameter("held", "held", None, "values of continuous columns that stay as they are", optional=True),
            Parameter("together", "together", None, "columns whose values are exchanged as one", optional=True),
            Parameter("relations", "relations", None, "what holds in every row, as total = a + b", optional=True),
            Parameter(
                "min_atom",
                "integer",
                5,
                "smallest group of like rows that exchanges values only in itself",
                low=2,
                search=Span(3, 20, log=True),
            ),
            Parameter(
                "exact_centres", "flag", False, "keep every named centre exactly, which publishes rows that are alone"
            ),
            Parameter(
                "scaling",
                "choice",
                "std",
                "space in which the clusterings are named: standard deviations, ranges, Gower's, or raw values",
                choices=("std", "range", "gower"),
                optional=True,
            ),
            Parameter(
                "draws",
                "integer",
                12,
                "releases that are tried on small tables, to keep the best one; also the care in naming the clusters",
                low=1,
                quick=1,
            ),
            _FINISHING[0],
        ),
        known_breaks=(),
    ),
    Method(
        "guard",
        "Guarded",
        "guarded",
        "Holds the rows of another method in the regions of the clusterings that are to be kept.",
        SFUMATO,
        "row",
        13,
        invertible=False,
        keeps_distances=False,
        wraps=True,
        inner="adp",
        parameters=(
            Parameter("perturber", "perturber", None, "the method to guard"),
            replace(_CLUSTERINGS, default=(2, 3, 4, 5, 6, 7, 8)),
            _SCALING,
            Parameter("min_atom", "integer", 5, "smallest group of like rows whose mean is kept", low=2),
            *_FINISHING,
        ),
        known_breaks=(),
    ),
    Method(
        "+rho",
        "Enhanced",
        "enhanced",
        "Adds noise to a random share of the rows, on top of another method.",
        GDTM,
        "row",
        3,
        invertible=False,
        keeps_distances=False,
        wraps=True,
        inner="rdp",
        parameters=(
            Parameter("perturber", "perturber", None, "the method to enhance"),
            Parameter(
                "fraction",
                "number",
                0.05,
                "share of the rows, the papers' rho",
                low=0.0,
                high=1.0,
                open_low=True,
                search=Span(0.01, 0.5, log=True),
            ),
            Parameter(
                "distributions",
                "distributions",
                None,
                "('normal', mean, sd) or ('uniform', low, high) for each column; None takes half a standard deviation",
                optional=True,
                secret=True,
            ),
        ),
        known_breaks=_broken_by("ransac", perturber="linear"),
        paper_parameters={"fraction": 0.10},
    ),
)
