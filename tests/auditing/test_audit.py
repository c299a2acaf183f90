"""The audit as a data owner meets it: grades, canaries, honesty, and no leak."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

import sfumato as sf
from sfumato.exceptions import ParameterError, ReceiptError, SfumatoError, SfumatoWarning
from tests.auditing.reference import dense

TABLES = {
    "wine": load_wine().data,
    "breast cancer": load_breast_cancer().data[:, :10],
    "iris": load_iris().data,
    "diabetes": load_diabetes(scaled=False).data,
    "whole numbers": dense(),
    "clusters": np.round(
        np.random.default_rng(0).normal(size=(600, 5)) + 6 * np.random.default_rng(1).integers(0, 4, (600, 1)), 2
    ),
}
GDTM = [sf.perturb.Translation, sf.perturb.Scaling, sf.perturb.Rotation, sf.perturb.Hybrid]


def quick(original, released, **more):
    return sf.audit(original, released, utility=False, **more)


@pytest.mark.parametrize("name", TABLES)
def test_an_identity_copy_every_gdtm_method_and_the_orbit_get_an_f(name: str) -> None:
    table = TABLES[name]
    assert quick(table, table).grade == "F"
    for make in GDTM:
        method = make(insecure_seed=3)
        assert quick(table, method.fit_transform(table), method=method).grade == "F", make.__name__
    orbit = sf.perturb.ChaoticNoise(source="orbit", insecure_seed=3)
    assert quick(table, orbit.fit_transform(table), method=orbit).grade == "F"


@pytest.mark.parametrize("name", TABLES)
def test_an_independent_copy_gets_an_a(name: str) -> None:
    table = TABLES[name]
    rng = np.random.default_rng(11)
    noise = table.mean(axis=0) + table.std(axis=0) * rng.normal(size=table.shape)
    report = quick(table, noise)
    assert report.grade == "A"
    assert "not a proof" in report.verdict
    assert report.curve.breaks_at is None


def test_the_verdict_of_a_rotation_says_who_gets_what() -> None:
    table = TABLES["wine"]
    method = sf.perturb.Rotation(scale="std", insecure_seed=1)
    report = quick(table, method.fit_transform(table), method=method)
    assert report.verdict == "Someone who knows 15 of the 178 people recovers every value of the others."
    assert report.curve.breaks_at == 14, "d + 1"
    assert report.trustworthy
    # blind scores are shown beside the ones after inversion
    assert report.inverted.attack in {"affine", "ransac", "ridge"}
    assert report.inverted.linked_as_released < 0.1 < 0.9 < report.inverted.linked_inverted
    assert report.inverted.disclosed_as_released < 0.1 < 0.9 < report.inverted.disclosed_inverted
    inference = {one.question: one for one in report.questions}["inference"]
    after = {one.question: one for one in report.inverted.questions}["inference"]
    assert inference.lift_low < 0.05 < 0.8 < after.lift_low
    assert report.privacy.min_security > 0.1
    assert report.privacy.median_residual < 1e-6


def test_the_three_questions_are_answered_against_a_control_group() -> None:
    table = TABLES["breast cancer"]
    copy = {one.question: one for one in quick(table, table).questions}
    assert set(copy) == {"singling out", "linkability", "inference", "inference by trees"}
    assert copy["singling out"].rate > copy["singling out"].control + 0.3
    assert copy["linkability"].rate == 1.0
    assert copy["inference"].rate == 1.0
    rng = np.random.default_rng(0)
    strangers = table[rng.integers(0, len(table), len(table))] + table.std(axis=0) * rng.normal(size=table.shape)
    for one in quick(table, strangers).questions:
        assert one.lift_low < 0.05, one.question


def test_a_column_that_is_laid_open_is_named_even_with_a_good_grade() -> None:
    table = TABLES["wine"]
    released = sf.perturb.PCAProjection(insecure_seed=1).fit_transform(table)
    frame = pl.DataFrame(table, schema=load_wine().feature_names)
    report = quick(frame, pl.DataFrame(released, schema=load_wine().feature_names))
    assert report.grade in {"B", "C"}
    assert "proline" in report.verdict


def test_worst_records_are_positions_of_people_who_stand_out() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 4))
    released = table + rng.normal(size=table.shape) * 2
    released[[7, 30]] = table[[7, 30]]
    report = quick(table, released)
    assert set(report.worst_records[:2]) == {7, 30}


def test_order_aligns_a_shuffled_release() -> None:
    table = TABLES["iris"]
    order = np.random.default_rng(0).permutation(len(table))
    assert quick(table, table[order], order=order).privacy.unchanged_rows == 1.0
    found = quick(table, table[order])
    assert found.order == "found"
    assert found.privacy.unchanged_rows > 0.9


def test_the_audit_repeats_exactly_and_its_json_fits_the_schema() -> None:
    table = TABLES["iris"]
    method = sf.perturb.AdditiveNoise(0.2, insecure_seed=1)
    released = method.fit_transform(table)
    first = sf.audit(table, released, method=method, clusters=(2, 3))
    second = sf.audit(table, released, method=method, clusters=(2, 3))
    assert first.to_json() == second.to_json()
    data = json.loads(first.to_json())
    assert data["schema"] == "sfumato-audit-1"
    assert sf.Audit.model_validate_json(first.to_json()) == first
    published = json.loads((Path(__file__).parents[2] / "docs" / "audit.schema.json").read_text())
    assert published == sf.Audit.json_schema(), "run make docs"
    assert set(data) == set(published["properties"]) - {"whole", "claim"}, "no whole rows of plain numbers, no claim"
    with pytest.raises(Exception, match="frozen"):
        first.grade = "A"


def test_reports_hold_no_original_and_no_script(tmp_path: Path) -> None:
    table = TABLES["breast cancer"] + np.pi
    method = sf.perturb.AdditiveNoise(0.3, key=sf.Key(bytes(range(32))))
    report = sf.audit(table, method.fit_transform(table), method=method, clusters=(2,))
    page = report.to_html(tmp_path / "audit.html")
    assert (tmp_path / "audit.html").read_text(encoding="utf-8") == page
    assert [path.name for path in tmp_path.iterdir()] == ["audit.html"]
    assert "<script" not in page
    assert "http://" not in page.replace("http-equiv", "")
    everything = page + report.to_json() + report.to_text() + repr(report) + report._repr_html_()
    values = {f"{value:.6g}" for value in table.ravel()} | {repr(float(value)) for value in table.ravel()}
    assert not [value for value in values if len(value) > 6 and value in everything]
    assert report.grade in page
    assert report.verdict in report.to_text()


def test_hostile_column_names_are_escaped() -> None:
    frame = pl.DataFrame({"<script>alert(1)</script>": np.arange(50.0), "b": np.arange(50.0) ** 2})
    assert "<script>" not in quick(frame, frame).to_html()


def test_a_seed_for_tests_is_stamped_into_the_report() -> None:
    table = TABLES["iris"]
    method = sf.perturb.AdditiveNoise(insecure_seed=1)
    report = quick(table, method.fit_transform(table), method=method)
    assert report.insecure_seed
    assert "insecure_seed" in report.to_text()
    assert "insecure_seed" in report.to_html()


def test_secret_parameters_do_not_reach_the_attacker() -> None:
    from sfumato.auditing.method import describe_method

    public, _ = describe_method(sf.perturb.Rotation(angles=12.5, scale="std"))
    assert public == {"method": "rdp", "scale": "std"}


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame])
def test_dataframes_are_matched_by_name_and_text_is_left_out(kind) -> None:
    rng = np.random.default_rng(0)
    frame = kind({"name": ["a", "b"] * 50, "x": rng.normal(size=100), "y": rng.normal(size=100)})
    released = frame[["y", "x"]] if kind is pd.DataFrame else frame.select("y", "x")
    report = quick(frame, released)
    assert report.columns == ("x", "y")
    assert report.privacy.unchanged_rows == 1.0


def test_projections_are_audited_without_column_figures() -> None:
    table = TABLES["wine"]
    method = sf.perturb.RandomProjection(6, insecure_seed=1)
    report = sf.audit(table, method.fit_transform(table), method=method, clusters=(3,))
    assert report.privacy.min_security is None
    assert report.privacy.unchanged_rows is None
    assert report.utility is not None
    assert any("new ones" in note for note in report.notes)


BAD = [
    (np.ones((5, 2)), np.ones((4, 2)), "not the same people"),
    (np.array([[1.0, np.inf], [2.0, 3.0]]), np.ones((2, 2)), "infinity"),
    (np.full((9, 2), np.nan), np.ones((9, 2)), "every row misses a value"),
    (np.ones((1, 2)), np.ones((1, 2)), "cannot be audited"),
    (np.ones((0, 2)), np.ones((0, 2)), "cannot be audited"),
    (np.arange(6.0).reshape(3, 2), np.ones((3, 2)), "too few for an audit"),
    (np.ones((30, 3)), np.ones((30, 3)), "every column of the original is constant"),
    ("a.csv", "b.csv", "not paths"),
    (pl.DataFrame({"a": ["x", "y"]}), pl.DataFrame({"b": ["x", "y"]}), "no numeric column"),
    (np.ones((5, 2)), np.ones(5), "2D"),
]


@pytest.mark.parametrize(("original", "released", "message"), BAD, ids=[message for *_, message in BAD])
def test_malformed_input_is_one_clear_error(original, released, message: str) -> None:
    with pytest.raises(SfumatoError, match=message):
        quick(original, released)


def test_wrong_arguments_are_named() -> None:
    table = TABLES["iris"]
    with pytest.raises(ParameterError, match="did you mean 'affine'"):
        quick(table, table, attacks=["afine"])
    with pytest.raises(ParameterError, match="every row number"):
        quick(table, table, order=[0] * len(table))
    with pytest.raises(ParameterError, match="method must be"):
        quick(table, table, method=3)
    with pytest.raises(ParameterError, match="attacks is empty"):
        quick(table, table, attacks=[])
    with pytest.raises(ReceiptError, match="no receipt of this key"):
        quick(table, table, key=sf.Key.generate())


@pytest.mark.parametrize(
    "table",
    [np.random.default_rng(0).normal(size=(12, 3)), np.column_stack([np.ones(40), np.arange(40.0)])],
    ids=["twelve rows", "one constant column"],
)
def test_small_tables_and_constant_columns_state_what_does_not_apply(table: np.ndarray) -> None:
    report = sf.audit(table, table + 0.5, clusters=(2,))
    assert report.to_text()
    assert report.to_html()
    for line in report.attacks:
        assert line.status != "error", f"{line.id}: {line.reason}"


def test_known_rows_and_chosen_attacks_are_obeyed() -> None:
    table = TABLES["breast cancer"]
    method = sf.perturb.Rotation(insecure_seed=1)
    report = quick(table, method.fit_transform(table), attacks=["affine", "nearest"], known_rows=30)
    assert sorted(line.known for line in report.attacks if line.id == "affine") == [12, 30]
    assert {line.id for line in report.attacks} == {"affine", "nearest"}
    assert "Only 2 of" in report.verdict


@pytest.mark.parametrize("known", [6, 21, 41, 200, 399, list(range(100))])
def test_knowing_more_people_never_looks_safer(known) -> None:
    rng = np.random.default_rng(123)
    table = rng.normal(size=(400, 5))
    turned = table @ np.linalg.qr(rng.normal(size=(5, 5)))[0]
    assert quick(table, turned, known_rows=known).grade == "F"


def test_rows_that_look_shuffled_are_not_waved_through() -> None:
    rng = np.random.default_rng(1)
    table = rng.normal(size=(400, 5))
    report = quick(table, table[rng.permutation(400)])
    assert report.grade == "F"
    assert any("another order" in note for note in report.notes)


@pytest.mark.parametrize("share", [0.02, 0.06, 0.1])
def test_records_published_as_they_are_cost_the_a_and_are_named(share: float) -> None:
    rng = np.random.default_rng(2)
    table = rng.normal(size=(400, 4))
    released = rng.normal(size=table.shape)
    chosen = rng.random(400) < share
    released[chosen] = table[chosen]
    report = quick(table, released)
    assert report.grade != "A"
    assert f"{chosen.mean():.1%} of the records stand in the release as they are" in report.verdict


def test_a_copy_of_a_table_of_mostly_zeros_is_still_an_f() -> None:
    rng = np.random.default_rng(3)
    rare = (rng.random((400, 6)) < 0.03) * 1.0
    assert quick(rare, rare).grade == "F"
    independent = (rng.random((400, 6)) < 0.03) * 1.0
    assert quick(rare, independent).grade in {"A", "B"}


DISCRETE = {
    "one-hot": np.eye(5)[np.random.default_rng(0).integers(0, 5, 300)],
    "binary": (np.random.default_rng(0).random((300, 8)) < 0.05) * 1.0,
    "counts": np.random.default_rng(0).poisson(0.05, (300, 20)).astype(float),
    "codes": np.random.default_rng(0).integers(1, 6, (300, 1)).astype(float),
    "zero-inflated": np.random.default_rng(0).lognormal(size=(300, 4))
    * (np.random.default_rng(1).random((300, 4)) > 0.85),
    "twelve rows": np.random.default_rng(0).normal(size=(12, 3)),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_canaries_behave_on_ordinary_discrete_and_small_tables(name: str) -> None:
    from sfumato.auditing.canaries import run_canaries

    for seed in range(5):
        for canary in run_canaries(DISCRETE[name], seed=seed):
            assert canary.passed is not False, (canary, seed)


def test_a_rotation_of_a_small_table_is_an_f() -> None:
    rng = np.random.default_rng(4)
    for n, d in ((30, 10), (15, 3), (60, 15)):
        table = rng.normal(size=(n, d))
        report = quick(table, table @ np.linalg.qr(rng.normal(size=(d, d)))[0])
        assert report.grade == "F", (n, d, report.verdict)


def test_the_verdict_does_not_say_every_value_when_half_of_them_are_recovered() -> None:
    rng = np.random.default_rng(5)
    table = rng.normal(size=(300, 4))
    released = rng.normal(size=table.shape)
    released[:, :2] = table[:, :2]
    report = quick(table, released)
    assert report.grade == "F"
    assert "at least half of the values" in report.verdict


def test_one_unchanged_column_links_everybody() -> None:
    rng = np.random.default_rng(6)
    table = rng.normal(size=(300, 5))
    released = rng.normal(size=table.shape)
    released[:, 3] = table[:, 3]
    report = quick(table, released)
    assert {line.id: line.rate for line in report.attacks}["equal-cells"] == 1.0
    assert report.grade == "F", "who knows that column alone finds everybody"


def test_progress_is_told_and_ends_at_one() -> None:
    told: list[tuple[str, float]] = []
    quick(TABLES["iris"], TABLES["iris"], progress=lambda what, share: told.append((what, share)))
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_broken_attack_suite_is_noticed_by_the_canaries(monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.attack.engine.interface import NothingFoundError
    from sfumato.attack.known.affine import Affine

    def blind(self, knowledge, deadline):
        raise NothingFoundError("this attack has gone blind")

    monkeypatch.setattr(Affine, "run", blind)
    report = quick(TABLES["wine"], TABLES["wine"])
    assert not report.trustworthy
    assert "CANNOT BE TRUSTED" in report.to_text()
    assert "cannot be trusted" in report.to_html()


@pytest.mark.data
@pytest.mark.parametrize("name", ["census", "housing", "tarragona", "wages"])
def test_the_papers_tables_get_an_f_for_the_orbit(name: str, data_folder: Path) -> None:
    table = pl.read_csv(data_folder / f"{name}.csv").to_numpy().astype(float)
    orbit = sf.perturb.ChaoticNoise(source="orbit", insecure_seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = quick(table, orbit.fit_transform(table), method=orbit)
    assert report.grade == "F"
    assert {line.id: line.rate for line in report.attacks}["orbit-known"] == pytest.approx(1.0)


def test_effort_chooses_the_work_and_the_report_says_what_was_left_out() -> None:
    table = np.random.default_rng(0).normal(size=(700, 3))
    options = {"attacks": ["as-released", "nearest"], "utility": False}
    found = sf.audit(table, table + 1.0, effort="quick", **options)
    assert found.effort == "quick"
    assert found.left_out[0] == "values were guessed for 500 of 700 rows, drawn at random"
    for page in (found.to_text(), found.to_html()):
        assert found.left_out[0] in page
    assert "effort='quick'" in found.call
    assert sf.audit(table, table + 1.0, **options).left_out == ()
    with pytest.warns(SfumatoWarning, match="count their work"):
        assert (
            sf.audit(table, table + 1.0, seconds=1e-9, **options).to_json()
            == sf.audit(table, table + 1.0, **options).to_json()
        )
    with pytest.raises(ParameterError, match="effort must be one of"):
        sf.audit(table, table, effort="hard")
