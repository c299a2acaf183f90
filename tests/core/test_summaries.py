"""Summaries: exact, mergeable in any order, never counting a row twice."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.passes import Survey, fill, run_rounds, survey
from sfumato.core.rows import Coverage, RowRange
from sfumato.core.stream import RowHasher
from sfumato.core.summaries import Gathered, Moments, Sample
from sfumato.exceptions import DataError, DuplicateRowsError
from sfumato.frames.frame import read_frame
from sfumato.perturb.intervals.counts import IntervalCounts

RNG = np.random.default_rng(5)
TABLE = np.column_stack([RNG.normal(size=5000), RNG.exponential(1e6, 5000), RNG.integers(0, 9, 5000)])
LOW, HIGH = TABLE.min(axis=0), TABLE.max(axis=0)
HASHER = RowHasher(b"h" * 32, ["a", "b", "c"])

KINDS = {
    "survey": (Survey(HASHER, 3), lambda s: (s.n_rows, s.low.tobytes(), s.high.tobytes(), s.fingerprint())),
    "moments": (Moments(LOW, HIGH), lambda s: (s.mean().tobytes(), s.covariance().tobytes())),
    "variances": (Moments(LOW, HIGH, cross=False), lambda s: (s.mean().tobytes(), s.variance().tobytes())),
    "sample of so many": (Sample(100, b"s" * 32, 5000), lambda s: s.values().tobytes()),
    "sample": (Sample(100, b"s" * 32), lambda s: s.values().tobytes()),
    "gathered": (Gathered(), lambda s: s.values().tobytes()),
    "intervals": (
        IntervalCounts(LOW, HIGH, 50),
        lambda s: (s.counts.tobytes(), s.place_sums(1).tobytes(), s.scatter(0, np.flatnonzero(s.counts[0]))),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@given(cuts=st.lists(st.integers(0, 5000), max_size=6), order=st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_batches_and_merge_order_do_not_change_a_bit(kind, cuts, order) -> None:
    template, value = KINDS[kind]
    whole = template.fresh()
    whole.add(TABLE.T.copy(), RowRange(0, 5000))
    edges = [0, *sorted(cuts), 5000]
    parts = []
    for start, stop in itertools.pairwise(edges):
        part = template.fresh()
        if stop > start:
            part.add(TABLE[start:stop].T.copy(), RowRange(start, stop))
        parts.append(part)
    order.shuffle(parts)
    total = template.fresh()
    for part in parts:
        total.merge(part)
    assert value(total) == value(whole)


@pytest.mark.parametrize("size", [1, 100, 400])
def test_whoever_knows_how_many_rows_there_are_draws_the_same_sample_and_holds_few_more(size) -> None:
    plain, told = Sample(size, b"s" * 32), Sample(size, b"s" * 32, 5000)
    for sample in (plain, told):
        for start in range(0, 5000, 1000):
            part = sample.fresh()
            part.add(TABLE[start : start + 1000].T.copy(), RowRange(start, start + 1000))
            sample.merge(part)
    held = [sum(len(words) for words, *_ in sample._waiting) for sample in (plain, told)]
    assert held[1] < held[0] or size < 400
    assert told.values().tobytes() == plain.values().tobytes()
    assert told.labels().tolist() == plain.labels().tolist()


def test_moments_agree_with_numpy() -> None:
    moments, _ = fill(Moments(LOW, HIGH), [read_frame(TABLE)])
    np.testing.assert_allclose(moments.mean(), TABLE.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(moments.covariance(), np.cov(TABLE.T), rtol=1e-5, atol=1e-6 * TABLE.std(axis=0).max())
    np.testing.assert_allclose(moments.variance(), TABLE.var(axis=0, ddof=1), rtol=1e-6)


def test_moments_survive_extreme_ranges() -> None:
    table = np.array([[1e150, 5.0, 1e-320], [-1e150, 5.0, 0.0], [0.0, 5.0, 0.0]])
    moments = Moments(table.min(axis=0), table.max(axis=0))
    moments.add(table.T.copy(), RowRange(0, 3))
    assert np.isfinite(moments.mean()).all()
    assert moments.deviation()[0] == pytest.approx(1e150)
    assert moments.deviation()[1] == 0.0
    assert np.isfinite(moments.covariance()).all()


def test_a_sample_is_uniform_and_depends_on_its_subkey() -> None:
    rows = np.arange(2000.0)[:, None]
    hits = np.zeros(2000)
    for i in range(60):
        sample, _ = fill(Sample(500, bytes([i]) * 32), [read_frame(rows)])
        hits[sample.values().ravel().astype(int)] += 1
    assert hits.sum() == 60 * 500
    assert hits[:1000].sum() / hits.sum() == pytest.approx(0.5, abs=0.02)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 10)), max_size=12))
def test_coverage_knows_every_row_and_refuses_a_second_time(spans) -> None:
    coverage, seen = Coverage(), set()
    for start, length in spans:
        rows = set(range(start, start + length))
        if rows & seen:
            with pytest.raises(DuplicateRowsError):
                coverage.add(start, start + length)
        else:
            coverage.add(start, start + length)
            seen |= rows
        assert {row for low, high in coverage.ranges for row in range(low, high)} == seen
        assert all(a[1] < b[0] for a, b in zip(coverage.ranges, coverage.ranges[1:], strict=False))


def test_a_block_that_arrives_twice_is_an_error() -> None:
    frame = read_frame(TABLE[:10])
    with pytest.raises(DuplicateRowsError, match="rows 0 to 9"):
        fill(Survey(HASHER, 3), [frame, frame])


def test_a_source_that_changes_between_passes_is_an_error() -> None:
    def rounds():
        yield Gathered()

    with pytest.raises(DataError, match="same rows each time"):
        run_rounds(rounds(), lambda wanted: fill(wanted, [read_frame(TABLE[:9])]), 10)


def test_any_change_of_a_table_changes_its_fingerprint() -> None:
    def fingerprint(table, names=("a", "b", "c"), key=b"h" * 32):
        return survey([read_frame(table)], names, (False,) * 3, RowHasher(key, names)).fingerprint

    small = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [1.0, 2.0, 3.0]])
    variants = [small]
    for i in range(3):
        for j in range(3):
            for change in (np.nextafter(small[i, j], 9), -small[i, j], small[i, j] * 2, small[i, j] + 2**40):
                other = small.copy()
                other[i, j] = change
                variants.append(other)
    variants += [
        small[[1, 0, 2]],
        small[:2],
        np.vstack([small, small[:1]]),
        small[:, [1, 0, 2]],
        np.vstack([small] * 2),
    ]
    prints = [fingerprint(table) for table in variants]
    prints += [fingerprint(small, ("a", "b", "d")), fingerprint(small, key=b"g" * 32)]
    assert len(set(prints)) == len(prints)
    assert fingerprint(np.where(small == 1.0, 0.0, small)) == fingerprint(np.where(small == 1.0, -0.0, small))
