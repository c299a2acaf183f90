"""Attacks that try words of a small language: each breaks what it is for, and finds nothing where there is nothing."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.attack import Referee
from tests.auditing import broken, broken_bits, broken_codes, broken_rows

FRESH = broken.jitter(0.0, 0.0, shuffled=False)

BREAKS = [
    ("shaped-affine", broken.after(np.log), 0.99),
    ("shaped-affine", broken.after(broken.normal_scores), 0.7),
    ("shaped-affine", broken.before(np.tanh), 0.99),
    ("group-affine", broken.by_cluster(4), 0.7),
    ("group-affine", broken.by_cluster(4, "scale"), 0.7),
    ("look-up", broken.cipher(1.0, permuted=True), 0.6),
    ("curves", broken.each_its_own(), 0.6),
    ("curves", broken.intervals(), 0.15),
    ("low-digits", broken.digits(), 0.99),
    ("low-digits", broken.digits(3, 5, 7), 0.99),
    ("row-numbers", broken.row_number(1), 0.99),
    ("views", broken.row_factor(-3, -0.5), 0.99),
    ("views", broken.row_order(0.01), 0.99),
    ("directions", broken.row_factor(turned=True), 0.99),
    ("row-numbers", broken.VARIANTS["row number in a congruence"][0], 0.8),
    ("row-numbers", broken.VARIANTS["row number in a congruence"][2], 0.5),
    ("forward", broken.VARIANTS["folded columns"][0], 0.6),
    ("forward", broken.intervals(), 0.6),
    ("group-affine", broken.by_cluster(3, noise=0.01), 0.6),
    ("near-copies", broken.jitter(1e-3, shuffled=False), 0.99),
    ("row-numbers", broken_rows.numbered_column(), 0.9),
    ("invariants", broken_rows.cancelling(), 0.9),
    ("invariants", broken_rows.turned_pairs(), 0.9),
    ("invariants", broken_rows.balanced_factors(), 0.9),
    ("chains", broken_rows.moving_sums(3, around=True), 0.99),
    ("chains", broken_rows.row_steps(), 0.99),
    ("bit-sums", broken_bits.VARIANTS_BITS["exclusive or of columns"][2], 0.99),
    ("bit-sums", broken_bits.VARIANTS_BITS["exclusive or of columns"][4], 0.99),
    ("row-numbers", broken_bits.VARIANTS_BITS["squares of row numbers"][0], 0.7),
    ("row-numbers", broken_bits.VARIANTS_BITS["squares of row numbers"][3], 0.5),
    ("row-numbers", broken_bits.VARIANTS_BITS["squares of row numbers"][4], 0.99),
    ("traces", broken_bits.told_digits(10), 0.15),
    ("traces", broken_bits.kept_remainder(10), 0.3),
    ("lags", broken_bits.moved_columns(upside=True, factor=-3.0), 0.99),
    ("row-noise", broken_bits.repeated_noise(20), 0.9),
    ("row-noise", broken_bits.repeated_noise(16, blocks=True), 0.6),
    ("look-up", broken_bits.keyed_cipher(2), 0.15),
    ("digit-sums", broken_codes.VARIANTS_CODES["digits written backwards"][0], 0.9),
    ("digit-sums", broken_codes.VARIANTS_CODES["digits written backwards"][1], 0.9),
    ("digit-sums", broken_codes.VARIANTS_CODES["digits written backwards"][4], 0.9),
    ("row-numbers", broken_codes.VARIANTS_CODES["row number written backwards"][2], 0.9),
    ("group-affine", broken_codes.BROKEN_CODES["rotation of every so many rows"][0], 0.7),
    ("row-noise", broken_codes.BROKEN_CODES["noise in waves"][0], 0.9),
    ("row-noise", broken_codes.VARIANTS_CODES["noise in waves"][0], 0.9),
    ("views", broken_codes.row_powers(-2.0, -0.5), 0.9),
]


@pytest.mark.parametrize(("attack", "make", "share"), BREAKS, ids=[f"{row[0]}-{i}" for i, row in enumerate(BREAKS)])
@pytest.mark.parametrize("table", [broken.skewed(800), broken.counted(800)], ids=["skewed", "counted"])
def test_what_the_attack_is_for_is_broken_and_fresh_rows_are_not(attack, make, share, table):
    released = make(table, np.random.default_rng(7))
    assert Referee(table, released, seed=1).run(attack).rate >= share
    nothing = Referee(table, FRESH(table, np.random.default_rng(8)), seed=1).run(attack)
    assert (nothing.lift_low or 0.0) < 0.05
    # one run in forty lies above guessing by luck, but not by much
    assert nothing.status in {"ineffective", "not applicable"} or 0.0 < nothing.lift_low < 1e-3


def test_people_whose_rows_are_known_are_not_those_who_are_looked_for():
    table = broken.skewed(200)
    referee = Referee(table, table)
    held = referee.knowledge("directions")
    assert not {tuple(row) for row in held.records} & {tuple(row) for row in held.pairs.values}
    places = referee.knowledge("row-numbers").places
    assert not set(places.numbers) & set(places.asked)
    assert len(places.asked) + len(places.numbers) == 200
