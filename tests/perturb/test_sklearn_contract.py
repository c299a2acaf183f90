"""scikit-learn's own checks, for every method of the catalogue."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sfumato.exceptions import ParameterError
from sfumato.perturb import methods
from tests.perturb.cases import describe, instance, table, variants

POSITION = "noise belongs to a row's number: another order, or a part of the table, is another release by design"
PICKLE = "pickling a fitted perturber is refused: the pickle would hold the key"
SECRET = "a value that undoes the release is held in a wrapper that does not show it"

NO_NOISE = {"tdp", "sdp", "rdp", "hdp", "pca", "rp"}  # deterministic maps of each row
FRESH = "the noise of a formal guarantee is fresh at every fit: no two fits agree, whatever the key"
OWN_TABLE = "releases the table it was fitted on and refuses others"


def expected_failures(estimator) -> dict[str, str]:
    failures = {
        "check_estimators_pickle": PICKLE,
        "check_methods_subset_invariance": POSITION,
        "check_methods_sample_order_invariance": POSITION,
    }
    if any(parameter.secret for parameter in estimator.catalogue_row().parameters):
        failures["check_set_params"] = SECRET
    if estimator.method_id in {"mix", "guard", "exchange"}:
        failures["check_fit_idempotent"] = OWN_TABLE
    if estimator.method_id == "dp":
        again = ("pipeline_consistency", "transformer_data_not_an_array", "transformer_general", "fit_idempotent")
        failures |= {f"check_{name}": FRESH for name in again}
    if estimator.method_id in {"anc", "mdav"}:  # groups depend on the rows, not on their order
        del failures["check_methods_sample_order_invariance"]
    if estimator.method_id in NO_NOISE:
        # the map of a row does not depend on its neighbours or its place
        del failures["check_methods_subset_invariance"]
        del failures["check_methods_sample_order_invariance"]
    return failures


@pytest.mark.filterwarnings("ignore::sfumato.exceptions.SfumatoWarning")
@parametrize_with_checks(
    [instance(row.id, insecure_seed=0) for row in methods()],
    expected_failed_checks=expected_failures,
    xfail_strict=True,
)
def test_scikit_learn_check(estimator, check) -> None:
    check(estimator)


@pytest.mark.parametrize("perturber", variants(insecure_seed=1), ids=describe)
def test_clone_keeps_every_parameter(perturber) -> None:
    copy = clone(perturber)
    assert copy.get_params(deep=False).keys() == perturber.get_params(deep=False).keys()
    a, b = copy.fit_transform(table(100)), perturber.fit_transform(table(100))
    assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_pipelines_and_column_transformers_carry_names_through() -> None:
    import pandas as pd

    frame = pd.DataFrame(table(60), columns=list("abcde"), index=[f"r{i}" for i in range(60)])
    pipe = make_pipeline(StandardScaler(), instance("adp", insecure_seed=1)).set_output(transform="pandas")
    out = pipe.fit_transform(frame)
    assert list(out.columns) == list("abcde")
    assert list(out.index) == list(frame.index)
    mixed = ColumnTransformer([("hide", instance("rdp", insecure_seed=1), ["a", "c"])], remainder="passthrough")
    released = mixed.fit_transform(frame)
    assert (released[:, 2] == frame["b"]).all()
    assert not np.isclose(released[:, 0], frame["a"]).any()


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("source", ["numpy", "pandas", "polars", "arrow"])
def test_set_output_is_obeyed_whatever_comes_in(kind: str, source: str) -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    values = table(30)
    data = {f"c{i}": values[:, i] for i in range(5)}
    given = {"numpy": lambda d: values, "pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[source](data)
    perturber = instance("cov", insecure_seed=1).set_output(transform=kind)
    out = perturber.fit_transform(given)
    assert type(out).__module__.startswith(kind)
    assert list(out.columns) == list(perturber.get_feature_names_out())
    plain = instance("cov", insecure_seed=1).fit_transform(given)
    np.testing.assert_array_equal(np.asarray(out["x0" if source == "numpy" else "c0"]), _first(plain))


def _first(plain) -> np.ndarray:
    return plain[:, 0] if isinstance(plain, np.ndarray) else np.asarray(plain["c0"])


@pytest.mark.parametrize("name", ["adp", "exchange"])
def test_n_jobs_means_threads(name: str) -> None:
    values = table(60)
    expected = instance(name, insecure_seed=1).fit_transform(values)
    for jobs in (2, -1):
        perturber = instance(name, insecure_seed=1)
        np.testing.assert_array_equal(perturber.fit_transform(values, n_jobs=jobs), expected)
        np.testing.assert_array_equal(perturber.fit(values, n_jobs=jobs).transform(values, n_jobs=jobs), expected)
        np.testing.assert_array_equal(perturber.fit(values, None, threads=2, n_jobs=2).transform(values), expected)
        np.testing.assert_array_equal(perturber.fit_batches([values], n_jobs=jobs).transform(values), expected)


@pytest.mark.parametrize("name", ["adp", "exchange"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"threads": 2, "n_jobs": 3}, "threads=2 and n_jobs=3"),
        ({"n_jobs": 0}, "n_jobs, unless it is -1"),
        ({"n_jobs": 1.5}, "n_jobs, unless it is -1"),
        ({"n_jobs": True}, "n_jobs, unless it is -1"),
        ({"threads": 0}, "threads must be 1 or more"),
    ],
)
def test_two_numbers_of_workers_and_impossible_ones_are_refused(name: str, given: dict, message: str) -> None:
    values = table(60)
    perturber = instance(name, insecure_seed=1)
    for use in (perturber.fit, perturber.fit_transform, perturber.fit(values).transform):
        with pytest.raises(ParameterError, match=message):
            use(values, **given)
