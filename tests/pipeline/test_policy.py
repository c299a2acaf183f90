"""The policy: strict, with the line and the nearest name in every complaint."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.cluster import KMeans

import sfumato as sf
from sfumato.exceptions import ParameterError, PolicyError, PolicyLimitError
from sfumato.files.opening import open_source
from sfumato.pipeline.plan import build_perturber
from sfumato.policy.first_rows import profile
from sfumato.policy.guesses import ColumnTraits, guess_roles
from sfumato.policy.reading import parse_policy, read_policy
from sfumato.policy.text import policy_text
from tests.cli.test_first_commands import run
from tests.cli.typed import typed
from tests.pipeline.tables import people, write

KEY = sf.Key.from_insecure_seed(2)
pytestmark = [pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning"), pytest.mark.usefixtures("everybody")]

WHOLE = """
missing_values = ["NA"]
[columns]
identifier = ["customer_id"]     # dropped
keep       = ["branch"]
[column.age]
decimals = 0
bounds = [18, 110]
[column."card spending"]
missing_values = ["-9"]
[method]
name = "ina"
beta = 5
[enhance]
fraction = 0.05
[audit]
max_misclassification = 0.01
min_grade = "B"
[release]
name = "spring"
shuffle = true
"""


def test_the_policy_of_the_reference_reads_and_writes_back() -> None:
    policy = parse_policy(WHOLE)
    assert policy.column["age"].bounds == [18, 110]
    assert policy.rules(["age", "card spending"])["card spending"].missing_values == ("NA", "-9")
    again = parse_policy(policy_text(policy))
    assert again.model_dump() == policy.model_dump()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[colums]\n", "policy, line 1: unknown section 'colums'\nhint: did you mean 'columns'?"),
        (
            "\n[columns]\nidentifer = []\n",
            "policy, line 3: unknown setting 'columns.identifer'\nhint: did you mean 'ident",
        ),
        ('[columns]\nkeep = "branch"\n', "policy, line 2: columns.keep: "),
        (
            "[column.age]\nbounds = [3, 1]\n",
            "policy, line 2: column.age.bounds: must be two numbers, the smaller first",
        ),
        ("[column.age]\ndecimals = -1\n", "policy, line 2: column.age.decimals: "),
        ("[column.age]\ndecimals = 1.5\n", "policy, line 2: column.age.decimals: "),
        ('[audit]\nmin_grade = "Z"\n', "policy, line 2: audit.min_grade: "),
        ("[audit]\nmax_misclassification = 3\n", "policy, line 2: audit.max_misclassification: "),
        ("[guard]\nkmeans = [1]\n", "policy, line 2: guard.kmeans: a clustering has at least 2 clusters"),
        ("[enhance]\nfraction = 2.0\n", "policy, line 2: enhance.fraction: "),
        ('[columns]\nkeep = ["a"]\nidentifier = ["a"]\n', "policy: column 'a' is both dropped (identifier) and kept"),
        ("[columns\n", "policy: not TOML: "),
        ("[method]\nbeta = 5\n", "policy, line 1: method.name: "),
        ("bounds = nan\n", "unknown section 'bounds'"),
    ],
)
def test_a_mistake_names_the_line_and_the_nearest_name(text: str, expected: str) -> None:
    with pytest.raises(PolicyError) as error:
        parse_policy(text)
    assert expected in str(error.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[method]\nname = "inna"\n', "policy, line 2: no method 'inna'\nhint: did you mean 'ina'?"),
        (
            '[method]\nname = "ina"\nbeto = 5\n',
            "policy, line 3: IndependentNoise [ina] has no parameter 'beto'\nhint: did",
        ),
        ('[method]\nname = "ina"\nbeta = -1\n', "policy, line 3: IndependentNoise: beta must be a number above 0"),
        ('[method]\nname = "ina"\nalpha = "rang"\n', "did you mean 'range'?"),
        ('[method]\nname = "rdp"\nangles = [30]\n', "policy, line 3: angles of Rotation is a secret"),
        ('[method]\nname = "+rho"\n', "policy, line 2: Enhanced wraps another method"),
    ],
)
def test_the_catalogue_checks_the_method(text: str, expected: str) -> None:
    with pytest.raises(PolicyError) as error:
        build_perturber(parse_policy(text))
    assert expected in str(error.value)


def test_enhance_wraps_the_method() -> None:
    made = build_perturber(parse_policy('[method]\nname = "rdp"\n[enhance]\nfraction = 0.2\n'))
    assert (made.method_id, made.perturber.method_id, made.fraction) == ("+rho", "rdp", 0.2)


def test_rules_for_a_column_that_is_not_perturbed_are_refused(tmp_path: Path) -> None:
    data = write(people(50), tmp_path / "in.csv")
    (tmp_path / "p.toml").write_text('[columns]\nidentifier = ["id"]\nkeep = ["town"]\n[column.town]\ndecimals = 1\n')
    with pytest.raises(PolicyError, match="line 4: rules for column 'town', which is not perturbed"):
        sf.release(data, tmp_path / "out.csv", tmp_path / "p.toml", tmp_path / "my.key")


def test_bounds_and_an_invertible_method_exclude_each_other(tmp_path: Path) -> None:
    data = write(people(50), tmp_path / "in.csv")
    (tmp_path / "p.toml").write_text(
        '[columns]\nidentifier = ["id"]\nkeep = ["town"]\n[column.age]\nbounds = [0, 99]\n'
    )
    with pytest.raises(ParameterError, match="could not be restored"):
        sf.release(data, tmp_path / "out.csv", tmp_path / "p.toml", tmp_path / "my.key", method="rdp")


@pytest.mark.usefixtures("few_clusters")
def test_limits_that_are_not_met_leave_no_file_and_exit_1(tmp_path: Path) -> None:
    data = write(people(200), tmp_path / "in.csv")
    policy = tmp_path / "p.toml"
    policy.write_text(
        '[columns]\nidentifier = ["id"]\nkeep = ["town"]\n[method]\nname = "rdp"\n[audit]\nmin_grade = "C"\n'
    )
    done = typed(
        "release", str(data), "-o", str(tmp_path / "out.csv"), "--policy", str(policy), "--key", str(tmp_path / "k")
    )
    assert done.returncode == 1, done.stderr
    assert "grade F, and the policy demands C" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "p.toml"]


@pytest.mark.usefixtures("few_clusters")
def test_limits_that_are_met_let_the_file_appear(tmp_path: Path) -> None:
    data = write(people(200), tmp_path / "in.csv")
    policy = parse_policy('[columns]\nidentifier = ["id"]\nkeep = ["town"]\n[audit]\nmin_grade = "F"\n')
    sf.Key(bytes(range(32))).save(tmp_path / "my.key")  # the grade of a release is not that of every key
    receipt = sf.release(data, tmp_path / "out.csv", policy, tmp_path / "my.key", method="cov")
    assert receipt.audit.grade in "ABCD"
    assert (tmp_path / "out.csv").exists()
    (tmp_path / "b").mkdir()  # another folder of keys, another history
    strict = parse_policy('[columns]\nidentifier = ["id"]\nkeep = ["town"]\n[audit]\nmax_misclassification = 0.0\n')
    with pytest.raises(PolicyLimitError, match="of the rows change their cluster"):
        sf.release(data, tmp_path / "b.csv", strict, tmp_path / "b" / "my.key", method="adp", parameters={"scale": 3.0})


def test_roles_are_guessed_with_reasons() -> None:
    columns = [
        ColumnTraits("customer_id", "integer", 500, 500),
        ColumnTraits("zip", "text", 500, 400),
        ColumnTraits("sex", "text", 500, 2),
        ColumnTraits("income", "number", 500, 499),
        ColumnTraits("e-mail", "text", 500, 480),
        ColumnTraits("visits", "integer", 500, 9),
        ColumnTraits("paid", "flag", 500, 2),
    ]
    guesses = {guess.name: guess for guess in guess_roles(columns)}
    assert {name: guess.role for name, guess in guesses.items()} == {
        "customer_id": "identifier",
        "zip": "identifier",
        "sex": "keep",
        "income": "confidential",
        "e-mail": "identifier",
        "visits": "confidential",
        "paid": "keep",
    }
    assert all(guess.reason for guess in guesses.values())


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_first_policy_releases_the_table_it_was_made_for(tmp_path: Path, ending: str) -> None:
    data = write(people(missing=True), tmp_path / f"in.{ending}")
    policy = tmp_path / "policy.toml"
    assert run("policy", "init", str(data), "-o", str(policy)).returncode == 0
    assert typed("policy", "init", str(data), "-o", str(policy)).returncode == 3, "not overwritten"
    read = read_policy(policy)
    assert (read.columns.identifier, read.columns.keep) == (["id"], []), "nothing is kept unless somebody says so"
    assert "text with 7 different values, exchanged" in policy.read_text()
    checked = typed("policy", "check", str(policy), "--data", str(data))
    assert checked.returncode == 0, checked.stderr
    assert "perturbed: age, wage, town, score" in checked.stdout
    quick = {"draws": 1, "clusterings": [2, 3]}
    sf.release(data, tmp_path / "out.csv", policy, tmp_path / "my.key", method="exchange", parameters=quick)
    assert [traits.kind for traits in profile(open_source(data))] == ["text", "integer", "number", "text", "number"]


def test_a_guarded_release_keeps_its_clusters_in_the_file_after_rounding_and_bounds(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 600)
    table = pl.DataFrame(
        {"a": (rng.normal(40 * kind, 12) + 50).round().astype(int), "b": rng.normal(9 * (kind == 1), 2.5).round(2)}
    )
    write(table, tmp_path / "in.csv")
    rules = '[column.a]\nbounds = [-60, 250]\n[method]\nname = "adp"\nscale = 0.5\n'
    moved = {}
    for guard in ("", "[guard]\nkmeans = [3]\n"):
        receipt = sf.release(
            tmp_path / "in.csv", tmp_path / "out.csv", parse_policy(rules + guard), KEY, shuffle=False, force=True
        )
        assert "250" not in str(receipt.to_data())
        before, after = (pl.read_csv(tmp_path / name).to_numpy() for name in ("in.csv", "out.csv"))
        spread = before.std(axis=0)
        named = KMeans(3, n_init=20, random_state=0).fit(before / spread)
        mined = KMeans(3, init=named.cluster_centers_, n_init=1).fit(after / spread)
        moved[receipt.method] = (named.labels_ != mined.labels_).mean()
        assert not (before == after).all(axis=1).any()
    assert moved["guard"] <= 0.005
    assert moved["adp"] > 0.05


def test_the_callers_perturber_stays_as_it_is(tmp_path: Path) -> None:
    data = write(people(100), tmp_path / "in.csv")
    method = sf.perturb.Translation(offsets=[5.0, 100.0, 1.0])
    options = {"identifier": ["id"], "keep": ["town"], "name": "spring", "shuffle": False}
    sf.release(data, tmp_path / "out.csv", key=tmp_path / "k", method=method, **options)
    assert method.release == "r0"
    moved = pl.read_csv(tmp_path / "out.csv")["age"] - people(100)["age"]
    assert moved.unique().to_list() == [5]
