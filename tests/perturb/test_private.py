"""The private mixture: sensitivities in whole numbers, the budget, what it may look at, and what it keeps."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

import sfumato as sf
from sfumato.core.rows import PeopleRows, RecordIds, RowRange
from sfumato.core.travel import learnt_of, pack
from sfumato.exceptions import DataError, ParameterError, PolicyError
from sfumato.perturb import PrivateMixture
from sfumato.perturb.private import fitting
from sfumato.perturb.private.counting import RowsOfPeople
from sfumato.perturb.private.marginals import Marginals, inner_edges
from sfumato.perturb.private.noise import Accountant, epsilon_of, rho_of
from sfumato.perturb.private.statistics import STEPS, BallSums, Histograms, Space


def clusters(n: int = 6000, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 4)) + 6.0 * rng.normal(size=(5, 4))[rng.integers(0, 5, n)]


def space(d: int) -> Space:
    return Space(tuple(range(d)), np.full(d, -50.0), np.full(d, 50.0), np.full(d, 1.5), np.full(d, 0.7))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 6),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e-3, 1.0, 40.0, 1e9, 1e300]),
)
def test_one_row_moves_no_sum_further_than_the_proof_says(d: int, seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    row = rng.standard_cauchy((d, 1)) * size
    centres, radii = rng.normal(size=(3, d)) * 5, rng.uniform(1e-3, 50, 3)
    sums = BallSums(space(d), centres, radii, products=True)
    sums.add(row, RowRange(0, 1))
    assert sums.counts.sum() == 1
    for block in (sums.sums, sums.squares, sums.products):
        exact = sum(int(one) ** 2 for one in block.ravel())  # python integers: no rounding
        assert exact <= STEPS**2
    marks = Histograms(tuple(range(d)), np.tile(np.linspace(-9, 9, 20), (d, 1)))
    marks.add(row, RowRange(0, 1))
    assert (marks.counts**2).sum() == d


def test_a_rows_part_does_not_depend_on_the_rows_beside_it() -> None:
    rows = clusters(500).T
    rng = np.random.default_rng(1)
    parts = space(4), rng.normal(size=(7, 4)) * 3, rng.uniform(0.5, 4, 7)
    whole = BallSums(*parts, products=True)
    whole.add(rows, RowRange(0, 500))
    single = BallSums(*parts, products=True)
    for i in rng.permutation(500):
        one = single.fresh()
        one.add(rows[:, i : i + 1], RowRange(int(i), int(i) + 1))
        single.merge(one)
    for name in ("counts", "sums", "squares", "products"):
        assert (getattr(whole, name) == getattr(single, name)).all()


def test_every_noise_is_paid_for_and_the_whole_is_what_was_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    paid: list[tuple[float, float]] = []
    real = Accountant.noisy

    def noted(self: Accountant, values: np.ndarray, sensitivity: float, rho: float) -> np.ndarray:
        paid.append((sensitivity, rho))
        return real(self, values, sensitivity, rho)

    monkeypatch.setattr(Accountant, "noisy", noted)
    for count, unit in (("private", 1), ("public", 2)):
        paid.clear()
        made = PrivateMixture(epsilon=2.0, delta=1e-5, bounds=(-40, 40), count=count).fit(clusters(3000))
        spent = made._state.fitted.spent
        assert sum(rho for _, rho in paid) == pytest.approx(spent, rel=1e-6)
        assert 1.99 < epsilon_of(spent, 1e-5) <= 2.0
        assert {round(one / unit, 6) for one, _ in paid} == {1.0, float(STEPS), round(sqrt(4), 6)}


def test_the_accountant_refuses_to_spend_more() -> None:
    accountant = Accountant(0.1)
    accountant.noisy(np.array([5, 6]), 1.0, 0.06)
    with pytest.raises(ParameterError, match="spent"):
        accountant.noisy(np.array([5, 6]), 1.0, 0.06)


def test_the_noise_has_the_size_that_it_must_have() -> None:
    noise = Accountant(1.0).noisy(np.zeros(4000, dtype=np.int64), 300.0, 0.5)
    assert noise.std() == pytest.approx(300.0, rel=0.08)
    assert (noise == np.rint(noise)).all()


def test_no_two_fits_have_the_same_noise_and_one_fit_has_one_release() -> None:
    key, rows = sf.Key.from_insecure_seed(1), clusters(2000)
    one, two = (PrivateMixture(epsilon=3.0, bounds=(-40, 40), key=key) for _ in range(2))
    first, second = one.fit_transform(rows), two.fit_transform(rows)
    assert len(first) != len(second) or not np.array_equal(first, second)
    assert np.array_equal(one.transform(rows), first)
    assert 1900 < len(first) < 2000


def test_the_fit_uses_nothing_of_the_facts_but_the_names() -> None:
    from dataclasses import replace

    from sfumato.core.passes import survey
    from sfumato.core.stream import Streams, table_hasher
    from sfumato.frames.frame import read_frame

    frame = read_frame(clusters(50), None)
    facts = survey([frame], frame.names, frame.kinds, table_hasher(sf.Key.generate(), frame.names))
    nothing = replace(facts, n_rows=-1, low=np.full(4, np.nan), high=np.full(4, np.nan), fingerprint=b"")
    rounds = PrivateMixture(bounds=(-40, 40))._rounds(nothing, Streams(bytes(32)))
    wanted = next(rounds)
    for _ in range(5):
        full = wanted.fresh()
        full.add(clusters(3000).T, RowRange(0, 3000))
        wanted = rounds.send(full)
        for part in getattr(full, "parts", [full]):
            assert part.released is not None
            assert not part.counts.any(), "exact counts are forgotten"
    full = wanted.fresh()
    full.add(clusters(3000).T, RowRange(0, 3000))
    with pytest.raises(StopIteration) as over:
        rounds.send(full)
    assert isinstance(over.value.value, fitting.Mixture)
    assert not full.sums.any(), "exact sums are forgotten"
    assert not full.products.any()


def test_clusters_survive_at_epsilon_one() -> None:
    rows = clusters(20_000, seed=3)
    made = PrivateMixture(epsilon=1.0, bounds=(-60, 60)).fit_transform(rows)
    best = KMeans(5, n_init=3, random_state=0).fit(rows)
    found = KMeans(5, n_init=3, random_state=0).fit(made)
    assert -found.score(rows) < 1.05 * best.inertia_


def test_clusters_survive_bounds_that_are_far_too_wide() -> None:
    rows = clusters(20_000, seed=3)
    made = PrivateMixture(epsilon=3.0, bounds=(-4000, 4000)).fit_transform(rows)
    best = KMeans(5, n_init=3, random_state=0).fit(rows)
    assert -KMeans(5, n_init=3, random_state=0).fit(made).score(rows) < 1.05 * best.inertia_


def test_a_release_reads_the_table_hardly_more_often_than_one_that_fits_k_means(tmp_path: Path) -> None:
    table = pl.DataFrame(clusters(3000).round(3), schema=list("abcd"))
    table.write_csv(tmp_path / "in.csv")
    passes = {}
    told = {"dp": {"bounds": [-40.0, 40.0], "epsilon": 5.0}, "mix": {"clusterings": [8], "draws": 1}}
    for name, parameters in told.items():
        (tmp_path / name).mkdir()  # a history of its own each
        key = tmp_path / name / "a.key"
        done = sf.release(tmp_path / "in.csv", tmp_path / f"{name}.csv", method=name, parameters=parameters, key=key)
        passes[name] = done.passes
    assert passes["dp"] <= passes["mix"] + 3
    assert passes["dp"] == 9, "look, two histograms (one with the ball), three rounds, mixture, who is left, write"


def test_what_is_held_does_not_grow_with_the_rows() -> None:
    setting = fitting.Setting((0, 1, 2, 3), np.full(4, -40.0), np.full(4, 40.0), (), 1, 5.0, 1e-6)
    rounds = fitting.mixture_rounds(setting)
    wanted = next(rounds)
    for _ in range(5):
        sizes = set()
        for n in (2000, 8000):
            full = wanted.fresh()
            full.add(clusters(n).T, RowRange(0, n))
            sizes.add(len(pack(learnt_of(full))))
        assert len(sizes) == 1
        wanted = rounds.send(full)


def test_bounds_come_from_the_owner_or_from_the_budget_never_from_the_table() -> None:
    rows = clusters(4000) * 1000.0
    with pytest.raises(ParameterError, match="bounds of column 'x0' are not known"):
        PrivateMixture().fit(rows)
    with pytest.raises(ParameterError, match="the smaller first"):
        PrivateMixture(bounds=(3.0, -3.0)).fit(rows)
    found = PrivateMixture(epsilon=2.0, search_bounds=True).fit(rows)._state.fitted
    for low, high, column in zip(found.low, found.high, rows.T, strict=True):
        assert low < np.quantile(column, 0.05)
        assert high > np.quantile(column, 0.95)
        assert {abs(low), abs(high)} <= {2.0**k for k in range(-21, 42)}, "powers of two: nobody's own value"


def test_only_the_first_rows_of_a_person_count() -> None:
    people = ["ann", "bob", "ann", "ann", "cid", "bob"]
    digests = RecordIds.of(people, subkey=bytes(32)).digests
    seen, other = RowsOfPeople(2), RowsOfPeople(2)
    seen.add(np.zeros((1, 4)), PeopleRows(0, 4, digests[:4]))
    other.add(np.zeros((1, 2)), PeopleRows(4, 6, digests[4:]))
    other.merge(seen)
    assert other.beyond().tolist() == [3]


def test_a_wider_bound_costs_noise_and_a_tighter_budget_too() -> None:
    assert rho_of(3.0, 1e-6) > 5 * rho_of(1.0, 1e-6) > 50 * rho_of(0.1, 1e-6)


def test_too_few_rows_for_a_private_count_are_refused() -> None:
    with pytest.raises(DataError, match="too few rows"):
        PrivateMixture(epsilon=0.5, bounds=(-40, 40)).fit(clusters(60))


POLICY = """
[columns]
record_id = "who"
[method]
name = "dp"
epsilon = 3.0
[column.age]
bounds = [0, 120]
decimals = 0
[column.wage]
bounds = [0, 200000]
[column.job]
categories = ["cook", "clerk", "smith"]
"""


def people(n: int = 4000, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    wage = pl.Series(np.round(rng.lognormal(10 + 0.4 * group, 0.3), 2))
    return pl.DataFrame(
        {
            "who": [f"p{i // 2}" for i in range(n)],
            "age": np.clip(rng.normal(35 + 12 * group, 4), 18, 99).round().astype(int),
            "wage": wage,
            "job": np.array(["cook", "clerk", "smith"])[np.where(rng.random(n) < 0.9, group, 0)],
        }
    ).with_columns(wage=pl.when(pl.Series(rng.random(n) < 0.1)).then(None).otherwise(pl.col("wage")))


def test_a_file_of_people_with_categories_and_gaps(tmp_path: Path) -> None:
    table = people()
    table.write_csv(tmp_path / "in.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    done = sf.release(tmp_path / "in.csv", tmp_path / "out.csv", policy=tmp_path / "policy.toml", key=tmp_path / "k")
    out = pl.read_csv(tmp_path / "out.csv")
    assert out.columns == ["age", "wage", "job"]
    assert 1800 < len(out) == done.n_rows < 2000, "one row for each person, and not exactly as many"
    assert not sum(out.null_count().row(0)), "who has a gap does not show"
    mean = {job: age for job, age in out.group_by("job").agg(pl.col("age").mean()).iter_rows() if job}
    assert mean["cook"] < mean["clerk"] - 3 < mean["smith"] - 6
    assert "differentially private" in " ".join(done.notes)


def test_the_text_of_a_release_says_nothing_of_the_cells_decimals_or_gaps(tmp_path: Path) -> None:
    rows = clusters(1500)
    texts = []
    for place, decimals in enumerate((0, 1, 9)):
        pl.DataFrame({"a": rows[:, 0].round(decimals), "b": rows[:, 1]}).write_csv(tmp_path / f"in{place}.csv")
        bounds = {"bounds": [-40.0, 40.0], "epsilon": 5.0}
        (tmp_path / f"keys{place}").mkdir()  # a history of its own each
        key = tmp_path / f"keys{place}" / "a.key"
        sf.release(tmp_path / f"in{place}.csv", tmp_path / f"out{place}.csv", method="dp", parameters=bounds, key=key)
        lines = (tmp_path / f"out{place}.csv").read_text().splitlines()[1:]
        texts.append({len(line.split(",")[0].partition(".")[2]) for line in lines})
    assert texts[0] == texts[1] == texts[2]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ('keep = ["age"]', "kept columns are those of the old ones"),
        ('relations = ["age <= wage"]', "know no relations"),
    ],
)
def test_what_would_break_the_guarantee_is_refused(tmp_path: Path, change: str, told: str) -> None:
    people(300).write_csv(tmp_path / "in.csv")
    text = POLICY.replace('record_id = "who"', f'record_id = "who"\n{change}')
    if "keep" in change:
        text = text.replace("[column.age]\nbounds = [0, 120]\ndecimals = 0\n", "")
    (tmp_path / "policy.toml").write_text(text)
    with pytest.raises(PolicyError, match=told):
        sf.release(tmp_path / "in.csv", tmp_path / "out.csv", policy=tmp_path / "policy.toml", key=tmp_path / "k")
    assert not (tmp_path / "out.csv").exists()


def test_a_category_that_the_policy_does_not_list_is_refused_without_its_name(tmp_path: Path) -> None:
    people(300).write_csv(tmp_path / "in.csv")
    (tmp_path / "policy.toml").write_text(POLICY.replace('"clerk", ', ""))
    with pytest.raises(DataError) as told:
        sf.release(tmp_path / "in.csv", tmp_path / "out.csv", policy=tmp_path / "policy.toml", key=tmp_path / "k")
    assert "clerk" not in str(told.value)
    assert "job" in str(told.value)


def test_epsilons_add_up_and_a_budget_refuses_the_next_release(tmp_path: Path) -> None:
    people(1200).write_csv(tmp_path / "in.csv")
    (tmp_path / "policy.toml").write_text(POLICY + "[release]\nbudget = 5.0\n")
    told = {"policy": tmp_path / "policy.toml", "key": tmp_path / "a.key"}
    first = sf.release(tmp_path / "in.csv", tmp_path / "one.csv", **told)
    assert "epsilon 3 with this one" in " ".join(first.notes)
    with pytest.warns(sf.exceptions.RepeatedReleaseWarning):
        second = sf.release(tmp_path / "in.csv", tmp_path / "two.csv", name="r1", **told)
    assert "epsilon 4.4" in " ".join(second.notes), "zCDP adds up to less than the sum of the epsilons"
    ledger = (tmp_path / "privacy.ledger").read_bytes()
    with pytest.raises(sf.exceptions.RepeatedReleaseError, match="budget"):
        sf.release(tmp_path / "in.csv", tmp_path / "three.csv", name="r2", **told)
    assert not (tmp_path / "three.csv").exists()
    assert (tmp_path / "privacy.ledger").read_bytes() == ledger
    (tmp_path / "privacy.ledger").write_text("sfumato-privacy-1\n{}\n")
    with pytest.raises(PolicyError, match="cannot be read"):
        sf.release(tmp_path / "in.csv", tmp_path / "three.csv", name="r2", **told)


def test_labels_come_back_by_the_miners_centres(tmp_path: Path) -> None:
    table = people(3000)
    table.write_csv(tmp_path / "in.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    key, policy = tmp_path / "a.key", tmp_path / "policy.toml"
    sf.release(tmp_path / "in.csv", tmp_path / "out.csv", policy=policy, key=key)
    out = pl.read_csv(tmp_path / "out.csv")
    out.with_columns(label=pl.when(pl.col("age") < 41).then(pl.lit("young")).otherwise(pl.lit("old"))).write_csv(
        tmp_path / "labels.csv"
    )
    done = sf.join(tmp_path / "labels.csv", tmp_path / "in.csv", tmp_path / "joined.csv", key)
    joined = pl.read_csv(tmp_path / "joined.csv")
    assert joined.drop("label").equals(pl.read_csv(tmp_path / "in.csv"))
    mean = dict(joined.group_by("label").agg(pl.col("age").mean()).iter_rows())
    assert mean["young"] < 38 < 46 < mean["old"]
    assert "belong to nobody" in done.notes[0]


class Noiseless(fitting.Fit):
    """A fit whose noise is none, to see what is made of the numbers."""

    def _noisy(self, values: np.ndarray, per_row: float, rho: float) -> tuple[np.ndarray, float]:
        return values.astype(float), per_row / sqrt(2.0 * rho)


def test_a_spare_centre_goes_where_nobody_was_and_another_is_put_elsewhere() -> None:
    low, high = np.full(2, -50.0), np.full(2, 50.0)
    setting = fitting.Setting((0, 1), low, high, (), rows=1, epsilon=20.0, delta=1e-6)
    space = Space((0, 1), low, high, np.zeros(2), np.ones(2))
    centres = np.array([[0.0, 0.0], [40.0, 0.0], [0.0, 40.0]])
    sums = BallSums(space, centres, np.full(3, 3.0), products=True)
    sums.add(np.random.default_rng(0).normal(size=(2, 5000)), RowRange(0, 5000))
    for spare, left in ((0, 3), (1, 2), (2, 1)):
        now = {"centres": centres, "radii": np.full(3, 3.0), "spare": spare}
        moved = Noiseless(setting).moved(sums, now, last=False)
        assert len(moved["centres"]) == len(moved["radii"]) == left
        assert np.abs(moved["centres"]).max() < 5.0, "nobody is far out"


def test_centres_begin_where_somebody_is_likely_to_be_and_units_do_not_follow() -> None:
    low, high = np.zeros(1), np.array([256.0])
    setting = fitting.Setting((0,), low, high, (), rows=1, epsilon=1.0, delta=1e-6)
    hist = Histograms((0,), inner_edges(low, high))
    sigma = 1.0 / sqrt(2.0 * setting.shares["histograms"])
    few = int(2.9 * sigma) + 1  # people far out: likely, not sure
    table = np.concatenate([np.full(20_000, 10.5), np.full(few, 250.5)])[None]
    hist.add(table, RowRange(0, table.shape[1]))
    found = Noiseless(setting).marginals(hist, low, high)
    assert found["spare"] == 1
    assert found["shares"][0, 250] > 0
    assert found["unit"][0] < 1.0


def test_the_number_of_centres_can_be_said() -> None:
    table = np.random.default_rng(0).normal(size=(3000, 2))
    method = PrivateMixture(epsilon=8.0, bounds=(-9.0, 9.0), centres=5)
    assert len(method.fit_transform(table)) > 2000
    with pytest.raises(ParameterError, match="centres"):
        PrivateMixture(bounds=(-9.0, 9.0), centres=3).fit(table)


def test_people_who_stand_thinly_in_narrow_intervals_are_not_lost() -> None:
    """Two groups of a few hundred people, tight bounds: no single interval is beyond the noise, all together are."""
    low, high = np.zeros(1), np.ones(1)
    noise = np.random.default_rng(3).normal(size=(1, 256)) * 20.0
    counts = np.zeros((1, 256))
    counts[0, 20:60], counts[0, 180:230] = 30.0, 24.0
    laws = Marginals.coarse(counts + noise, 20.0, low, high)
    assert 0.3 < laws.shares[0, 20:60].sum() < 0.7
    assert 0.3 < laws.shares[0, 180:230].sum() < 0.7
    assert laws.shares[0, 80:160].sum() < 0.05
