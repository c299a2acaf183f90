"""Bad input: one clear error that says what, where, what is allowed and what to do."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

from sfumato.exceptions import ConstantColumnWarning, DataError, ParameterError, SfumatoError, UnchangedCellsWarning
from sfumato.perturb import (
    AdditiveNoise,
    AtomExchange,
    ChaoticNoise,
    Enhanced,
    Hybrid,
    IntervalResampling,
    NestedClustering,
    PCAProjection,
    RandomProjection,
    Rotation,
    Scaling,
    Translation,
    methods,
)
from tests.perturb.cases import instance, table

ROWS = table(40)
NAMES = list("abcde")
EVERY = [row.id for row in methods()]


def with_cell(value: object) -> np.ndarray:
    rows = ROWS.copy()
    rows[7, 2] = value
    return rows


@pytest.mark.parametrize("method_id", EVERY)
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.empty((0, 5)), "0 sample"),
        (np.empty((5, 0)), "0 feature"),
        (ROWS[:1], "1 sample"),
        (with_cell(np.nan), "column 'x2' holds NaN in row 7"),
        (with_cell(np.inf), "column 'x2' holds infinity in row 7"),
        (with_cell(1e200), "beyond 1e150"),
        (ROWS[0], "2D"),
        (ROWS.astype(complex), "Complex"),
        (pl.DataFrame(ROWS, schema=NAMES).with_columns(c=pl.lit("text")), "column 'c' holds String, not numbers"),
        (pd.DataFrame(ROWS, columns=NAMES).assign(c="text"), "column 'c' holds String, not numbers"),
        (pa.table({"a": [1.0, None, 2.0], "b": [1.0, 2.0, 3.0]}), "column 'a' has 1 missing"),
        (pl.DataFrame({"a": [1, None, 2], "b": [1, 2, 3]}), "column 'a' has 1 missing"),
        (pd.DataFrame(np.ones((3, 2)), columns=["a", "a"]), "name"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_tables_are_named(method_id: str, rows, message: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnWarning)
        if method_id == "exchange" and ("not numbers" in message or "missing" in message):
            assert instance(method_id).fit_transform(rows).shape == rows.shape, "it takes texts and gaps"
            return
        with pytest.raises(SfumatoError) as error:
            instance(method_id).fit(rows)
    assert message in str(error.value)
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize("method_id", EVERY)
def test_bad_tables_are_named_at_transform_too(method_id: str) -> None:
    fitted = instance(method_id).fit(ROWS)
    with pytest.raises(DataError, match="NaN in row 7"):
        fitted.transform(with_cell(np.nan))
    with pytest.raises(DataError, match="0 sample"):
        fitted.transform(np.empty((0, 5)))
    with pytest.raises(ValueError, match="expecting 5 features"):
        fitted.transform(ROWS[:, :4])


@pytest.mark.parametrize("method_id", EVERY)
def test_transform_before_fit(method_id: str) -> None:
    with pytest.raises(NotFittedError, match="call fit"):
        instance(method_id).transform(ROWS)


def test_other_columns_at_transform_than_at_fit() -> None:
    frame = pl.DataFrame(ROWS, schema=NAMES)
    fitted = AdditiveNoise().fit(frame)
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(frame.rename({"a": "z"}))
    with pytest.raises(ValueError, match="order"):
        fitted.transform(frame.select(NAMES[::-1]))
    arrow = AdditiveNoise().fit(pa.table({"a": [1.0, 2.0, 4.0], "b": [1.0, 5.0, 2.0]}))
    with pytest.raises(ValueError, match=r"feature names|columns are"):
        arrow.transform(pa.table({"a": [1.0, 2.0], "c": [1.0, 5.0]}))


def test_columns_that_do_not_exist_get_a_suggestion() -> None:
    with pytest.raises(ParameterError, match="no column 'incme'") as error:
        AdditiveNoise(columns=["incme"]).fit(pl.DataFrame({"income": [1.0, 2.0], "age": [3.0, 4.0]}))
    assert "did you mean 'income'?" in str(error.value)
    with pytest.raises(ParameterError, match="numbered 0 to 4"):
        AdditiveNoise(columns=[5]).fit(ROWS)
    with pytest.raises(ParameterError, match="twice"):
        AdditiveNoise(columns=[1, 1]).fit(ROWS)


BAD_PARAMETERS = [
    (AdditiveNoise(scale=0), "scale must be a number, or one for each column above 0"),
    (AdditiveNoise(scale=-1.0), "got -1.0"),
    (AdditiveNoise(scale=[0.1, 0.2]), "2 value(s) for 5 column(s)"),
    (AdditiveNoise(scale=float("nan")), "scale"),
    (AdditiveNoise(distribution="norml"), "did you mean 'normal'?"),
    (AdditiveNoise(relative="yes"), "True or False"),
    (AdditiveNoise(release=3), "release must be a name"),
    (AdditiveNoise(insecure_seed="1"), "insecure_seed"),
    (ChaoticNoise(source="orbits"), "did you mean 'orbit'?"),
    (Enhanced(), "perturber must be a perturber"),
    (Enhanced(Translation(), fraction=1.5), "fraction must be a number above 0 to 1"),
    (Enhanced(Translation(), distributions=[("normal", 0, 1)]), "1 distribution(s) for 5"),
    (Enhanced(Enhanced(Translation())), "cannot be enhanced again"),
    (Enhanced(AtomExchange()), "lets rows exchange their values"),
    (Enhanced(AdditiveNoise(scale=0)), "scale"),
    (Enhanced(RandomProjection(2)), "no default"),
    (Hybrid(operations=[("add", 1)]), "1 operation(s) for 5"),
    (Hybrid(operations=[None] * 5), "no operation touches"),
    (Hybrid(operations=[("rotate", 3, 0)] * 5), "rotated with itself"),
    (Hybrid(operations=[("rotate", 3, "zz")] * 5), "no column 'zz'"),
    (IntervalResampling(n_clusters=0), "n_clusters must be an integer from 1"),
    (IntervalResampling(n_clusters=2.5), "n_clusters must be an integer"),
    (NestedClustering(group_size=1), "group_size must be an integer from 2"),
    (PCAProjection(n_components=9), "of 5 column(s)"),
    (PCAProjection(n_components=1.5), "n_components"),
    (RandomProjection(5), "hides nothing"),
    (Rotation(pairs=[(0, 1)]), "no pair holds x2, x3, x4"),
    (Rotation(pairs=[(0, 0), (1, 2), (3, 4)]), "paired with itself"),
    (Rotation(angles=[1.0, 2.0]), "2 angle(s) for 3 pair(s)"),
    (Rotation(scale="sd"), "'range', 'std'"),
    (Scaling(factors=[0, 1, 1, 1, 1]), "erase"),
    (Translation(offsets=[1.0, float("inf"), 1, 1, 1]), "offsets"),
]


@pytest.mark.parametrize(("perturber", "message"), BAD_PARAMETERS, ids=[message for _, message in BAD_PARAMETERS])
def test_bad_parameters_say_what_is_allowed(perturber, message: str) -> None:
    with pytest.raises(SfumatoError) as error:
        perturber.fit(ROWS)
    assert message in str(error.value)


def test_unknown_parameters_are_refused() -> None:
    with pytest.raises(TypeError):
        AdditiveNoise(scal=0.1)
    with pytest.raises(ValueError, match="Invalid parameter"):
        AdditiveNoise().set_params(scal=0.1)


def test_one_column_cannot_be_rotated() -> None:
    with pytest.raises(DataError, match="minimum of 2"):
        Rotation().fit(ROWS[:, :1])


def test_row_start_is_checked() -> None:
    fitted = AdditiveNoise().fit(ROWS)
    with pytest.raises(ParameterError, match="0 or more"):
        fitted.transform(ROWS, row_start=-1)
    with pytest.raises(ParameterError, match="whole table"):
        NestedClustering().fit(ROWS).transform(ROWS, row_start=0)


def test_batches_are_checked() -> None:
    with pytest.raises(ParameterError, match="read once"):
        AdditiveNoise().fit_batches(iter([ROWS]))
    with pytest.raises(DataError, match="no batches"):
        AdditiveNoise().fit_batches([])
    with pytest.raises(DataError, match="same columns"):
        AdditiveNoise().fit_batches([pl.DataFrame({"a": [1.0]}), pl.DataFrame({"b": [1.0]})])
    with pytest.raises(DataError, match="the batch at row 40: column 'x2' holds NaN in row 47"):
        AdditiveNoise().fit_batches([ROWS, with_cell(np.nan)])


@pytest.mark.parametrize("method_id", EVERY)
def test_constant_columns_warn_and_are_named(method_id: str) -> None:
    rows = pl.DataFrame(ROWS, schema=NAMES).with_columns(b=pl.lit(4.0), d=pl.lit(2.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnchangedCellsWarning)
        with pytest.warns(ConstantColumnWarning, match=r"2 constant column\(s\): b, d"):
            released = instance(method_id, insecure_seed=1).fit_transform(rows)
    assert np.isfinite(released.to_numpy()).all()


def test_sparse_matrices_are_refused_with_a_hint() -> None:
    from scipy.sparse import csr_matrix

    with pytest.raises(DataError, match="toarray"):
        AdditiveNoise().fit(csr_matrix(ROWS))


SMALL_CODES = np.random.default_rng(0).integers(0, 2, size=(500, 3))
CONSTANT = np.column_stack([np.ones(len(ROWS)), ROWS[:, 1:]])


@pytest.mark.parametrize(
    ("run", "category"),
    [
        (lambda: AdditiveNoise().fit(CONSTANT), ConstantColumnWarning),
        (lambda: AdditiveNoise().fit_transform(CONSTANT), ConstantColumnWarning),
        (lambda: AdditiveNoise(0.01).fit(SMALL_CODES).transform(SMALL_CODES), UnchangedCellsWarning),
        (lambda: AdditiveNoise(0.01).fit_transform(SMALL_CODES, threads=2), UnchangedCellsWarning),
        (
            lambda: IntervalResampling(n_clusters=2).fit(np.append(np.arange(9.0), 1000.0)[:, None]),
            UnchangedCellsWarning,
        ),
    ],
)
def test_warnings_point_at_the_callers_line(run, category) -> None:
    with pytest.warns(category) as caught:
        run()
    assert caught[0].filename == __file__


@pytest.mark.parametrize("method_id", ["adp", "mdp", "chaotic", "ina"])
def test_noise_that_rounds_away_is_announced(method_id: str) -> None:
    with pytest.warns(UnchangedCellsWarning, match="come out mostly as they went in: x0, x1, x2"):
        instance(method_id, insecure_seed=1).fit_transform(SMALL_CODES)


def test_parameters_that_change_nothing_are_announced() -> None:
    for perturber in (Translation(offsets=0.0), Scaling(factors=1.0), Rotation(angles=360.0), PCAProjection(5)):
        with pytest.warns(UnchangedCellsWarning):
            perturber.fit_transform(ROWS)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e140])
def test_noise_reaches_columns_of_any_size(scale: float) -> None:
    for method_id in ("adp", "cov", "tdp"):
        released = instance(method_id, insecure_seed=1).fit_transform(ROWS * scale)
        assert (released != ROWS * scale).all(), method_id


def test_drawn_offsets_always_show() -> None:
    for rows in (
        np.array([[2**53 - 1], [2**53 - 5]]),
        np.array([[1e17], [1e17 + 64]]),
        np.float32([[1e8], [1e8 + 64]]),
    ):
        for seed in range(20):
            assert (Translation(insecure_seed=seed).fit_transform(rows) != rows).all()


NOT_FINITE = [
    lambda: Hybrid([("mult", float("nan")), ("add", 1)]).fit(ROWS[:, :2]),
    lambda: Hybrid([("add", True), ("add", 1)]).fit(ROWS[:, :2]),
    lambda: Hybrid([("rotate", float("nan"), 1), ("add", 1)]).fit(ROWS[:, :2]),
    lambda: Rotation(scale="range").fit(ROWS[:, :2] * [1e149, 1e-200]),
    lambda: Scaling(factors=1e308).fit_transform(ROWS * 1e10),
    lambda: AdditiveNoise().fit(ROWS).transform(ROWS * 1e200),
    lambda: Translation(insecure_seed=1).fit_transform(np.float32([[3e38], [-3e38]])),
    lambda: AdditiveNoise().fit(np.array([[2**60], [1]])),
    lambda: Translation(offsets=10**400).fit(ROWS),
    lambda: Translation().fit(np.array([[10**400], [1]], dtype=object)),
]


@pytest.mark.parametrize("call", NOT_FINITE)
def test_nothing_that_is_no_number_is_released(call) -> None:
    with pytest.raises(SfumatoError):
        call()


ODD_ARGUMENTS = [
    (lambda: AdditiveNoise().fit(pd.DataFrame(ROWS)), "astype(str)"),
    (lambda: AdditiveNoise().fit(pl.LazyFrame({"a": [1.0, 2.0]})), "collect()"),
    (lambda: AdditiveNoise().fit({"a": [1.0, 2.0]}), "DataFrame"),
    (lambda: AdditiveNoise().fit([[1.0], [1.0, 2.0]]), "different lengths"),
    (lambda: AdditiveNoise().fit(np.array([["2020-01-01"], ["NaT"]], dtype="M8[D]")), "dates"),
    (lambda: AdditiveNoise().fit(np.ma.masked_less(ROWS, 0)), "masked"),
    (lambda: AdditiveNoise(columns={0, 1}).fit(ROWS), "no order"),
    (lambda: AdditiveNoise(columns=[False, True]).fit(ROWS), "flatnonzero"),
    (lambda: AdditiveNoise(columns=[0.9]).fit(ROWS), "positions"),
    (lambda: AdditiveNoise().fit(ROWS).transform(ROWS, row_start=1.5), "row_start must be 0 or more"),
    (lambda: AdditiveNoise().fit(ROWS).transform(ROWS, row_start=True), "row_start must be 0 or more"),
    (lambda: AdditiveNoise().fit(ROWS).transform(ROWS, threads="2"), "threads must be 1 or more"),
    (lambda: AdditiveNoise(release="\ud800").fit(ROWS), "readable text"),
    (lambda: Rotation(pairs=[1, 2]).fit(ROWS), "two columns"),
    (lambda: Rotation(pairs=[(None, 1), (2, 3)]).fit(ROWS), "no column None"),
    (lambda: Hybrid([([], 30)] * 5).fit(ROWS), "is not one of"),
    (lambda: Enhanced(Translation).fit(ROWS), "perturber must be"),
    (
        lambda: RandomProjection(1, columns=["a", "b"]).fit_transform(
            pl.DataFrame({"a": [1.0, 2], "b": [2.0, 1], "rp0": [0, 0]})
        ),
        "rename",
    ),
]


@pytest.mark.parametrize(("call", "message"), ODD_ARGUMENTS, ids=[message for _, message in ODD_ARGUMENTS])
def test_odd_arguments_get_a_clear_error(call, message: str) -> None:
    with pytest.raises(SfumatoError) as error:
        call()
    assert message in str(error.value)


def test_row_numbers_of_numpy_and_zero_dimensional_arrays_are_numbers() -> None:
    fitted = AdditiveNoise(insecure_seed=1).fit(ROWS)
    assert (fitted.transform(ROWS[3:], row_start=np.int64(3)) == fitted.transform(ROWS)[3:]).all()
    assert (Translation(offsets=np.array(3.0)).fit_transform(ROWS) == ROWS + 3.0).all()


def test_empty_batches_are_passed_over() -> None:
    parts = [
        pl.DataFrame(ROWS[:0], schema=NAMES),
        pl.DataFrame(ROWS[:9], schema=NAMES),
        pl.DataFrame(ROWS[9:], schema=NAMES),
    ]
    whole = pl.DataFrame(ROWS, schema=NAMES)
    a = AdditiveNoise(insecure_seed=1).fit_batches(parts).transform(whole)
    assert a.equals(AdditiveNoise(insecure_seed=1).fit_transform(whole))


def test_a_failed_refit_leaves_the_fitted_object_as_it_was() -> None:
    fitted = AdditiveNoise(insecure_seed=1).fit(ROWS)
    before = fitted.transform(ROWS)
    with pytest.raises(DataError):
        fitted.fit(np.full((5, 2), np.nan))
    assert (fitted.transform(ROWS) == before).all()


def test_names_of_released_columns_follow_the_method_inside() -> None:
    perturber = Enhanced(RandomProjection(2), 0.5, [("normal", 0, 1)] * 2, insecure_seed=1)
    out = perturber.set_output(transform="pandas").fit_transform(ROWS)
    assert list(out.columns) == ["rp0", "rp1"]
