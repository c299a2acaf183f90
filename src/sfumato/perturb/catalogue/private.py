"""Rows of methods with a formal guarantee."""

from __future__ import annotations

from sfumato.perturb.catalogue.entries import Guarantee, Method
from sfumato.perturb.catalogue.papers import SFUMATO
from sfumato.perturb.mechanism.parameters import Options, Parameter, Span

PRIVATE: tuple[Method, ...] = (
    Method(
        "dp",
        "PrivateMixture",
        "private",
        "Draws new rows from a mixture that is fitted with differential privacy: the one formal guarantee.",
        SFUMATO,
        "row",
        11,
        invertible=False,
        hides_from_key_holders=True,
        keeps_distances=False,
        parameters=(
            Parameter(
                "epsilon",
                "number",
                1.0,
                "how much one person may change the odds of any release, as a power of e",
                low=0.01,
                high=100.0,
                slider=Span(0.1, 10.0, log=True),
            ),
            Parameter(
                "delta",
                "number",
                1e-6,
                "the chance that is left out of it; far below one in the people",
                low=1e-15,
                high=0.01,
            ),
            Parameter(
                "bounds",
                "bounds",
                None,
                "smallest and largest value of a column, known without looking at the table",
                optional=True,
            ),
            Parameter(
                "search_bounds",
                "flag",
                False,
                "whether bounds that nobody gives are found privately, for a tenth of the budget",
            ),
            Parameter(
                "count",
                "choice",
                "private",
                "whether the number of rows is noisy, too, or taken for known, at twice the noise",
                choices=("private", "public"),
            ),
            Parameter(
                "rows_per_person",
                "integer",
                1,
                "how many rows of a person count, with a record id; without one every row is a person",
                low=1,
                high=1000,
            ),
            Parameter(
                "centres",
                "integer",
                None,
                "how many centres rows are drawn around; by default as many as the people carry",
                low=4,
                high=64,
                optional=True,
                search=Options((None, 8, 16, 32, 64)),
            ),
            Parameter("kinds", "kinds", None, "which columns hold numbers of categories", optional=True),
        ),
        known_breaks=(),
        guarantee=Guarantee(
            "(epsilon, delta)-differential privacy", ("epsilon", "delta"), "one person (one row without a record id)"
        ),
        draws_rows=True,
    ),
)
