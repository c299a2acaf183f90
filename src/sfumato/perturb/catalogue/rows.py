"""The rows of the catalogue, one for each method; here those that keep clusterings, and wrappers."""

from __future__ import annotations

from dataclasses import replace

from sfumato.perturb.catalogue.breaks import broken_by
from sfumato.perturb.catalogue.entries import Method
from sfumato.perturb.catalogue.geometric import GEOMETRIC, PROJECTIONS
from sfumato.perturb.catalogue.grouped import GROUPED
from sfumato.perturb.catalogue.noise import NOISE
from sfumato.perturb.catalogue.papers import GDTM, SFUMATO
from sfumato.perturb.catalogue.private import PRIVATE
from sfumato.perturb.mechanism.parameters import Parameter, Span

_CLUSTERINGS = Parameter(
    "clusterings",
    "clusterings",
    "ladder",
    "what to keep: the ladder (k-means with every number of clusters to 20), numbers of clusters, clusterers by name",
)
_DETAIL = Parameter(
    "detail",
    "detail",
    "medium",
    "how finely the ladder may cut the table: coarse, medium or fine, or limits of one's own",
    choices=("coarse", "medium", "fine"),
)
_SCALING = Parameter(
    "scaling",
    "choice",
    "std",
    "space in which the clusterings are named: standard deviations, ranges (as they are, or rounded up to one digit), "
    "or None for raw values",
    choices=("std", "range", "round range"),
    optional=True,
)
_OTHER_SCALINGS = Parameter(
    "other_scalings",
    "scalings",
    (),
    "scalings in which k-means is kept, too: standard deviations, ranges, raw values",
    choices=("std", "range", "raw"),
)
_MOST_HELD_BACK = Parameter(
    "most_held_back",
    "number",
    None,
    "share of the rows that may be held back; None takes 0.01, and of small tables up to 40 rows",
    optional=True,
    low=0.0,
    high=1.0,
)


def _exposed(*choices: str) -> tuple[Parameter, Parameter]:
    said = f"what becomes of people for whom k-means makes a cluster of fewer than ten: {' or '.join(choices)}"
    return Parameter("exposed", "choice", "hold back", said, choices=choices), _MOST_HELD_BACK


_FINISHING = (
    Parameter("decimals", "decimals", None, "decimals of the released columns; integers have none", optional=True),
    Parameter("bounds", "bounds", None, "smallest and largest value of a column", optional=True),
)


METHODS: tuple[Method, ...] = (
    *GEOMETRIC,
    *NOISE,
    *GROUPED,
    *PROJECTIONS,
    Method(
        "mix",
        "AtomMixing",
        "mixing",
        "Mixes each row with its like, inside the regions of the clusterings that are to be kept.",
        SFUMATO,
        "row",
        14,
        invertible=False,
        hides_from_key_holders=True,
        keeps_distances=False,
        hides_more="ask for less detail",
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
            _OTHER_SCALINGS,
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
                12,
                "releases that are tried on small tables, to keep the best one; also the care in naming the clusters",
                low=1,
                quick=1,
            ),
            *_FINISHING,
            *_exposed("hold back", "clip", "publish"),
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
        9,
        invertible=False,
        keeps_distances=False,
        hides_more="ask for less detail",
        parameters=(
            replace(
                _CLUSTERINGS,
                help="what to keep: the ladder (k-means with every number of clusters to 20, and k-prototypes), "
                "numbers of clusters, clusterers by name",
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
                choices=("std", "range", "round range", "gower"),
                optional=True,
            ),
            _OTHER_SCALINGS,
            Parameter(
                "draws",
                "integer",
                12,
                "releases that are tried on small tables, to keep the best one; also the care in naming the clusters",
                low=1,
                quick=1,
            ),
            _FINISHING[0],
            *_exposed("hold back", "publish"),
        ),
        known_breaks=(),
    ),
    *PRIVATE,
    Method(
        "guard",
        "Guarded",
        "guarded",
        "Holds the rows of another method in the regions of the clusterings that are to be kept.",
        SFUMATO,
        "row",
        14,
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
            *_exposed("hold back", "publish"),
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
        known_breaks=broken_by("ransac", "group-affine", "directions", "forward", "invariants", perturber="linear"),
        paper_parameters={"fraction": 0.10},
    ),
)
