"""Nothing secret and nothing original leaves: release, receipt, report, log, JSON, errors and key files."""

from __future__ import annotations

import csv
import stat
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.cluster import KMeans

import sfumato as sf
from sfumato.exceptions import KeyFileError, RepeatedReleaseWarning
from sfumato.perturb.mechanism.keyed import KeyedMethod
from sfumato.receipts.body import open_receipt
from tests.auditing.quick import two_clusters
from tests.cli.typed import typed
from tests.pipeline.tables import people, read, write

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")


def numbers_in(data) -> list[float]:
    if isinstance(data, dict):
        return [n for value in data.values() for n in numbers_in(value)]
    if isinstance(data, list | tuple):
        return [n for value in data for n in numbers_in(value)]
    return [data] if isinstance(data, float) else []


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, str, list[float]]]:
    """Release a table of telling values with methods that have secrets, and collect everything that anyone sees."""
    out = {}
    rng = np.random.default_rng(5)
    for method in ("tdp", "rdp", "hdp", "adp"):
        folder = tmp_path_factory.mktemp(method)
        table = pl.DataFrame({f"c{i}": (rng.normal(0, 1, 80) * 1e5 + 5e5).round(3) for i in range(3)})
        write(table, folder / "in.csv")
        policy = "[columns]\n[column.c0]\nbounds = [-8765432.125, 98765432.125]\n" if method == "adp" else ""
        (folder / "p.toml").write_text(policy)
        sf.Key(bytes(range(32))).save(folder / "my.key")  # with any key a released value may be somebody's by chance
        with nullcontext() if method == "rdp" else two_clusters():  # one report in full
            done = typed(
                "release", "in.csv", "-o", "out.csv", "-m", method, "--key", "my.key", "--policy", "p.toml",
                "--report", "report.html", "--json", cwd=folder,
            )  # fmt: skip
        assert done.returncode == 0, done.stderr
        key = sf.Key.load(folder / "my.key")
        receipt = next(folder.glob("*.receipt"))
        body = open_receipt(key, receipt.read_bytes())
        seen = done.stdout + done.stderr + repr(body) + repr(key)
        for name in ("out.csv", "report.html", receipt.name, "history"):
            seen += (folder / name).read_text(errors="replace")
        out[method] = (folder, seen, numbers_in(body.fitted))
    return out


def test_no_key_and_no_secret_parameter_is_seen(told) -> None:
    for method, (folder, seen, secrets) in told.items():
        key = sf.Key.load(folder / "my.key")
        assert key._secret.hex() not in seen
        assert method == "adp" or len(secrets) >= 3, "there is something to look for"
        for secret in secrets:
            assert len(repr(abs(secret))) < 7 or repr(abs(secret))[:12] not in seen, method


def test_no_original_value_and_no_bound_is_seen(told) -> None:
    for method, (folder, seen, _) in told.items():
        for row in pl.read_csv(folder / "in.csv").rows():
            for value in row:
                assert f"{value:.3f}" not in seen, method
        assert "98765432" not in seen
        assert "8765432" not in seen


def test_no_exact_statistic_of_the_original_is_seen(told) -> None:
    for folder, seen, _ in told.values():
        for column in pl.read_csv(folder / "in.csv"):
            for statistic in (column.min(), column.max(), column.mean(), column.std(), column.median()):
                assert f"{statistic:.6f}"[:9] not in seen


def test_the_key_file_is_the_owners_alone(told, tmp_path: Path) -> None:
    data = write(people(50), tmp_path / "in.csv")
    new = {"identifier": ["id"], "keep": ["town"], "method": "adp", "key": tmp_path / "my.key"}
    sf.release(data, tmp_path / "out.csv", **new)
    for folder in (tmp_path, *(folder for folder, _, _ in told.values())):
        for name in ("my.key", "history.secret"):
            assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
        assert stat.S_IMODE(next(folder.glob("*.receipt")).stat().st_mode) == 0o600


def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    data = write(people(50), tmp_path / "in.csv")
    key = tmp_path / "my.key"
    sf.Key.generate().save(key)
    key.chmod(0o640)
    with pytest.raises(KeyFileError, match="other users may read"):
        sf.release(data, tmp_path / "out.csv", identifier=["id"], keep=["town"], key=key)
    key.chmod(0o600)
    (tmp_path / "link.key").symlink_to(key)
    with pytest.raises(KeyFileError):
        sf.release(data, tmp_path / "out.csv", identifier=["id"], keep=["town"], key=tmp_path / "link.key")
    assert not (tmp_path / "out.csv").exists()


def test_a_folder_of_keys_that_others_can_enter_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write(people(50), tmp_path / "in.csv")
    keys = tmp_path / "keys"
    keys.mkdir(mode=0o755)
    keys.chmod(0o755)
    monkeypatch.setenv("SFUMATO_KEYS", str(keys))
    with pytest.raises(KeyFileError, match="other users may enter"):
        sf.release(data, tmp_path / "out.csv", identifier=["id"], keep=["town"])
    assert list(keys.iterdir()) == []


def test_new_keys_are_never_written_over_old_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write(people(50), tmp_path / "in.csv")
    monkeypatch.setenv("SFUMATO_KEYS", str(tmp_path / "keys"))
    paths = set()
    for _ in range(3):
        receipt = sf.release(data, tmp_path / "out.csv", identifier=["id"], keep=["town"], force=True, method="adp")
        paths.add(receipt.key_path)
    assert len(paths) == 3
    assert len({sf.Key.load(path).fingerprint for path in paths}) == 3


def test_a_second_release_with_other_noise_is_warned_about(tmp_path: Path) -> None:
    data = write(people(80), tmp_path / "in.csv")
    options = {"identifier": ["id"], "keep": ["town"], "key": tmp_path / "my.key", "force": True, "method": "cov"}
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error", RepeatedReleaseWarning)
        first = sf.release(data, tmp_path / "out.csv", **options)
        sf.release(data, tmp_path / "out.csv", **options)  # the same noise again is harmless
    for change in ({"name": "r1"}, {"parameters": {"scale": 0.5}}, {"method": "adp"}, {"key": tmp_path / "b.key"}):
        with pytest.warns(RepeatedReleaseWarning, match="released before with other noise"):
            again = sf.release(data, tmp_path / "out.csv", **{**options, **change})
        assert any("released before" in note for note in again.notes)
    assert first.notes == ()
    other = write(people(80, seed=9), tmp_path / "other.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepeatedReleaseWarning)
        sf.release(other, tmp_path / "out.csv", **options)


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx", "\rx", '=HYPERLINK("http://x")']
HARMLESS = ["-5", "+4.5", "-1e-3", "plain", "a=b", "3-4", ""]


def test_formulas_in_text_cells_are_neutralised_and_numbers_stay_numbers(tmp_path: Path) -> None:
    cells = FORMULAS + HARMLESS
    with (tmp_path / "in.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["n", "t"], *([i, cell] for i, cell in enumerate(cells))])
    options = {"keep": ["t"], "key": tmp_path / "k", "shuffle": False, "method": "adp"}
    receipt = sf.release(tmp_path / "in.csv", tmp_path / "out.csv", **options)
    with (tmp_path / "out.csv").open(newline="") as file:
        after = [row[1] for row in csv.reader(file)][1:]
    assert after == [f"'{cell}" for cell in FORMULAS] + HARMLESS
    assert receipt.neutralised == len(FORMULAS)
    sf.release(tmp_path / "in.csv", tmp_path / "out.parquet", **options)
    assert read(tmp_path / "out.parquet")["t"].fill_null("").to_list() == cells, "no spreadsheet opens Parquet as cells"


def test_a_receipt_cannot_be_pickled_and_shows_nothing(tmp_path: Path) -> None:
    import pickle

    data = write(people(50), tmp_path / "in.csv")
    receipt = sf.release(data, tmp_path / "out.csv", identifier=["id"], keep=["town"], key=tmp_path / "k", method="rdp")
    assert repr(receipt.body) == "<hidden>"
    for thing in (receipt, receipt.body):
        with pytest.raises(TypeError):
            pickle.dumps(thing)


def test_a_fitted_clusterer_is_told_by_its_name_and_not_by_its_centres() -> None:
    named = KMeans(3, n_init=3, random_state=0).fit(people(100).select("age", "wage").to_numpy())
    shown = KeyedMethod(sf.perturb.AtomMixing(clusterings=(named, 2)), sf.Key.generate()).public
    assert shown["clusterings"] == ["KMeans", 2]
