"""Narrow atoms are mixed across one another: what they span together is everything, and means and scatter stay."""

from __future__ import annotations

import numpy as np

from sfumato.core.stream import Streams
from sfumato.perturb.guard.across import mix_across

STREAMS = Streams(bytes(range(32)))


def test_each_atom_keeps_its_mean_and_scatter_and_leaves_its_own_span() -> None:
    rng = np.random.default_rng(0)
    of = np.repeat([0, 1, 2, 3], [5, 6, 5, 7])
    rows = rng.normal(size=(10, len(of))) + 20.0 * of
    mixed = mix_across(rows, of, STREAMS, "company 0")
    for atom in range(4):
        before = rows[:, of == atom] - rows[:, of == atom].mean(axis=1, keepdims=True)
        after = mixed[:, of == atom]
        assert np.allclose(after.sum(axis=1), 0.0, atol=1e-9)
        assert np.isclose((after**2).sum(), (before**2).sum())
        # mixed by itself the atom's rows would stay in the span of its own deviations, four or six of ten directions
        basis = np.linalg.svd(before, full_matrices=False)[0][:, : before.shape[1] - 1]
        outside = after - basis @ (basis.T @ after)
        assert (outside**2).sum() > 0.2 * (after**2).sum()


def test_rows_that_are_all_alike_do_not_stay_where_they_are() -> None:
    rows = np.repeat(np.arange(12.0)[None] // 6, 4, axis=0)
    mixed = mix_across(rows, (np.arange(12) // 6), STREAMS, "company 1")
    assert (np.abs(mixed) > 0).all()
    assert np.abs(mixed).max() < 1.0
