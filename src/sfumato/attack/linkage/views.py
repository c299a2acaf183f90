"""Link rows seen in other ways: by ranks, by size, by direction, by their sorted cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.engine.knowledge import guess_links
from sfumato.attack.engine.transforms import from_row_means, narrowed, unit_logs, unit_rows
from sfumato.attack.linkage.linking import standardise
from sfumato.attack.public.quantile_mapping import rank_levels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge


def _seen(knowledge: Knowledge) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """Yield people and rows, in every way of looking at them."""
    assert knowledge.records is not None
    assert knowledge.marginals is not None
    public, people, rows = knowledge.marginals, knowledge.records, knowledge.released
    scaled = standardise(people, public.mean, public.sd)
    own = standardise(rows, rows.mean(axis=0), rows.std(axis=0))
    unit = np.where(public.sd > 0, public.sd, 1.0)
    levels = [np.interp(c, public.quantiles[:, j], public.levels) for j, c in enumerate(people.T)]
    yield "own scale", scaled, own
    yield "ranks", np.column_stack(levels), np.column_stack([rank_levels(column) for column in rows.T])
    yield "size", np.abs(scaled), np.abs(own)
    yield "direction", unit_rows(people / unit), unit_rows(rows / unit)
    yield "direction of logarithms", unit_logs(people), unit_logs(rows)
    yield "direction from the mean", unit_rows(scaled), unit_rows(own)
    if people.shape[1] >= 3:
        yield "cells from the row's mean", from_row_means(people), from_row_means(rows)
        yield "scaled cells from the row's mean", from_row_means(scaled), from_row_means(rows)
    yield "sorted cells", np.sort(people, axis=1), np.sort(rows, axis=1)
    yield "sorted scaled cells", np.sort(scaled, axis=1), np.sort(rows, axis=1)
    yield "direction of sorted cells", unit_rows(np.sort(people, axis=1)), unit_rows(np.sort(rows, axis=1))


class Views(Attack):
    """Link each person to the nearest row in the view in which the nearest row stands out most.

    Which view that is can be seen without knowing anybody's row: the nearest row is much nearer than the next one.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(200, 5)) + 3
    >>> run_attack(Views(), table, table * draw.uniform(0.1, 9, size=(200, 1))).rate
    1.0
    >>> run_attack(Views(), table, draw.permuted(table, axis=1)).rate
    1.0
    """

    entry = entry("views")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when columns do not correspond."""
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the nearest rows in the best view."""
        best, name, named = np.inf, "", None
        for view, people, rows in _seen(knowledge):
            deadline.check()
            if not (np.isfinite(people).all() and np.isfinite(rows).all()):
                continue
            few_people, few_rows = narrowed(people, rows)
            apart, nearest = cKDTree(few_rows).query(few_people, k=2)
            alone = apart[:, 1] > 0
            stands_out = float(np.where(alone, apart[:, 0] / np.where(alone, apart[:, 1], 1.0), 1.0).mean())
            if stands_out < best:
                best, name, named = stands_out, view, (apart, nearest)
        assert named is not None
        apart, nearest = named
        tied = apart[:, 1] - apart[:, 0] <= 1e-9 * (1 + apart[:, 0])
        candidates = [rows if both else rows[:1] for rows, both in zip(nearest, tied, strict=True)]
        return guess_links(candidates, note=f"by {name}")
