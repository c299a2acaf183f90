"""How far two clusterings of the same rows agree: the utility side of every release."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from sfumato.exceptions import DataError
from sfumato.metrics._inputs import as_paired_codes

# 200 MB of float64; beyond it somebody passed a column of measurements for labels.
LARGEST_CONTINGENCY = 25_000_000


def misclassification_rate(before: Any, after: Any) -> float:
    """Return the share of rows whose cluster changed, after the best one-to-one matching of clusters.

    The clusters of the two labellings are matched so that as many rows as possible stay (Hungarian
    method). With unequal numbers of clusters the extra ones match nothing: all of their rows changed.
    GDTM calls it M_E, INA Mc, ANC ME.

    Parameters
    ----------
    before : array_like of shape (n,)
        Labels of the rows in the original table.
    after : array_like of shape (n,)
        Labels of the same rows in the released table.

    Returns
    -------
    float
        A share in [0, 1); 0 means the same clusters, whatever they are called.

    Examples
    --------
    Five of six rows stay when 'b' is matched with 0 and 'a' with 1:

    >>> misclassification_rate([0, 0, 0, 1, 1, 1], ["b", "b", "b", "a", "a", "b"])
    0.16666666666666666

    A cluster that fell in two keeps its larger half:

    >>> misclassification_rate([0, 0, 0, 0], [0, 0, 0, 1])
    0.25
    """
    a, b = as_paired_codes(before, after)
    height, width = int(a.max()) + 1, int(b.max()) + 1
    if height * width > LARGEST_CONTINGENCY:
        raise DataError(
            f"before has {height} clusters and after {width}: at most {LARGEST_CONTINGENCY} pairs of clusters can be "
            "matched",
            hint="are these cluster labels? variation_of_information has no such limit",
        )
    shared = np.bincount(a * width + b, minlength=height * width).reshape(height, width)
    rows, columns = linear_sum_assignment(shared, maximize=True)
    return int(a.size - shared[rows, columns].sum()) / a.size


def variation_of_information(before: Any, after: Any) -> float:
    """Return the variation of information of two clusterings, in bits.

    H(A) + H(B) - 2 I(A; B): what knowing one clustering leaves open about the other, both ways. It is
    a metric, and at most log2(n), and at most 2 log2(k) for k clusters on both sides.

    Parameters
    ----------
    before : array_like of shape (n,)
        Labels of the rows in the original table.
    after : array_like of shape (n,)
        Labels of the same rows in the released table.

    Returns
    -------
    float
        Bits; 0 means the same clusters, whatever they are called.

    Examples
    --------
    Two independent halvings: each leaves one bit open about the other.

    >>> variation_of_information([0, 0, 1, 1], [0, 1, 0, 1])
    2.0
    >>> variation_of_information([0, 0, 1, 1], ["y", "y", "x", "x"])
    0.0
    """
    a, b = as_paired_codes(before, after)
    width = int(b.max()) + 1
    # Only the pairs that occur: clusterings into thousands of groups need no dense table.
    pairs, counts = np.unique(a * width + b, return_counts=True)
    share_of_a = counts / np.bincount(a)[pairs // width]
    share_of_b = counts / np.bincount(b)[pairs % width]
    # -(t log t/p + t log t/q) is a sum of terms >= 0: it cannot cancel to a small negative number.
    open_bits = -np.log2(share_of_a) - np.log2(share_of_b)
    return float(np.sum(counts * open_bits) / a.size)


def adjusted_rand(before: Any, after: Any) -> float:
    """Return the adjusted Rand index of two clusterings (scikit-learn's).

    Parameters
    ----------
    before, after : array_like of shape (n,)
        Labels of the same rows.

    Returns
    -------
    float
        1 for the same clusters, about 0 for unrelated ones, at least -0.5.

    Examples
    --------
    >>> adjusted_rand([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> adjusted_rand([0, 0, 1, 1], [0, 1, 0, 1])
    -0.5
    """
    return _quietly(adjusted_rand_score, *as_paired_codes(before, after))


def adjusted_mutual_information(before: Any, after: Any) -> float:
    """Return the adjusted mutual information of two clusterings (scikit-learn's, arithmetic mean).

    Parameters
    ----------
    before, after : array_like of shape (n,)
        Labels of the same rows.

    Returns
    -------
    float
        1 for the same clusters, about 0 for unrelated ones; slightly negative values occur.

    Examples
    --------
    >>> adjusted_mutual_information([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> round(adjusted_mutual_information([0, 0, 1, 1], [0, 1, 0, 1]), 6)
    -0.5
    """
    return _quietly(adjusted_mutual_info_score, *as_paired_codes(before, after))


def _quietly(score: Any, a: NDArray[np.intp], b: NDArray[np.intp]) -> float:
    with warnings.catch_warnings():
        # scikit-learn suspects measurements when there are about as many clusters as rows
        warnings.filterwarnings("ignore", message="The number of unique classes", category=UserWarning)
        return float(score(a, b))
