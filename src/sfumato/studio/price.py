"""What a guarantee costs, in plain words, at each step of its slider."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Any

from sfumato.studio.prepared import ClusterAgreement

CHOSEN = (
    "You see this because it is your table: it is made of the rows without noise, and nothing of it may leave the "
    "house. Looking spends nothing of the budget. But an epsilon that you choose by it depends on the rows, which "
    "the guarantee does not cover: choose it before you look, or on a table of other people, if that matters."
)


def price_words(
    perturber: Any, agreements: Sequence[ClusterAgreement], seen: int, n_rows: int | None
) -> dict[str, Any]:
    """Return the guarantee of settings and what it costs the clusters.

    Parameters
    ----------
    perturber : PrivateMixture
    agreements : sequence of ClusterAgreement
        For each number of clusters.
    seen : int
        Rows of the preview.
    n_rows : int, optional
        Rows of the table.

    Returns
    -------
    dict
        `epsilon`, `cost` (over the best, mean), `moved` (share of people beyond a re-run, mean), and sentences:
        `guarantee`, `price`, `chosen`.
    """
    epsilon, delta = float(perturber.epsilon), float(perturber.delta)
    cost = sum(one.cost or 1.0 for one in agreements) / len(agreements)
    moved = sum(max(0.0, one.misclassified - one.floor) for one in agreements) / len(agreements)
    price = (
        f"k-means on the release finds clusters that cost {dearer(cost)} on your table, and puts {moved:.1%} "
        "of the people into another cluster than a second run on the table does."
    )
    if n_rows is not None and n_rows > seen:
        price += f" This preview learns from {seen:,} rows; the release learns from all {n_rows:,} and costs less."
    return {
        "epsilon": epsilon,
        "cost": cost,
        "moved": moved,
        "guarantee": odds(epsilon, delta),
        "price": price,
        "chosen": CHOSEN,
    }


def odds(epsilon: float, delta: float) -> str:
    """Return what an epsilon promises one person.

    Examples
    --------
    >>> "a factor of at most 2.7, but for a chance of 1 in 1,000,000" in odds(1.0, 1e-6)
    True
    """
    factor = exp(epsilon)
    text = f"{factor:,.1f}" if factor < 100 else f"{factor:,.0f}"
    return (
        f"Epsilon {epsilon:g}: whether one person is in the table changes the odds of any release by a factor of at "
        f"most {text}, but for a chance of 1 in {1.0 / delta:,.0f}."
    )


def dearer(cost: float) -> str:
    """Return a ratio of costs in words.

    Examples
    --------
    >>> dearer(1.0234), dearer(1.0002)
    ('2.3% more than the best', 'as little as the best')
    """
    return f"{cost - 1.0:.1%} more than the best" if cost >= 1.0005 else "as little as the best"
