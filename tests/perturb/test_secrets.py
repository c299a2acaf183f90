"""Nothing secret and nothing original shows: repr, html, parameters, logs, errors, pickles."""

from __future__ import annotations

import logging
import pickle
import traceback

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import estimator_html_repr

from sfumato import Key
from sfumato.exceptions import NoiseReuseWarning, ParameterError, SfumatoWarning
from sfumato.perturb import AdditiveNoise, Enhanced, Hybrid, Rotation, Scaling, Translation, methods
from tests.perturb.cases import describe, instance, table, variants

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.exceptions.HeldBackWarning")

KEY = Key(bytes(range(7, 39)))
GIVEN = [
    Translation(offsets=[12345.678, 2345.6789]),
    Scaling(factors=[12345.678, 2345.6789]),
    Rotation(angles=[123.45678], pairs=[(0, 1)]),
    Hybrid(operations=[("add", 12345.678), ("mult", 2345.6789)]),
    Enhanced(Translation(offsets=[12345.678, 2345.6789]), 0.5, [("normal", 12345.678, 2345.6789)] * 2),
]


def numbers_in(value: object, found: list[float], depth: int = 0) -> None:
    """Collect every number that a fitted state holds."""
    if depth > 6 or isinstance(value, str | bytes | bool):
        return
    if isinstance(value, float | int | np.floating):
        found.append(float(value))
    elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
        found.extend(value.ravel().tolist())
    elif isinstance(value, dict):
        for item in value.values():
            numbers_in(item, found, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            numbers_in(item, found, depth + 1)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            numbers_in(getattr(value, name), found, depth + 1)


def shown(perturber) -> str:
    state = getattr(perturber, "_state", "")
    attributes = {name: value for name, value in vars(perturber).items() if name.endswith("_")}
    return " ".join(
        [
            repr(perturber),
            str(perturber),
            estimator_html_repr(perturber),
            perturber._repr_html_(),
            str(perturber._repr_mimebundle_()),
            str(perturber.get_params()),
            repr(state),
            repr(attributes),
            repr(vars(perturber)),
        ]
    )


@pytest.mark.parametrize("perturber", variants(key=KEY), ids=describe)
def test_a_fitted_perturber_shows_no_secret_and_no_statistic(perturber, caplog, capsys) -> None:
    caplog.set_level(logging.DEBUG)
    rows = table(300) + np.pi
    perturber.fit_transform(rows)
    text = shown(perturber) + caplog.text + "".join(capsys.readouterr())
    found: list[float] = []
    numbers_in(perturber._state, found)
    found += [*rows.mean(axis=0), *rows.std(axis=0), *rows.min(axis=0), *rows.max(axis=0)]
    digits = {f"{abs(x):.6g}" for x in found} | {repr(float(x)) for x in found}
    leaks = [d for d in digits if len(d.replace(".", "").replace("-", "")) >= 5 and d in text]
    assert not leaks
    assert KEY._secret.hex() not in text
    assert "\\x07\\x08" not in text


@pytest.mark.parametrize("perturber", GIVEN, ids=lambda p: type(p).__name__)
def test_given_secrets_do_not_show_either(perturber) -> None:
    copy = clone(perturber)
    for one in (perturber, copy, copy.fit(np.arange(20.0).reshape(10, 2))):
        text = shown(one)
        assert "12345" not in text
        assert "2345.67" not in text
        assert "123.45" not in text
    assert "12345" not in str(clone(perturber).set_params(**perturber.get_params(deep=False)).get_params())


def test_parameters_set_later_are_hidden_too() -> None:
    perturber = Translation().set_params(offsets=[98765.4])
    perturber.offsets = [98765.4]
    assert "98765" not in shown(perturber)
    assert perturber.offsets == [98765.4]


def test_errors_about_secrets_do_not_quote_them() -> None:
    cases = [
        (Translation(offsets="98765"), np.eye(3)),
        (Translation(offsets=[98765.4, 1.0]), np.eye(3)),
        (Scaling(factors=[0.0, 98765.4, 1.0]), np.eye(3)),
        (Rotation(angles=[98765.4, 2.0, 3.0]), np.eye(4)),
        (Hybrid(operations=[("turn", 98765.4)] * 3), np.eye(3)),
        (Enhanced(Translation(), 0.1, [("gamma", 98765.4, 1.0)] * 3), np.eye(3)),
    ]
    for perturber, rows in cases:
        with pytest.raises(ParameterError) as error:
            perturber.fit(rows)
        assert "98765" not in str(error.value)
        assert "98765" not in "".join(traceback.format_exception_only(error.value))


@pytest.mark.parametrize("row", methods(), ids=lambda row: row.id)
def test_a_fitted_perturber_refuses_to_be_pickled_with_a_hint(row) -> None:
    perturber = instance(row.id)
    pickle.loads(pickle.dumps(perturber))  # unfitted and without a key it holds nothing
    perturber.fit(table(100))
    with pytest.raises(TypeError, match=r"key\.save"):
        pickle.dumps(perturber)
    with pytest.raises(TypeError, match=r"Key.load|key.save"):
        pickle.dumps(instance(row.id, key=KEY))


def test_a_fresh_key_is_made_at_each_fit_and_kept() -> None:
    perturber = AdditiveNoise()
    rows = table(50)
    first = perturber.fit_transform(rows)
    key = perturber.used_key()
    second = perturber.fit_transform(rows)
    assert perturber.used_key() != key
    assert (first != second).all()
    assert (AdditiveNoise(key=key).fit_transform(rows) == first).all()


def test_key_release_and_table_decide_the_bits() -> None:
    rows = table(50)
    base = AdditiveNoise(key=KEY).fit_transform(rows)
    assert (AdditiveNoise(key=KEY).fit_transform(rows) == base).all()
    for other in (AdditiveNoise(key=KEY, release="r1"), AdditiveNoise(key=Key.generate()), AdditiveNoise(0.2, key=KEY)):
        assert (other.fit_transform(rows) != base).all()


def test_seed_and_key_together_are_refused() -> None:
    with pytest.raises(ParameterError, match="not both"):
        AdditiveNoise(key=KEY, insecure_seed=1).fit(table(10))
    with pytest.raises(ParameterError, match=r"sfumato.Key"):
        AdditiveNoise(key=b"x" * 32).fit(table(10))


NOISY = ["adp", "mdp", "cov", "chaotic", "ina", "one-d", "+rho"]


@pytest.mark.parametrize("scales", [(0.1, 0.2), (0.5, 0.25)])
def test_two_releases_with_two_scales_under_one_key_cannot_be_subtracted(scales) -> None:
    """With one stream x would be (s2 y1 - s1 y2) / (s2 - s1), exactly."""
    rows = np.random.default_rng(0).normal(size=(5000, 2))
    s1, s2 = scales
    y1, y2 = (AdditiveNoise(s, key=KEY).fit_transform(rows) for s in scales)
    guess = (s2 * y1 - s1 * y2) / (s2 - s1)
    noise = [(y1 - rows).ravel(), (y2 - rows).ravel()]
    assert abs(np.corrcoef(noise)[0, 1]) < 0.03
    assert (guess - rows).std() > min(s1, s2) * 1.2


@pytest.mark.parametrize("method_id", NOISY)
def test_two_tables_under_one_key_cannot_be_subtracted(method_id: str) -> None:
    a = np.random.default_rng(0).normal(size=(3000, 4))
    b = a.copy()
    b[0, 0] += 1e-9  # almost the same table is another table
    noise_a = instance(method_id, key=KEY).fit_transform(a) - a
    noise_b = instance(method_id, key=KEY).fit_transform(b) - b
    for left, right in zip(noise_a.T[1:], noise_b.T[1:], strict=True):
        moved = (left != 0) & (right != 0)
        assert (left[moved] != right[moved]).mean() > 0.5
        assert abs(np.corrcoef(left, right)[0, 1]) < 0.6 if method_id == "one-d" else True


def test_columns_have_noise_of_their_own() -> None:
    rows = np.repeat(np.random.default_rng(0).normal(size=(5000, 1)), 3, axis=1)
    noise = AdditiveNoise(key=KEY).fit_transform(rows) - rows
    assert np.abs(np.corrcoef(noise.T) - np.eye(3)).max() < 0.05


@pytest.mark.parametrize("method_id", NOISY)
def test_another_table_through_one_fitted_object_gets_a_stream_of_its_own(method_id: str) -> None:
    a, b = table(400, seed=1), table(400, seed=1) + 1e-7
    perturber = instance(method_id, key=KEY).fit(a)
    ya, yb = perturber.transform(a), perturber.transform(b)
    assert not np.allclose(ya - yb, a - b, atol=1e-6)
    assert (perturber.transform(b) == yb).all(), "and the same one each time"


def test_reusing_row_numbers_for_other_values_warns() -> None:
    rows = table(100)
    perturber = AdditiveNoise(key=KEY).fit(rows)
    perturber.transform(rows[:50], row_start=0)
    perturber.transform(rows[50:], row_start=50)
    perturber.transform(rows[20:70], row_start=20)  # the same rows again: the same release, no harm
    perturber.transform(rows)
    with pytest.warns(NoiseReuseWarning, match="30 row number"):
        perturber.transform(rows[:30] + 1.0, row_start=10)
    assert issubclass(NoiseReuseWarning, SfumatoWarning)


def test_reuse_after_a_whole_release_warns_too() -> None:
    rows = table(100)
    perturber = AdditiveNoise(key=KEY)
    perturber.fit_transform(rows)
    with pytest.warns(NoiseReuseWarning):
        perturber.transform(rows[::-1].copy(), row_start=0)


@pytest.mark.parametrize("method_id", ["adp", "cov", "chaotic", "ina"])
def test_a_table_fitted_elsewhere_does_not_share_its_words(method_id: str) -> None:
    """Two fits give two scales; with one stream the ratio of their noise would be a constant."""
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2000, 2)) * 3 + 50, rng.gamma(2, 10, size=(2000, 2))
    mine = instance(method_id, key=KEY).fit(second).transform(second) - second
    other = instance(method_id, key=KEY).fit(first).transform(second) - second
    for a, b in zip(mine.T, other.T, strict=True):
        assert abs(np.corrcoef(a, b)[0, 1]) < 0.1


def test_parameters_that_change_after_the_fit_are_refused() -> None:
    rows = table(50)
    for change in ({"distribution": "laplace"}, {"scale": 0.01}, {"release": "r1"}):
        perturber = AdditiveNoise(key=KEY).fit(rows)
        perturber.set_params(**change)
        with pytest.raises(ParameterError, match="call fit again"):
            perturber.transform(rows)
    inner = Enhanced(AdditiveNoise(), 0.2, key=KEY).fit(rows)
    inner.perturber.set_params(scale=0.5)
    with pytest.raises(ParameterError, match="changed since the fit"):
        inner.transform(rows)


def test_rows_that_are_not_in_the_fitted_table_are_refused() -> None:
    rows = table(50)
    with pytest.raises(ParameterError, match="not in the fitted table of 50 rows"):
        AdditiveNoise(key=KEY).fit(rows).transform(rows[:5], row_start=48)


def test_a_batch_that_is_not_of_the_fitted_table_warns_at_once_and_after_a_refit() -> None:
    rows = table(50)
    with pytest.warns(NoiseReuseWarning):
        AdditiveNoise(key=KEY).fit(rows).transform(rows[:5] + 1.0, row_start=0)
    streamed = AdditiveNoise(key=KEY).fit_batches([rows])
    streamed.transform(rows[:5] + 1.0, row_start=0)  # nothing is known of a streamed table's rows yet
    streamed.fit_batches([rows])
    with pytest.warns(NoiseReuseWarning):
        streamed.transform(rows[:5] + 2.0, row_start=0)


@pytest.mark.parametrize("perturber", variants(key=KEY), ids=describe)
def test_fitted_state_hides_itself_even_from_tools_that_print_locals(perturber) -> None:
    perturber.fit(table(200))
    state = perturber._state
    for part in (state, state.facts, state.hasher, state.fitted, state.streams):
        for one in part if isinstance(part, tuple) else (part,):
            assert repr(one) in {"<hidden>", "Streams(<hidden>)"}
            with pytest.raises(TypeError):
                pickle.dumps(one)


def test_errors_carry_no_cell_even_in_their_context() -> None:
    with pytest.raises(ValueError, match="not a number") as error:
        Translation(key=KEY).fit(np.array([["12"], ["SECRETCELL"]], dtype=object))
    seen: BaseException | None = error.value
    while seen is not None:
        assert "SECRETCELL" not in str(seen)
        seen = seen.__context__ or seen.__cause__
