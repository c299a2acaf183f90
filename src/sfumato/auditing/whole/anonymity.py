"""k-anonymity, l-diversity and t-closeness over all released columns of categories and counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.attack.linkage.kept_columns import number_rows
from sfumato.frames.whole import WholeRows
from sfumato.metrics import equivalence_class_sizes, t_closeness

_FEW = 5


@dataclass(frozen=True)
class Anonymity:
    """How alike released rows are in their categories and counts.

    These figures look at the release alone: where values were exchanged, a row that is alone is nobody's row.

    Attributes
    ----------
    columns : int
        Columns of categories and counts.
    smallest_class : int
        Fewest rows that share all of them, the k of k-anonymity; more is better.
    below_five : float
        Share of the rows that share them with fewer than four others; less is better.
    diversity : int or None
        Fewest different values of a category among rows that share all others, the l of l-diversity; more is better.
    closeness : float or None
        Farthest that such rows' values of a category are from the whole column's, the t of t-closeness; less is better.
    """

    columns: int
    smallest_class: int
    below_five: float
    diversity: int | None
    closeness: float | None


def measure_anonymity(rows: WholeRows) -> Anonymity | None:
    """Return how alike the released rows are; None for tables without categories and counts."""
    chosen = [j for j, kind in enumerate(rows.kinds) if kind in {"category", "count"}]
    if not chosen:
        return None
    sizes = equivalence_class_sizes(rows.released[:, chosen])
    diversity: list[int] = []
    closeness: list[float] = []
    for secret in chosen if len(chosen) > 1 else []:
        if rows.kinds[secret] != "category":
            continue
        classes = number_rows(rows.released[:, [j for j in chosen if j != secret]])[0]
        pairs = np.unique(np.column_stack([classes, rows.released[:, secret]]), axis=0)
        diversity.append(int(np.bincount(pairs[:, 0].astype(np.int64)).min()))
        closeness.append(t_closeness(classes, rows.released[:, secret], kind="categorical"))
    return Anonymity(
        columns=len(chosen),
        smallest_class=int(sizes.min()),
        below_five=float((sizes < _FEW).mean()),
        diversity=min(diversity, default=None),
        closeness=max(closeness, default=None),
    )
