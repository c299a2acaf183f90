"""`compare` as a data owner meets it: every method, what it hides, what it costs, and what does not apply."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris

import sfumato as sf
from sfumato.auditing.utility.measure import measure_utility
from sfumato.auditing.utility.yardstick import Yardstick
from sfumato.cli import sfumato
from sfumato.exceptions import DataError, ParameterError, SfumatoWarning
from sfumato.policy.reading import parse_policy
from sfumato.tuning.assess import quick_judgement
from sfumato.tuning.settings import Setting, catalogue_settings
from sfumato.tuning.subject import read_subject
from sfumato.tuning.trial import release_trial, trial_key

IRIS = load_iris().data


@pytest.fixture(scope="module")
def whole() -> sf.Comparison:
    return sf.compare(IRIS, clusters=(3,))


@pytest.fixture
def iris_file(tmp_path: Path) -> Path:
    path = tmp_path / "iris.csv"
    frame = pl.DataFrame(IRIS, schema=["sepal_length", "sepal_width", "petal_length", "petal_width"])
    frame = frame.with_columns(
        pl.Series("plant", [f"P{i:03}" for i in range(150)]), pl.Series("bed", [1 + i % 5 for i in range(150)])
    )
    frame.write_csv(path)
    return path


def test_every_method_of_the_catalogue_is_compared_or_left_out_with_its_reason(whole: sf.Comparison) -> None:
    seen = {one.method for one in whole.tried} | {one.label.split()[-1] for one in whole.left_out}
    assert {row.id for row in sf.methods()} <= seen
    # the GDTM paper's offsets are for two columns, iris has four
    reasons = {one.label: one.reason for one in whole.left_out}
    assert "2 value(s) for 4 column(s)" in reasons["tdp (paper)"]
    assert all(reason for reason in reasons.values())


def test_the_papers_own_parameters_are_compared_where_they_differ() -> None:
    labels = {setting.label for setting in catalogue_settings()}
    for row in sf.methods():
        differs = any(
            row.paper_parameters.get(p.name, p.default) != p.default for p in row.parameters if p.kind != "perturber"
        )
        assert (
            any(label.split(" ", 1)[-1] == f"{row.id} (paper)" or label == f"{row.id} (paper)" for label in labels)
            == differs
        )


def test_the_figures_tell_the_known_story(whole: sf.Comparison) -> None:
    by_label = {one.label: one for one in whole.tried}
    turned = by_label["rdp"]
    assert turned.grade in {"D", "F"}, "rounding to a tenth of a centimetre costs the attack a little"
    assert turned.residual is not None
    assert turned.residual < 0.02
    blurred, drowned = by_label["adp"], by_label["cov"]
    assert blurred.excess_mean < drowned.excess_mean
    assert blurred.residual < drowned.residual
    assert blurred.linkage > drowned.linkage


def test_no_setting_that_is_beaten_in_everything_is_called_best(whole: sf.Comparison) -> None:
    def figures(one):
        return "ABCDF".index(one.grade), -round(one.residual or 0.0, 4), round(one.excess_mean, 4)

    assert any(one.best for one in whole.tried)
    for one in whole.tried:
        beaten = any(
            figures(other) != figures(one) and all(a <= b for a, b in zip(figures(other), figures(one), strict=True))
            for other in whole.tried
        )
        assert one.best is not beaten, one.label


def test_the_yardstick_measures_what_the_audit_measures() -> None:
    rng = np.random.default_rng(0)
    released = IRIS + 0.5 * rng.normal(size=IRIS.shape)
    audit = measure_utility(IRIS, released, clusters=(2, 3, 4), n_init=5, repetitions=3, ward_rows=2)
    found = Yardstick(IRIS, clusters=(2, 3, 4), n_init=5, repetitions=3).measure(released, rescaled=True)
    assert found.excess_mean == pytest.approx(audit.excess_mean, abs=1e-12)
    assert found.shared_worst == pytest.approx(audit.shared_max, abs=1e-12)
    assert found.rescaled_worst == pytest.approx(audit.rescaled_worst, abs=1e-12)
    assert found.excess_worst == max(one.excess for one in audit.excesses if one.scaling == "owner")


def test_it_repeats_exactly_and_its_json_fits_the_published_schema() -> None:
    first, second = (sf.compare(IRIS, ["adp", "mdav"], clusters=(3,), seed=4) for _ in range(2))
    assert first == second
    assert first.to_html() == second.to_html()
    data = json.loads(first.to_json())
    assert data["schema"] == "sfumato-comparison-1"
    assert sf.Comparison.model_validate_json(first.to_json()) == first
    published = json.loads((Path(__file__).parents[2] / "docs" / "comparison.schema.json").read_text())
    assert published == sf.Comparison.json_schema(), "run make docs"


def test_dataframes_of_any_library_and_files_give_the_same_comparison(iris_file: Path) -> None:
    asked = {"identifier": ["plant"], "keep": ["bed"], "clusters": (3,)}
    from_file = sf.compare(iris_file, ["mdav"], **asked)
    assert from_file == sf.compare(pl.read_csv(iris_file), ["mdav"], **asked)
    assert from_file == sf.compare(pd.read_csv(iris_file), ["mdav"], **asked)
    assert from_file.columns == ("sepal_length", "sepal_width", "petal_length", "petal_width")


def test_missing_values_text_and_many_rows_are_stated() -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"a": rng.normal(size=400), "b": rng.integers(0, 99, 400), "town": ["x", "y"] * 200})
    frame = frame.with_columns(pl.when(pl.col("b") > 95).then(None).otherwise(pl.col("b")).alias("b"))
    missing = frame["b"].null_count()
    assert missing
    found = sf.compare(frame, ["adp"], clusters=(2,), max_rows=300)
    assert found.n_rows == 400 - missing
    assert found.rows_measured == 300
    told = " ".join(found.notes)
    assert "town" in told
    assert f"{missing} rows with missing values" in told
    assert "300 of" in told


def test_the_page_holds_no_original_no_secret_and_no_script(whole: sf.Comparison) -> None:
    rng = np.random.default_rng(5)
    table = rng.normal(size=(150, 3)) * 1000
    found = sf.compare(table, ["rdp", "tdp", "adp"], clusters=(2,))
    everything = found.to_html() + found.to_json() + found.to_text() + repr(found) + found._repr_html_()
    assert "<script" not in everything
    assert not re.findall(r"""(?:src|href)=["']?(?!data:)""", everything)
    assert not [value for value in table.ravel() if f"{value:.7g}" in everything]
    # the printed angle is the paper's, but secret parameters are shown by no name and no value
    assert "356.71" not in whole.to_html() + whole.to_json() + whole.to_text()


def test_what_does_not_fit_the_budget_is_listed_not_hidden() -> None:
    with pytest.warns(SfumatoWarning, match="depends on the machine"):
        found = sf.compare(IRIS, ["adp", "mdav"], clusters=(3,), budget=1e-9)
    assert [one.label for one in found.tried] == []
    assert {one.reason for one in found.left_out} == {"no time left in the budget"}
    assert found.to_text()
    assert found.to_html()


def test_attacks_that_ran_out_of_time_are_named(whole: sf.Comparison) -> None:
    late = whole.tried[0].model_copy(update={"timed_out": ("ransac", "orbit")})
    found = whole.model_copy(update={"tried": (late, *whole.tried[1:])})
    for page in (found.to_text(), found.to_html()):
        assert f"{late.label}: out of time, so the grade may be too good: ransac, orbit" in page


def test_mistakes_are_one_clear_error() -> None:
    with pytest.raises(ParameterError, match="did you mean 'mdav'"):
        sf.compare(IRIS, ["mdv"])
    with pytest.raises(ParameterError, match="nothing to compare"):
        sf.compare(IRIS, [])
    with pytest.raises(ParameterError, match="60s, 5m or 1h"):
        sf.compare(IRIS, budget="soon")
    with pytest.raises(DataError, match="no column 'plnt'"):
        sf.compare(pl.DataFrame({"plant": [1.0] * 50, "b": range(50)}), identifier=["plnt"])
    with pytest.raises(DataError, match="too few"):
        sf.compare(IRIS[:5])
    with pytest.raises(DataError, match="constant"):
        sf.compare(np.ones((50, 2)))
    with pytest.raises(DataError, match="no numeric column"):
        sf.compare(pl.DataFrame({"a": ["x", "y"] * 30}), ["adp"])
    with pytest.raises(DataError, match="too few different rows"):
        sf.compare(pl.DataFrame({"a": ["x", "y"] * 30}))


def test_the_command_prints_a_table_writes_a_page_and_speaks_json(
    iris_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sfumato.cli.progress._PATIENCE", 0.0)  # jobs that end within a second show none
    page = tmp_path / "page.html"
    asked = ["compare", str(iris_file), "-m", "mdav", "-m", "rdp", "--id", "plant", "--keep", "bed", "--clusters", "3"]
    done = CliRunner().invoke(sfumato, [*asked, "--report", str(page)])
    assert done.exit_code == 0, done.output
    assert re.search(r"rdp\s+[DF]", done.stdout)
    assert "100%" in done.stderr
    assert "To repeat it" in page.read_text(encoding="utf-8")
    done = CliRunner().invoke(sfumato, [*asked, "--json"])
    assert json.loads(done.stdout)["schema"] == "sfumato-comparison-1"


def test_the_command_refuses_before_it_works(iris_file: Path, tmp_path: Path) -> None:
    for arguments, message in (
        ([str(tmp_path / "no.csv")], "no such file"),
        ([str(iris_file), "--report", str(tmp_path / "no" / "r.html")], "no folder"),
        ([str(iris_file), "--budget", "soon"], "60s"),
        ([str(iris_file), "-m", "inna"], "did you mean 'ina'"),
        ([str(iris_file), "--clusters", "1-3"], "between 2 and"),
        ([str(iris_file), "--clusters", "many"], "look like 2-8"),
    ):
        done = CliRunner().invoke(sfumato, ["compare", *arguments])
        assert done.exit_code != 0
        assert message in str(done.exception)


def test_secret_parameters_are_shown_by_no_value() -> None:
    setting = Setting("rdp", {"angles": 12.5, "scale": "std"}, "paper")
    assert setting.public == {"scale": "std"}
    assert "12.5" not in setting.words


def test_a_release_with_a_guarantee_is_compared_by_its_centres_and_says_what_choosing_by_it_means() -> None:
    rng = np.random.default_rng(8)
    table = rng.normal(size=(3000, 2)) + 9.0 * rng.integers(0, 2, (3000, 1))
    policy = parse_policy('[method]\nname = "dp"\nepsilon = 4.0\n[column.x0]\nbounds = [-10, 20]')
    found = sf.compare(table, ["mdav"], policy=policy, clusters=(2,), max_rows=500)
    drawn = next(one for one in found.tried if one.method == "dp")
    assert drawn.label == "dp (policy)"
    assert 1.0 <= drawn.cost_mean < 1.1
    assert drawn.excess_mean < 0.05
    assert all(one.cost_mean is None for one in found.tried if one.method != "dp")
    for page in (found.to_text(), found.to_html()):
        assert "times the best" in page
        assert "it is for the owner alone" in page
        assert "which the guarantee of the release does not cover" in page


def test_columns_that_are_kept_count_in_comparisons_and_in_the_search(iris_file: Path) -> None:
    table = pl.read_csv(iris_file)
    told = {keep: sf.compare(table, ["adp"], keep=[keep], clusters=(3,)) for keep in ("plant", "bed")}
    first = {keep: one.tried[0] for keep, one in told.items()}
    assert first["plant"].grade == "F"  # a name for everybody
    assert first["plant"].linkage == 1.0
    without = sf.compare(table.drop("plant", "bed"), ["adp"], clusters=(3,)).tried[0]
    assert first["bed"].linkage is not None
    assert first["bed"].linkage >= (without.linkage or 0.0)
    subject = read_subject(table.drop("bed"), keep=["plant"], max_rows=100)
    assert subject.beside.shape == (100, 1)
    numbers = table[["sepal_length", "sepal_width", "petal_length", "petal_width"]].to_numpy()
    place = [int(name[1:]) for name in subject.beside["plant"]]
    given = subject.values  # noqa: PD011
    assert (numbers[place] == given).all()
    setting = next(one for one in catalogue_settings() if one.method == "adp")
    released = release_trial(subject, setting, trial_key(0, 0))
    assert quick_judgement(subject, setting, released, 0).grade == "F"
