"""The catalogue of metrics: what each needs, which way is good, and which paper it comes from."""

from __future__ import annotations

import math

from sfumato.metrics._metric import Metric


def catalogue() -> tuple[Metric, ...]:
    """Return the rows of the catalogue, utility first.

    Returns
    -------
    tuple of Metric
        One row for each metric.

    Examples
    --------
    >>> [row.name for row in catalogue() if row.paper == "Cui, Wong, Cheung"]
    ['VI', 'MSE']
    """
    return _ROWS


_GDTM_INA_ANC = "Oliveira, Zaiane 2003; Wang, Zheng, Liao 2008; Rajalakshmi, Anandha Mala"
_GDTM = "Oliveira, Zaiane 2003"
_INA = "Wang, Zheng, Liao 2008"
_ANC = "Rajalakshmi, Anandha Mala"
_ONE_D = "Cui, Wong, Cheung"
_CHAOTIC = "Li et al. 2007"
_SHARE = (0.0, 1.0)
_POSITIVE = (0.0, math.inf)

_ROWS: tuple[Metric, ...] = (
    Metric(
        "Mc",
        "misclassification_rate",
        ("labels", "labels"),
        "number",
        "lower is more useful",
        _SHARE,
        "share of rows",
        _GDTM_INA_ANC,
        "Rows whose cluster changed after the best matching of clusters.",
    ),
    Metric(
        "VI",
        "variation_of_information",
        ("labels", "labels"),
        "number",
        "lower is more useful",
        _POSITIVE,
        "bits",
        _ONE_D,
        "What each clustering leaves open about the other; at most log2 of the number of rows.",
    ),
    Metric(
        "ARI",
        "adjusted_rand",
        ("labels", "labels"),
        "number",
        "higher is more useful",
        (-0.5, 1.0),
        "index",
        "Hubert, Arabie 1985",
        "Pairs of rows on which two clusterings agree, corrected for chance.",
    ),
    Metric(
        "AMI",
        "adjusted_mutual_information",
        ("labels", "labels"),
        "number",
        "higher is more useful",
        (-1.0, 1.0),
        "index",
        "Vinh, Epps, Bailey 2010",
        "Information two clusterings share, corrected for chance.",
    ),
    Metric(
        "DI",
        "dunn_index",
        ("table", "labels"),
        "number",
        "higher is more useful",
        _POSITIVE,
        "ratio",
        "Dunn 1974; Li et al. 2007",
        "Smallest gap between clusters over the largest diameter of one.",
    ),
    Metric(
        "DB",
        "davies_bouldin_index",
        ("table", "labels"),
        "number",
        "lower is more useful",
        _POSITIVE,
        "ratio",
        _ANC,
        "Overlap of each cluster with the one most similar to it, on average.",
    ),
    Metric(
        "coincident centroids",
        "coincident_centroids",
        ("table", "labels"),
        "number",
        "lower is more useful",
        _POSITIVE,
        "pairs of clusters",
        _ANC,
        "Pairs that the Davies-Bouldin index has to skip.",
    ),
    Metric(
        "ILD",
        "information_loss",
        ("centres", "centres"),
        "number",
        "lower is more useful",
        _POSITIVE,
        "units of the columns",
        _CHAOTIC,
        "Mean distance of an original centre to the nearest released centre.",
    ),
    Metric(
        "mean shift",
        "mean_shift",
        ("table", "table"),
        "one for each column",
        "lower is more useful",
        _POSITIVE,
        "standard deviations",
        "sfumato",
        "How far the mean of each column moved.",
    ),
    Metric(
        "drift",
        "column_drift",
        ("table", "table"),
        "record",
        "lower is more useful",
        (-math.inf, math.inf),
        "standard deviations; share of variance; correlation",
        "sfumato",
        "Change of mean, variance and correlations of each column; 0 is none.",
    ),
    Metric(
        "CID",
        "comprehensive_index",
        ("table", "table", "centres", "centres"),
        "number",
        "higher is better",
        _POSITIVE,
        "ratio",
        _CHAOTIC,
        "How far rows moved for each unit that the centres moved: PPD / ILD.",
    ),
    Metric(
        "PPD",
        "privacy_protection",
        ("table", "table"),
        "number",
        "higher is more private",
        _POSITIVE,
        "units of the columns",
        _CHAOTIC,
        "Mean distance between a row and its released version.",
    ),
    Metric(
        "Sec",
        "variance_security",
        ("table", "table"),
        "one for each column",
        "higher is more private",
        _POSITIVE,
        "ratio of variances",
        _GDTM,
        "Variance of the change of a column over the column's variance.",
    ),
    Metric(
        "mSec",
        "min_variance_security",
        ("table", "table"),
        "number",
        "higher is more private",
        _POSITIVE,
        "ratio of variances",
        _INA,
        "Sec of the least protected column.",
    ),
    Metric(
        "DA",
        "anonymization_degree",
        ("table", "table"),
        "number",
        "higher is more private",
        _POSITIVE,
        "percent of a column's variance",
        _ANC,
        "100 times the sum of Sec over the columns.",
    ),
    Metric(
        "MSE",
        "mean_squared_error",
        ("table", "table"),
        "number",
        "higher is more private",
        _POSITIVE,
        "squared units of the cells",
        _ONE_D,
        "Mean squared change of a cell.",
    ),
    Metric(
        "HF",
        "hiding_failure",
        ("table", "table"),
        "number",
        "lower is more private",
        _SHARE,
        "share of rows",
        _ANC,
        "Rows released unchanged.",
    ),
    Metric(
        "SDID",
        "interval_disclosure",
        ("table", "table"),
        "number",
        "lower is more private",
        _SHARE,
        "share of cells",
        "statistical disclosure control",
        "Cells released within 5 % of a standard deviation of the original.",
    ),
    Metric(
        "k",
        "equivalence_class_sizes",
        ("table",),
        "one for each row",
        "higher is more private",
        (1.0, math.inf),
        "rows",
        "Samarati, Sweeney 1998",
        "Rows that share all released values with a row; the smallest is k.",
    ),
    Metric(
        "t",
        "t_closeness",
        ("table", "column"),
        "number",
        "lower is more private",
        _SHARE,
        "distance",
        "Li, Li, Venkatasubramanian 2007",
        "Farthest a class's sensitive values are from those of the whole table.",
    ),
)
