"""Atom exchange: every value stays a value of its column, every kept cluster stays, and no row stays as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

import sfumato as sf
from sfumato.exceptions import DataError, ParameterError
from sfumato.perturb import AtomExchange
from tests.values import FEW, exchanged

pytestmark = pytest.mark.usefixtures("everybody")


def bank(n: int = 900, seed: int = 0) -> pl.DataFrame:
    """Return a table with every kind of column, whose job says its sector."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 4, n)
    jobs = np.array(["nurse", "doctor", "clerk", "teller", "farmer"])
    job = (group + rng.integers(0, 2, n)) % 5
    sector = np.array(["health", "health", "office", "office", "land"])
    wage = np.round(np.abs(rng.normal(2000 + 900 * group, 300)), 2)
    table = pl.DataFrame(
        {
            "age": np.clip(rng.normal(35 + 6 * group, 8), 18, 90).astype(int),
            "wage": wage,
            "job": jobs[job],
            "sector": sector[job],
            "visits": rng.poisson(1 + group),
            "gain": np.where(rng.random(n) < 0.85, 0.0, np.round(rng.exponential(900, n), 1)),
            "married": rng.random(n) < 0.3 + 0.1 * group,
            "since": np.datetime64("2020-01-01") + rng.integers(0, 900, n).astype("timedelta64[D]"),
            "score": rng.normal(group, 1.0),
        }
    )
    gaps = pl.Series(rng.random(n) < 0.1)
    return table.with_columns(
        wage=pl.when(gaps).then(None).otherwise("wage"),
        job=pl.when(gaps.shift(3, fill_value=False)).then(None).otherwise("job"),
        visits=pl.when(gaps.shift(7, fill_value=False)).then(None).otherwise("visits"),
    )


EXISTING = ["job", "sector", "visits", "married", "since"]  # values that only move
CONTINUOUS = ["age", "wage", "gain", "score"]


@pytest.fixture(scope="module")
def released() -> tuple[pl.DataFrame, pl.DataFrame, AtomExchange]:
    table, method = bank(), AtomExchange(clusterings=(2, 3, 4), draws=2, insecure_seed=1)
    return table, method.fit_transform(table), method


def test_types_columns_and_gaps_stay_and_the_gaps_move(released) -> None:
    before, after, _ = released
    assert after.schema == before.schema
    for name in before.columns:
        assert abs(after[name].null_count() - before[name].null_count()) <= FEW * before[name].null_count()
        if before[name].null_count():
            assert (after[name].is_null() != before[name].is_null()).any()


def test_values_that_mean_something_only_move(released) -> None:
    before, after, _ = released
    for name in EXISTING:
        assert exchanged(before[name], after[name]), name
    assert (after["gain"] == 0).sum() == pytest.approx((before["gain"] == 0).sum(), rel=0.1)


def test_continuous_values_are_nobodys_and_stay_in_their_range(released) -> None:
    before, after, _ = released
    for name in CONTINUOUS:
        old, new = before[name].drop_nulls().to_numpy(), after[name].drop_nulls().to_numpy()
        assert old.min() <= new.min() <= new.max() <= old.max()
        assert abs(old.mean() - new.mean()) < 3 * old.std() / np.sqrt(len(old)), "less than another sample would"
    assert not set(after["score"]) & set(before["score"])
    assert (after["wage"].drop_nulls().round(2) == after["wage"].drop_nulls()).all(), "decimals stay"
    assert after["gain"].max() < before["gain"].max(), "the largest gain is a person's"


def test_no_row_stays_as_it_was(released) -> None:
    before, after, _ = released
    same = np.column_stack([(before[name] == after[name]).fill_null(value=False) for name in before.columns])
    assert not same.all(axis=1).any()


def test_columns_that_say_one_another_move_together(released) -> None:
    before, after, _ = released
    pairs = [set(map(tuple, one.select("job", "sector").drop_nulls().iter_rows())) for one in (before, after)]
    assert pairs[1] <= pairs[0]
    apart = AtomExchange((2,), together=[], draws=1, insecure_seed=1).fit_transform(bank())
    assert set(map(tuple, apart.select("job", "sector").drop_nulls().iter_rows())) - pairs[0]


def inside(method: AtomExchange, table: pl.DataFrame) -> np.ndarray:
    """Return the rows of a table in the space in which the clusterings are kept."""
    numbers = method._coding.encode(table)
    return method._fitted_state().fitted.space.enter(numbers.to_numpy().astype(float).T).T


def test_the_kept_clusters_are_found_again(released) -> None:
    before, after, method = released
    old, new = inside(method, before), inside(method, after)
    for centres in method.named_centres():
        first, second = (KMeans(len(centres), init=centres, n_init=1).fit(one).labels_ for one in (old, new))
        assert (first != second).mean() <= 0.01


def test_exact_centres_stay_exactly_and_lone_rows_are_listed() -> None:
    table = bank(300)
    method = AtomExchange(clusterings=(2, 3, 4, 5, 6), exact_centres=True, draws=1, insecure_seed=2)
    after = method.fit_transform(table)
    old, new = inside(method, table), inside(method, after)
    for centres in method.named_centres():
        labels = ((old @ centres.T) - (centres * centres).sum(axis=1) / 2).argmax(axis=1)
        for cluster in np.unique(labels):
            assert np.allclose(old[labels == cluster].mean(axis=0), new[labels == cluster].mean(axis=0), atol=1e-6)
    for name in EXISTING:
        assert after[name].sort().equals(table[name].sort()), "every value is there as often as before"
    same = np.flatnonzero([a == b for a, b in zip(table.iter_rows(), after.iter_rows(), strict=True)])
    assert set(same.tolist()) <= set(method.disclosed_rows())


def test_rows_of_small_atoms_are_not_left_alone() -> None:
    table = bank(400, seed=3)
    method = AtomExchange(clusterings=(2, 3, 4, 5, 6, 7, 8), draws=1, insecure_seed=3)
    after = method.fit_transform(table)
    fitted = method._fitted_state().fitted
    of = fitted.atoms.of(fitted.space.enter(method._coding.encode(table).to_numpy().astype(float).T))
    alone = np.flatnonzero(fitted.atoms.counts[of] < 5)
    assert len(alone) > 20, "the table has such rows"
    changed = [sum(a != b for a, b in zip(table.row(i), after.row(i), strict=True)) for i in alone.tolist()]
    assert min(changed) >= 1
    assert np.mean(changed) >= 0.4 * len(table.columns)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_every_library_gives_the_same_rows(library: str) -> None:
    table = bank(200).with_columns(pl.col("since").cast(pl.Datetime("us")), pl.col("visits").cast(pl.Float64))
    native = table if library == "polars" else table.to_pandas() if library == "pandas" else table.to_arrow()
    after = AtomExchange((2, 3), draws=1, insecure_seed=1).fit_transform(native)
    assert type(after) is type(native)
    rows = after if library == "polars" else pl.from_pandas(after) if library == "pandas" else pl.from_arrow(after)
    wanted = AtomExchange((2, 3), draws=1, insecure_seed=1).fit_transform(table)
    for name in table.columns:
        cells = rows[name].cast(wanted[name].dtype)
        assert (cells.fill_nan(None) if cells.dtype.is_float() else cells).equals(wanted[name]), name


def test_pandas_keeps_its_index_and_types() -> None:
    table = bank(200).to_pandas().astype({"sector": "category"})
    table.index = pd.Index(np.arange(200) * 3)
    after = AtomExchange((2, 3), draws=1, insecure_seed=1).fit_transform(table)
    assert after.index.equals(table.index)
    assert after.dtypes.to_dict() == table.dtypes.to_dict()


def test_threads_and_transform_give_the_same_bytes() -> None:
    table = bank(400)
    method = AtomExchange((2, 3), draws=2, insecure_seed=1)
    once = method.fit_transform(table)
    assert method.transform(table).equals(once)
    assert AtomExchange((2, 3), draws=2, insecure_seed=1).fit_transform(table, threads=3).equals(once)


def test_batches_give_the_same_bytes() -> None:
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(size=500), rng.integers(0, 4, 500), rng.poisson(3, 500)])
    kinds = {"x1": "category"}
    once = AtomExchange((2, 3), kinds=kinds, draws=1, insecure_seed=1).fit_transform(table)
    method = AtomExchange((2, 3), kinds=kinds, draws=1, insecure_seed=1).fit_batches([table[:123], table[123:]])
    parts = [method.transform(table[a:b], row_start=a) for a, b in ((0, 123), (123, 400), (400, 500))]
    assert np.concatenate(parts).tobytes() == once.tobytes()


def test_free_text_is_refused_all_at_once() -> None:
    names = [f"{i} Main Street" for i in range(900)]
    table = bank().with_columns(street=pl.Series(names), remark=pl.Series(names))
    with pytest.raises(DataError, match="'street', 'remark'") as caught:
        AtomExchange((2,)).fit(table)
    assert "Main" not in str(caught.value)
    after = AtomExchange((2,), draws=1, insecure_seed=1, columns=["age", "job"]).fit_transform(table)
    assert after["street"].equals(table["street"])


def test_texts_that_hardly_anybody_shares_are_identifiers() -> None:
    table = bank(60).with_columns(name=pl.Series([f"person {i // 2}" for i in range(60)]))
    with pytest.raises(DataError, match=r"identifiers.*'name'"):
        AtomExchange((2,)).fit(table)
    after = AtomExchange((2,), kinds={"name": "category"}, draws=1, insecure_seed=1).fit_transform(table)
    assert exchanged(table["name"], after["name"]), "unless somebody says that they are none"


def test_whole_numbers_that_differ_in_every_row_are_identifiers() -> None:
    table = bank(200).with_columns(customer=pl.Series(np.random.default_rng(0).permutation(200) + 10_000))
    with pytest.raises(DataError, match=r"identifiers.*'customer'"):
        AtomExchange((2,)).fit(table)
    said = AtomExchange((2,), kinds={"customer": "continuous"}, draws=1, insecure_seed=1).fit_transform(table)
    assert said["customer"].dtype == table["customer"].dtype


def test_wrong_kinds_are_refused() -> None:
    with pytest.raises(ParameterError, match="no kind of column"):
        AtomExchange(kinds={"age": "odd"}).fit(bank())
    with pytest.raises(ParameterError, match="stands twice"):
        AtomExchange((2,), together=[("age", "wage"), ("age", "gain")]).fit(bank())


def test_the_space_can_be_gowers() -> None:
    table = bank(300)
    after = AtomExchange((2, 3), scaling="gower", draws=1, insecure_seed=1).fit_transform(table)
    assert exchanged(table["job"], after["job"])


@st.composite
def tables(draw: Any) -> pl.DataFrame:
    """Return any table of a few dozen rows: any kinds of columns, gaps, spikes, constants."""
    n = draw(st.integers(8, 40))
    columns = {}
    for number in range(draw(st.integers(1, 5))):
        cells = draw(
            st.sampled_from(
                [
                    st.integers(-5, 5),
                    st.floats(-1e6, 1e6, width=32),
                    st.sampled_from(["a", "b", "", "Zürich", "=1+1"]),
                    st.booleans(),
                    st.dates(),
                    st.just(7),
                    st.sampled_from([0.0, 0.0, 0.0, 3.5, 1e4]),
                ]
            )
        )
        gappy = draw(st.booleans())
        column = draw(st.lists(st.one_of(st.none(), cells) if gappy else cells, min_size=n, max_size=n))
        if all(cell is None for cell in column):
            column[0] = draw(cells)
        columns[f"c{number}"] = pl.Series(column, strict=False)
    return pl.DataFrame(columns)


@pytest.mark.filterwarnings("ignore::sfumato.exceptions.ConstantColumnWarning")
@settings(max_examples=100)
@given(table=tables(), seed=st.integers(0, 9))
def test_any_table_keeps_sets_ranges_and_types(table: pl.DataFrame, seed: int) -> None:
    texts = {name: "category" for name, dtype in table.schema.items() if dtype == pl.String}
    after = AtomExchange((2, 3), kinds=texts, draws=1, insecure_seed=seed).fit_transform(table)
    assert after.schema == table.schema
    for name in table.columns:
        old, new = table[name].drop_nulls(), after[name].drop_nulls()
        if old.dtype.is_float():  # a gap may stand in for the only value of a column
            assert new.is_between(old.min(), old.max()).all()
        elif old.dtype.is_numeric() and old.n_unique() > 30:
            assert set(new) <= set(range(old.min(), old.max() + 1))
        else:
            assert exchanged(table[name], after[name])


@pytest.mark.data
def test_adult_keeps_its_correlations_pairs_and_clusters(data_folder: Path) -> None:
    table = pl.read_csv(data_folder / "adult.csv.gz").sample(6000, seed=4)
    after = AtomExchange(draws=1, insecure_seed=4).fit_transform(table)
    numbers = [name for name, dtype in table.schema.items() if dtype.is_numeric()]
    texts = [name for name in table.columns if name not in numbers]
    change = np.corrcoef(table[numbers].to_numpy().T) - np.corrcoef(after[numbers].to_numpy().T)
    assert np.abs(change).max() <= 0.1
    apart = [distance(table, after, a, b) for i, a in enumerate(texts) for b in texts[:i]]
    assert np.mean(apart) <= 0.05
    # who is unique on the categories finds the own combination on the own row by chance only
    keys = table.select(pl.concat_str(texts, ignore_nulls=True)).to_series()
    unique = np.flatnonzero(keys.is_unique().to_numpy())
    now = after.select(pl.concat_str(texts, ignore_nulls=True)).to_series()
    assert len(unique) > 1000
    assert (keys[unique] == now[unique]).mean() <= 0.03


def distance(before: pl.DataFrame, after: pl.DataFrame, a: str, b: str) -> float:
    """Return the total variation between the tables of two columns."""
    counts = [one.group_by(a, b).len() for one in (before, after)]
    both = counts[0].join(counts[1], on=[a, b], how="full", nulls_equal=True, suffix="_now").fill_null(0)
    return float((both["len"].cast(pl.Int64) - both["len_now"].cast(pl.Int64)).abs().sum()) / 2 / len(before)


def test_an_audit_counts_texts_too(released) -> None:
    before, after, method = released
    found = sf.audit(before, after, method=method, attacks=["nearest", "as-released"], clusters=(2, 3))
    assert set(found.columns) == set(before.columns)
    assert found.utility is not None
    assert found.utility.columns > len(before.columns), "categories are clustered one-hot"
    assert found.utility.shared_max <= 0.05


def test_values_that_never_meet_do_not_meet_in_the_release() -> None:
    draw = np.random.default_rng(4)
    role = draw.choice(["husband", "wife", "child", "single"], 600, p=[0.4, 0.1, 0.3, 0.2])
    sex = np.where(role == "husband", "m", np.where(role == "wife", "f", draw.choice(["m", "f"], 600)))
    table = pl.DataFrame({"role": role, "sex": sex, "age": draw.integers(18, 90, 600), "x": draw.normal(size=600)})
    released = AtomExchange((2, 3), draws=1, insecure_seed=3).fit_transform(table)
    pairs = set(released.select("role", "sex").iter_rows())
    assert ("husband", "f") not in pairs
    assert ("wife", "m") not in pairs
    free = AtomExchange((2, 3), draws=1, together=[], insecure_seed=3).fit_transform(table)
    assert ("husband", "f") in set(free.select("role", "sex").iter_rows())


@pytest.mark.parametrize("seed", range(6))
def test_who_has_a_rare_category_does_not_hold_it_in_the_release(seed: int) -> None:
    draw = np.random.default_rng(5)
    job = draw.choice(["clerk", "nurse", "cook"], 300).astype(object)
    job[:4], job[150:152] = "king", "pope"
    wage = draw.normal(30, 9, 300)
    wage[:2] = 400.0  # in an atom of their own
    table = pl.DataFrame({"job": job.tolist(), "town": draw.choice(list("abcd"), 300), "wage": wage})
    released = AtomExchange((2, 3, 5), draws=1, insecure_seed=seed, exposed="publish").fit_transform(table)
    rare = table["job"].is_in(["king", "pope"])
    assert not (released["job"].filter(rare) == table["job"].filter(rare)).any()
    assert exchanged(table["job"], released["job"])


def test_far_measurements_are_somebody_elses_and_marks_and_spikes_stay() -> None:
    rng = np.random.default_rng(4)
    table = np.column_stack(
        [rng.normal(size=(800, 3)) * 10, np.where(rng.random(800) < 0.8, 0.0, rng.gamma(2, 9, 800))]
    )
    table[:40, 0], far = -999.0, np.arange(40, 48)
    table[far, 1] = far - 2.0  # of one person each
    released = AtomExchange(clusterings=(2, 3), draws=1, insecure_seed=1).fit_transform(table)
    assert (released[:, 1] > 36.0).sum() <= 1, "nobody is told by a far value"
    assert 30 <= (released[:, 0] == -999.0).sum() <= 50, "a mark of many people stays"
    assert abs((released[:, 3] == 0.0).mean() - 0.8) < 0.05, "a spike has as many people as before"
    assert (released[:, 3] > 0.0).any()
