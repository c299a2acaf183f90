"""The history knows the people of earlier releases, however their table comes back, and nobody else."""

from __future__ import annotations

import stat
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.exceptions import ParameterError, RepeatedReleaseError, RepeatedReleaseWarning
from tests.cli.typed import typed
from tests.pipeline.tables import write

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.exceptions.UnchangedCellsWarning")
N = 400


def table(n: int = N, seed: int = 1, columns: int = 6) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    values = {f"c{i}": (rng.normal(50, 9, n)).round(2) for i in range(columns)}
    return pl.DataFrame({"id": [f"p{seed}-{i}" for i in range(n)], **values})


def release(folder: Path, frame: pl.DataFrame, name: str = "r0", **options: Any) -> Any:
    data = write(frame, folder / "in.csv")
    given = {"identifier": ["id"], "key": folder / "my.key", "method": "adp", "force": True, "name": name, **options}
    return sf.release(data, folder / "out.csv", **given)


def warned(folder: Path, frame: pl.DataFrame, **options: Any) -> str:
    """Release a table and return the one warning of a repeated release."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", RepeatedReleaseWarning)
        done = release(folder, frame, **options)
    said = [str(one.message) for one in told if one.category is RepeatedReleaseWarning]
    assert all(one in done.notes for one in said), "what is warned of stands in the notes"
    assert len(said) <= 1
    return "".join(said)


def edited(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.when(pl.int_range(pl.len()) == 7).then(99.5).otherwise(pl.col("c2")).alias("c2"))


OVERLAPS = {
    "reordered": (lambda t: t.sample(fraction=1.0, shuffle=True, seed=3), "400 of 400 people"),
    "one edited cell": (edited, "400 of 400 people"),
    "rows added": (lambda t: pl.concat([t, table(50, 2)]), "400 of 450 people"),
    "rows dropped": (lambda t: t.head(150), "150 of 150 people"),
    "one person dropped": (lambda t: t.slice(1), "399 of 399 people"),
    "fewer columns": (lambda t: t.select("id", "c1", "c4", "c5"), "400 of 400 people"),
    "one column": (lambda t: t.select("id", "c3"), "400 of 400 people"),
    "more columns": (lambda t: t.with_columns(c9=pl.Series(table(N, 5)["c0"])), "400 of 400 people"),
    "fewer columns and rows": (lambda t: t.select("id", "c0", "c2", "c3", "c5").slice(1), "399 of 399 people"),
    "other columns, too": (
        lambda t: t.select("id", "c0", "c1", "c2", "c3").with_columns(c8=table(N, 6)["c0"], c9=table(N, 7)["c0"]),
        "400 of 400 people",
    ),
}


@pytest.fixture(scope="module")
def released_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("once")
    assert release(folder, table()).notes == ()
    return folder


@pytest.fixture
def once(released_once: Path, tmp_path: Path) -> Path:
    """Return a folder in which the table was released before."""
    for path in released_once.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
        (tmp_path / path.name).chmod(0o600)
    return tmp_path


@pytest.mark.parametrize("what", OVERLAPS)
def test_the_same_people_are_known_again(once: Path, what: str) -> None:
    change, said = OVERLAPS[what]
    text = warned(once, change(table()))
    assert text.removeprefix("about ").startswith(f"{said} of this table are in an earlier release with other noise")
    assert "71 % of the noise" in text


@pytest.mark.parametrize(
    "options", [{"name": "another"}, {"parameters": {"scale": 0.5}}, {"method": "cov"}, {"key": "other.key"}]
)
def test_other_settings_are_other_noise_of_the_same_people(once: Path, options: dict[str, Any]) -> None:
    if "key" in options:
        options = {"key": once / options["key"]}
    assert warned(once, table().slice(1), **options).startswith("399 of 399 people")


def test_a_difference_of_few_people_is_told_as_such(once: Path) -> None:
    assert "subtracting" not in warned(once, table().head(150), name="few")
    more = warned(once, pl.concat([table(), table(1, 2)]), name="more")
    assert "It was released before without 1 of these people: subtracting the two tells about that person." in more
    changed = warned(once, edited(table()), name="edit")
    assert (
        "It was released before with other values of 1 person: subtracting the two tells about that person." in changed
    )


def test_one_person_fewer_is_told_as_such(once: Path) -> None:
    assert "It was released before with 1 person more: subtracting the two tells about that person." in warned(
        once, table().slice(1)
    )


def test_many_releases_average_and_each_stands_in_the_notes(tmp_path: Path) -> None:
    release(tmp_path, table())
    for i in (1, 2):
        warned(tmp_path, table().slice(i), name=f"r{i}")
    data = write(table().slice(3), tmp_path / "in.csv")
    with pytest.warns(RepeatedReleaseWarning, match="3 earlier releases with other noise.* 4 releases .* 50 % of the"):
        done = sf.release(
            data, tmp_path / "out.csv", identifier=["id"], key=tmp_path / "my.key", method="adp", force=True, name="r3"
        )
    assert len([note for note in done.notes if "397 of 397 people of this table are in that release" in note]) == 3
    assert {note.partition(":")[0] for note in done.notes[1:]} <= {path.name for path in tmp_path.glob("*.receipt")}


def test_the_very_same_release_again_is_silent(once: Path) -> None:
    assert warned(once, table()) == ""


@pytest.mark.parametrize(
    "other",
    [table(N, 9), table(3 * N, 9), table(N, 9, columns=3), table(N, 9).rename({f"c{i}": f"d{i}" for i in range(6)})],
    ids=["of the same kind", "larger", "fewer columns", "other names"],
)
def test_other_people_are_not(once: Path, other: pl.DataFrame) -> None:
    assert warned(once, other) == ""


@pytest.mark.parametrize("levels", [2, 4, 30])
def test_rows_that_are_equal_by_chance_are_not(tmp_path: Path, levels: int) -> None:
    rng = np.random.default_rng(levels)
    for i in range(3):
        answers = {f"q{j}": rng.integers(0, levels, 500) for j in range(5)}
        frame = pl.DataFrame({"id": [str(k) for k in range(500)], **answers})
        assert warned(tmp_path, frame, name=f"r{i}") == ""


def test_numbered_rows_of_other_people_are_not(tmp_path: Path) -> None:
    for seed in (1, 2):
        numbered = table(N, seed).with_columns(day=pl.int_range(N) + 1.0)
        assert warned(tmp_path, numbered, name=f"r{seed}") == ""


def test_texts_and_gaps_are_known_again_when_codes_and_medians_are_others(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    towns = rng.choice(["Ulm", "Bern", "Linz"], 60).tolist()
    towns[5] = "Aachen"  # the first code: without this person every other one moves
    gappy = pl.when(pl.int_range(60) % 5 > 0).then("c1")
    first = table(60, columns=3).with_columns(town=pl.Series(towns), c1=gappy)
    options = {"method": "exchange", "parameters": {"clusterings": [2], "draws": 1}}
    release(tmp_path, first, **options)
    assert warned(tmp_path, first.filter(pl.col("town") != "Aachen"), **options).startswith("59 of 59 people")


def test_persons_are_known_by_their_ids_whatever_their_values(tmp_path: Path) -> None:
    options = {"identifier": [], "record_id": "id"}
    release(tmp_path, table(), **options)
    next_year = table().with_columns(table(N, 8).drop("id")).slice(100)
    assert warned(tmp_path, next_year, **options).startswith("300 of 300 people")
    assert warned(tmp_path, table(N, 5), **options, name="others") == ""


def test_another_folder_of_keys_is_looked_up_if_named(once: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    before = (once / "history").read_bytes()
    assert warned(other, table().slice(2)) == ""
    assert warned(other, table().slice(1), history=[once], name="r2").startswith(
        "399 of 399 people of this table are in 2 earlier"
    )
    (other / "p.toml").write_text(f'[release]\nhistory = ["{once}"]\nrepeated = "error"\nname = "r3"\n')
    with pytest.raises(RepeatedReleaseError, match="are in 3 earlier releases"):
        release(other, table().slice(3), policy=other / "p.toml", name=None)
    assert (once / "history").read_bytes() == before, "it is only read"
    with pytest.raises(ParameterError, match="no history of releases there"):
        release(other, table(), history=[other / "nowhere"])


def test_an_error_comes_before_anything_is_written(once: Path) -> None:
    before = {path.name: path.read_bytes() for path in once.iterdir() if path.name != "in.csv"}
    with pytest.raises(RepeatedReleaseError, match="nothing was released: 399 of 399 people"):
        release(once, table().slice(1), repeated="error", key=once / "new.key")
    assert {path.name: path.read_bytes() for path in once.iterdir() if path.name != "in.csv"} == before
    release(once, table(N, 9), repeated="error")
    write(table().slice(1), once / "in.csv")
    options = ("--id", "id", "-m", "adp", "--key", "my.key", "--repeated", "error")
    done = typed("release", "in.csv", "-o", "o.csv", *options, cwd=once)
    assert (done.returncode, (once / "o.csv").exists()) == (1, False), done.stderr


def spoil_people(folder: Path) -> None:
    path = next(folder.glob("*.people"))
    path.write_bytes(path.read_bytes()[:-9])


SPOILT = {
    "empty": lambda folder: (folder / "history").write_bytes(b""),
    "damaged": lambda folder: (folder / "history").write_text((folder / "history").read_text().replace("a", "b")),
    "a line lost": lambda folder: (folder / "history").write_text((folder / "history").read_text().partition("\n")[0]),
    "gone": lambda folder: (folder / "history").unlink(),
    "key gone": lambda folder: (folder / "history.secret").unlink(),
    "mode": lambda folder: (folder / "history").chmod(0o644),
    "mode of the key": lambda folder: (folder / "history.secret").chmod(0o644),
    "people": spoil_people,
    "people gone": lambda folder: next(folder.glob("*.people")).unlink(),
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_spoilt_history_is_told_and_an_error_if_the_policy_says_so(once: Path, how: str) -> None:
    SPOILT[how](once)
    with pytest.raises(RepeatedReleaseError, match="nothing was released"):
        release(once, table(N, 9), repeated="error", key=once / "new.key")
    assert not (once / "new.key").exists()
    before = {path.name: path.read_bytes() for path in once.glob("history*")}
    with pytest.warns(RepeatedReleaseWarning) as told:
        release(once, table(N, 9))
    assert "A repeated release may go unnoticed" in str(told[0].message)
    if not how.startswith("people"):
        assert "does not know this release" in str(told[-1].message)
        assert {path.name: path.read_bytes() for path in once.glob("history*")} == before, "it is left for its owner"


def test_a_history_of_the_first_version_still_knows_its_tables(once: Path) -> None:
    _, line = (once / "history").read_text().splitlines()
    (once / "history").write_text(f"sfumato-history-1\n{' '.join(line.split()[:2])}\n")
    next(once.glob("*.people")).unlink()
    assert "this table was released before with other noise" in warned(once, table(), name="r1")
    assert warned(once, table().slice(1), name="r2").startswith("399 of 399 people"), (
        "the second is known by its people"
    )


def test_the_history_is_small_its_owners_alone_and_holds_no_value(tmp_path: Path) -> None:
    release(tmp_path, table(4000, columns=20))
    path = next(tmp_path.glob("*.people"))
    assert path.stat().st_size < 40 * 4000
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "history").stat().st_mode) == 0o600
    assert b"c19" not in path.read_bytes()
    for seed in (2, 3):
        release(tmp_path, table(60, seed), name=f"r{seed}")
    assert len(list(tmp_path.glob("*.people"))) == 3
    (tmp_path / "0123456789abcdef.people").write_bytes(path.read_bytes())  # what a killed run leaves
    release(tmp_path, table(60, 4), name="r4")
    assert len(list(tmp_path.glob("*.people"))) == 4


def test_a_release_that_fails_leaves_no_history(tmp_path: Path) -> None:
    with pytest.raises(sf.SfumatoError):
        release(tmp_path, table(50), parameters={"unknown": 1})
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]
