"""Rows that climb back into their regions: a look at single steps sees what a look at whole rows sees."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import polars as pl
import pytest

from sfumato.perturb import AtomMixing
from sfumato.perturb.guard import climbing
from sfumato.perturb.guard.atoms import AtomMoments
from sfumato.perturb.guard.signs import Signs

pytestmark = pytest.mark.usefixtures("everybody")


def table(rows: int, width: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    base = rng.normal(0, 1, (rows, 3))
    return np.abs((base[:, np.arange(width) % 3] + rng.normal(0, 1, (rows, width))) * 3).round(1)


def held_rows(columns: int) -> Any:
    original = table(240, columns)
    names = [f"c{i}" for i in range(columns)]
    method = AtomMixing(insecure_seed=2, decimals=dict.fromkeys(names[:-1], 1), clusterings=(2, 3))
    method.fit(pl.DataFrame(original, schema=names, orient="row"))
    fitted = method._fitted_state().fitted
    settling = fitted.settling
    middle = np.median(original, axis=0)
    tight = replace(settling.regions, low=np.where(np.arange(columns) < 2, -0.5, -np.inf), high=np.full(columns, 1.5))
    ends = Signs(tuple(names), np.where(np.arange(columns) == 1, middle[1], -np.inf), np.full(columns, np.inf))
    return original.T, fitted, replace(settling, regions=tight, signs=ends)


@pytest.mark.parametrize("columns", [1, 2])
def test_each_single_step_leads_to_the_depth_of_the_whole_row(columns: int) -> None:
    original, fitted, settling = held_rows(5)
    atoms = fitted.found.atoms.of(fitted.found.space.enter(original))
    rows = original + np.random.default_rng(1).integers(-2, 3, original.shape) / 10.0
    rows[:, :20] = original[:, :20]
    rows[0, :10] += 0.1  # one step from the original, which is no place
    moves = climbing.all_moves(settling.decimals, columns)
    standing = climbing.Standing(settling.space, settling.regions, settling.signs, rows, original, atoms)
    for some, depths in zip(moves, standing._depths(moves), strict=True):
        for number in range(len(some)):
            after = rows.copy()
            for index, cells in zip(some.columns[:, number], some.some(number, number + 1).tried(rows), strict=True):
                after[index] = cells[0]
            assert np.array_equal(depths[number], settling._depth(after, atoms, original)), number
    assert len(moves) == columns


def test_the_best_step_is_taken_and_the_first_of_equals() -> None:
    original, fitted, settling = held_rows(4)
    atoms = fitted.found.atoms.of(fitted.found.space.enter(original))
    rows = original + 0.5
    moves = climbing.all_moves(settling.decimals, 2)
    standing = climbing.Standing(settling.space, settling.regions, settling.signs, rows, original, atoms)
    every = np.concatenate(list(standing._depths(moves)))
    reached, changes = standing.best(moves)
    assert np.array_equal(reached, every.max(axis=0))
    after = rows.copy()
    for which, columns, cells in changes:
        after[columns, which] = cells
    assert np.array_equal(settling._depth(after, atoms, original), reached)
    assert sum(len(which) for which, _, _ in changes) >= np.isfinite(reached).sum() > 100


def test_a_look_at_all_single_steps_reads_each_column_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    read = [0]
    for name in ("regions", "climbing"):
        module = import_module(f"sfumato.perturb.guard.{name}")

        def counted(left: np.ndarray, right: np.ndarray, real: Any = module.exact_product) -> np.ndarray:
            read[0] += right.size
            return real(left, right)

        monkeypatch.setattr(module, "exact_product", counted)

    def cells(width: int) -> float:
        original, fitted, settling = held_rows(width)
        atoms = fitted.found.atoms.of(fitted.found.space.enter(original))
        rows = original + 1.0
        standing = climbing.Standing(settling.space, settling.regions, settling.signs, rows, original, atoms)
        read[0] = 0
        steps = sum(len(depths) for depths in standing._depths(climbing.all_moves(settling.decimals, 1)))
        assert steps == 2 * (width - 1)
        return read[0] / rows.size

    assert 0 < cells(10) < 3
    assert 0 < cells(80) < 3  # a product of whole rows for each step would be 158


def test_no_atom_of_a_wide_table_keeps_more_numbers_than_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    real = AtomMoments._learn

    def learn(self: AtomMoments, code: int, count: int, sums: Any, products: Any) -> None:
        kept.append(0 if products is None else products.size)
        real(self, code, count, sums, products)

    monkeypatch.setattr(AtomMoments, "_learn", learn)
    AtomMixing(insecure_seed=1, draws=1, clusterings=(2,)).fit_transform(table(220, 600))
    assert 0 < max(kept) <= 220 * 600
