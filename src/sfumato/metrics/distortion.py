"""The three measures of the chaotic-distortion paper: PPD (in displacement.py), ILD and CID = PPD / ILD."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sfumato.exceptions import DataError
from sfumato.metrics._inputs import as_table
from sfumato.metrics.displacement import privacy_protection
from sfumato.metrics.nearest import nearest_rows


def information_loss(original_centres: Any, released_centres: Any) -> float:
    """Return ILD, the mean distance from an original cluster centre to its nearest released centre.

    The matching is not exclusive: two original centres may share a released one, and the numbers of
    centres may differ. The paper finds the centres in each table's own min-max space and measures in
    raw units: denormalise them first.

    Parameters
    ----------
    original_centres : array_like of shape (k, d)
        Centres of the clusters of the original table; an empty cluster has no centre and no row here.
    released_centres : array_like of shape (l, d)
        Centres of the clusters of the released table.

    Returns
    -------
    float
        In the units of the columns, 0 or more.

    Examples
    --------
    The centre at 0 moved by 1, the one at 10 by 3, and the extra centre at 50 matches nothing:

    >>> information_loss([[0.0], [10.0]], [[1.0], [13.0], [50.0]])
    2.0
    """
    before = as_table(original_centres, "original_centres")
    after = as_table(released_centres, "released_centres")
    if before.shape[1] != after.shape[1]:
        raise DataError(f"original centres have {before.shape[1]} columns, released centres have {after.shape[1]}")
    return float(np.mean(nearest_rows(before, after)[0]))


def comprehensive_index(original: Any, released: Any, original_centres: Any, released_centres: Any) -> float:
    """Return CID = PPD / ILD: how far the rows moved for each unit that the centres moved.

    Without any movement of the rows (PPD = 0) the index is 0, also when the centres stayed: a table
    published as it is protects nobody. When the rows moved and no centre did, it is infinite.

    Parameters
    ----------
    original : array_like or dataframe of shape (n, d)
        The table before, in raw units.
    released : array_like or dataframe of shape (n, d)
        The same rows after.
    original_centres : array_like of shape (k, d)
        Cluster centres of the original table, in raw units.
    released_centres : array_like of shape (l, d)
        Cluster centres of the released table, in raw units.

    Returns
    -------
    float
        A ratio in [0, inf]; above 1 the rows moved more than the centres.

    Examples
    --------
    Every row moved by 2, the centres by 1 and 0:

    >>> comprehensive_index([[0.0], [10.0]], [[2.0], [12.0]], [[1.0], [11.0]], [[2.0], [11.0]])
    4.0
    """
    protection = privacy_protection(original, released)
    loss = information_loss(original_centres, released_centres)
    n_columns = as_table(original, "original").shape[1]
    if as_table(original_centres, "original_centres").shape[1] != n_columns:
        raise DataError(f"original has {n_columns} columns, its centres have another number")
    if protection == 0:
        return 0.0
    # A loss so small that the ratio overflows is as good as none.
    return protection / loss if loss > protection / np.finfo(np.float64).max else math.inf
